package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// Crash tests run one operation in a process of its own, which is the test binary once more, and kill it
// right before or right after one of its effects. TestMain hands such a process to [RunTask].

const (
	taskVariable = "SANDLOT_TEST_TASK"
	stopVariable = "SANDLOT_TEST_STOP_AT"
)

// IsTask tells whether this process was started to do a task.
func IsTask() bool { return os.Getenv(taskVariable) != "" }

// report is what a task prints.
type report[Answer any] struct {
	Answer Answer
	Points []string
}

// points counts effects and ends the process at one of them. Each counts twice: before and after.
type points struct {
	counts func(effects.Effect) bool
	stopAt int

	mu   sync.Mutex
	seen []string
}

func (p *points) observe(_ context.Context, phase effects.Phase, effect effects.Effect) {
	if !p.counts(effect) {
		return
	}
	p.mu.Lock()
	p.seen = append(p.seen, fmt.Sprintf("%s %s %s %s", phase, effect.System, effect.Action, effect.Object))
	reached := len(p.seen)
	p.mu.Unlock()
	switch reached {
	case p.stopAt:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case -p.stopAt:
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	default:
		return
	}
	select {}
}

// Writes counts the effects that change something.
func Writes(effect effects.Effect) bool { return effect.Write }

// RunTask does the task that this process was started for, and returns its exit status. The observer that
// do is given stops the process at the point that was asked for; counts says which effects are points.
func RunTask[Task, Answer any](counts func(effects.Effect) bool, do func(Task, effects.Observer) (Answer, error)) int {
	said, err := runTask(counts, do)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(said)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func runTask[Task, Answer any](counts func(effects.Effect) bool, do func(Task, effects.Observer) (Answer, error)) (report[Answer], error) {
	var said report[Answer]
	var work Task
	if err := json.Unmarshal([]byte(os.Getenv(taskVariable)), &work); err != nil {
		return said, err
	}
	p := &points{counts: counts}
	if _, err := fmt.Sscan(os.Getenv(stopVariable), &p.stopAt); err != nil {
		return said, err
	}
	answer, err := do(work, p.observe)
	said.Answer, said.Points = answer, p.seen
	return said, err
}

// Task prepares a process that does a task and is killed at the given point, counted from 1; 0 lets it
// finish, and a negative one only stops it there.
func Task(t testing.TB, work any, stopAt int) *exec.Cmd {
	t.Helper()
	raw, err := json.Marshal(work)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), taskVariable+"="+string(raw), fmt.Sprintf("%s=%d", stopVariable, stopAt))
	return command
}

// TryTask runs a task to its end and returns its answer and the points that it passed.
func TryTask[Answer any](t testing.TB, work any) (Answer, []string, error) {
	t.Helper()
	var said report[Answer]
	output, err := Task(t, work, 0).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return said.Answer, nil, fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	err = errors.Join(err, json.Unmarshal(output, &said))
	return said.Answer, said.Points, err
}

// FinishTask is TryTask for a task that has to work.
func FinishTask[Answer any](t testing.TB, work any) (Answer, []string) {
	t.Helper()
	said, passed, err := TryTask[Answer](t, work)
	if err != nil {
		t.Fatal(err)
	}
	return said, passed
}

// KillTask runs a task until a point and checks that it died there.
func KillTask(t testing.TB, work any, stopAt int) {
	t.Helper()
	err := Task(t, work, stopAt).Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("the task was not killed at point %d: %v", stopAt, err)
	}
}

// EachPoint runs a subtest for each point of a clean run.
func EachPoint(t *testing.T, passed []string, test func(t *testing.T, point int)) {
	t.Helper()
	if len(passed) < 4 {
		t.Fatalf("a clean run was seen to pass only the points %q", passed)
	}
	for i := range passed {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			test(t, i+1)
			if t.Failed() {
				t.Logf("it was killed %s", passed[i])
			}
		})
	}
}
