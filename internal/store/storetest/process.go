package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

const (
	taskVariable     = "SANDLOT_STORETEST_TASK"
	argumentVariable = "SANDLOT_STORETEST_ARGUMENT"
	// answerPrefix marks the lines of a child's output that are meant for its parent.
	answerPrefix = "storetest: "
	// processLimit bounds everything that may hang.
	processLimit = 2 * time.Minute
)

// task is what a child process does; it answers by lines.
type task func(ctx context.Context, s store.Store, argument string, answer func(string)) error

func tasks() map[string]task {
	return map[string]task{
		"owner":     ensureOwnerTask,
		"increment": incrementTask,
		"insert":    insertTask,
		"write":     writeForeverTask,
		"count":     countUnderLockTask,
		"hold":      holdLockTask,

		"increment under lock": incrementUnderLockTask,
	}
}

func isTask() bool { return os.Getenv(taskVariable) != "" }

func runTask(t *testing.T, open Open) {
	ctx, cancel := context.WithTimeout(t.Context(), processLimit)
	defer cancel()
	run := tasks()[os.Getenv(taskVariable)]
	s := open(t)
	err := run(ctx, s, os.Getenv(argumentVariable), func(line string) { fmt.Println(answerPrefix + line) })
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// process is a running child.
type process struct {
	t       *testing.T
	command *exec.Cmd
	lines   *bufio.Scanner
	stderr  *strings.Builder
	output  []string
}

// start runs a task in a process of its own, on the store at the place of t.
func (s suite) start(t *testing.T, name, argument string) *process {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.open(t) // a store that is no folder makes its place here, not in the child
	command := exec.CommandContext(t.Context(), executable, "-test.run", exactly(s.root), "-test.count=1")
	command.Env = append(os.Environ(),
		taskVariable+"="+name, argumentVariable+"="+argument, placeVariable+"="+Place(t))
	p := &process{t: t, command: command, stderr: &strings.Builder{}}
	command.Stderr = p.stderr
	pipe, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(pipe)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// exactly is a pattern of -test.run for one test.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + part + "$"
	}
	return strings.Join(parts, "/")
}

// next waits for the child's next answer.
func (p *process) next() string {
	p.t.Helper()
	for p.lines.Scan() {
		line := p.lines.Text()
		if answer, ok := strings.CutPrefix(line, answerPrefix); ok {
			return answer
		}
		p.output = append(p.output, line)
	}
	p.t.Fatalf("the child gave no answer: %v\n%s", p.wait(), p.report())
	return ""
}

// finish waits for the child and returns its remaining answers.
func (p *process) finish() []string {
	p.t.Helper()
	var answers []string
	for p.lines.Scan() {
		line := p.lines.Text()
		if answer, ok := strings.CutPrefix(line, answerPrefix); ok {
			answers = append(answers, answer)
		} else {
			p.output = append(p.output, line)
		}
	}
	if err := p.wait(); err != nil {
		p.t.Fatalf("child: %v\n%s", err, p.report())
	}
	return answers
}

// kill ends the child with SIGKILL, so that nothing of its own can run any more.
func (p *process) kill() {
	p.t.Helper()
	if err := p.command.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.wait(); err == nil {
		p.t.Fatal("the child ended before it was killed")
	}
}

func (p *process) wait() error { return p.command.Wait() }

func (p *process) report() string {
	return strings.Join(p.output, "\n") + "\n" + p.stderr.String()
}
