package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// crashVariable makes the test binary run one step and end itself at one of its calls.
const crashVariable = "SANDLOT_TEST_DOCKER_CRASH"

// crashStep is what the other process does.
type crashStep struct {
	Operation string
	Marks     backends.Marks
	Spec      backends.Spec
	Secrets   map[string]string
	Snapshot  string
	// KillAt is the number of the write call after whose answer the process ends; 0: never. Before the
	// next call the engine is in the same state, so that is no point of its own.
	KillAt int
}

// runCrashStep is the other process. It prints each write call.
func runCrashStep() {
	var step crashStep
	if err := json.Unmarshal([]byte(os.Getenv(crashVariable)), &step); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	seen := 0
	backend := New(Config{Observer: func(_ context.Context, phase effects.Phase, effect effects.Effect) {
		if !effect.Write {
			return
		}
		if phase == effects.Before {
			seen++
			fmt.Println(effect.Action)
		}
		if seen == step.KillAt && phase == effects.After {
			if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			select {}
		}
	}})
	step.Spec.Secrets = step.Secrets
	if err := step.run(context.Background(), backend); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
}

func (s crashStep) run(ctx context.Context, backend *Backend) error {
	switch s.Operation {
	case "create":
		_, err := backend.Create(ctx, s.Marks, s.Spec)
		return err
	case "change":
		_, err := backend.Reconfigure(ctx, s.Marks, s.Spec)
		return err
	case "snapshot":
		_, err := backend.CreateSnapshot(ctx, s.Marks, s.Snapshot)
		return err
	case "delete":
		return backend.Delete(ctx, s.Marks, everything)
	}
	return errors.New("unknown operation " + s.Operation)
}

// inOtherProcess runs the step there and returns its write calls. It must have been killed if it was
// to be.
func (s crashStep) inOtherProcess(t *testing.T) []string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), crashVariable+"="+string(text))
	var output, failure bytes.Buffer
	command.Stdout, command.Stderr = &output, &failure
	err = command.Run()
	var exit *exec.ExitError
	killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled()
	if killed != (s.KillAt > 0) || err != nil && !killed {
		t.Fatalf("the other process: %v, killed %t: %s", err, killed, failure.String())
	}
	return strings.Fields(strings.ReplaceAll(output.String(), " ", "_"))
}

// crashAtEachWrite calls body after each write call of the step, each time from fresh.
func crashAtEachWrite(t *testing.T, prepare func(*bench) crashStep, body func(*bench, crashStep)) {
	t.Helper()
	var calls []string
	t.Run("clean", func(t *testing.T) {
		b := newSerialBench(t)
		calls = prepare(b).inOtherProcess(t)
		t.Log(calls)
	})
	t.Run("killed", func(t *testing.T) {
		for i, call := range calls {
			t.Run(strconv.Itoa(i+1)+"_"+strings.NewReplacer("/", "_", "{", "", "}", "").Replace(call), func(t *testing.T) {
				b := newBench(t)
				step := prepare(b)
				step.KillAt = i + 1
				step.inOtherProcess(t)
				step.KillAt = 0
				body(b, step)
			})
		}
	})
}

func (b *bench) step(operation string, spec backends.Spec) crashStep {
	return crashStep{Operation: operation, Marks: b.marks, Spec: spec, Secrets: spec.Secrets}
}

// wantWhole checks that exactly one sandbox is there and as specified, and then that nothing is left
// when it is deleted.
func (b *bench) wantWhole(spec backends.Spec, images int) {
	b.t.Helper()
	observed := b.get()
	if !reflect.DeepEqual(observed.Spec, asObserved(spec)) || observed.Status != backends.StatusRunning {
		b.t.Errorf("observed %s\n%+v, want\n%+v", observed.Status, observed.Spec, asObserved(spec))
	}
	found := b.count()
	volumes := 1 + len(spec.Volumes)
	if !slices.Equal(found.Containers, []string{b.marks.Name}) || len(found.Volumes) != volumes || len(found.Images) != images {
		b.t.Errorf("on the engine: %+v; want 1 container, %d volumes, %d images", found, volumes, images)
	}
	b.delete(everything)
	if left := b.count(); !reflect.DeepEqual(left, counts{}) {
		b.t.Errorf("left behind: %+v", left)
	}
}

func TestCrashInCreate(t *testing.T) {
	prepare := func(b *bench) crashStep {
		spec := b.spec()
		spec.User = "agent"
		spec.Volumes = map[string]backends.Volume{"data": {Target: "/data"}}
		spec.Secrets, spec.SecretNames = map[string]string{"S": "secret"}, []string{"S"}
		return b.step("create", spec)
	}
	writable := func(b *bench) {
		b.t.Helper()
		if got := b.sh("touch /workspace/a /data/a && id -u"); got != "1000" {
			b.t.Errorf("as %q", got)
		}
	}
	t.Run("deleted and made again", func(t *testing.T) {
		crashAtEachWrite(t, prepare, func(b *bench, step crashStep) {
			b.delete(everything)
			if left := b.count(); !reflect.DeepEqual(left, counts{}) {
				b.t.Errorf("left behind: %+v", left)
			}
			step.Spec.Secrets = step.Secrets
			b.create(step.Spec)
			writable(b)
			b.wantWhole(step.Spec, 0)
		})
	})
	t.Run("gone on with", func(t *testing.T) {
		crashAtEachWrite(t, prepare, func(b *bench, step crashStep) {
			step.Spec.Secrets = step.Secrets
			_, err := b.backend.Get(b.ctx(), b.marks.Name)
			if err != nil {
				b.wantKind(err, backends.NotFound)
				b.create(step.Spec)
			} else {
				_, err = b.backend.Reconfigure(b.ctx(), b.marks, step.Spec)
				b.must(err)
				b.must(b.backend.Start(b.ctx(), b.marks.Name))
			}
			writable(b)
			b.wantWhole(step.Spec, 0)
		})
	})
}

func TestCrashInChange(t *testing.T) {
	for name, secrets := range map[string]map[string]string{"by commit": nil, "by export": {"S": "secret"}} {
		t.Run(name, func(t *testing.T) {
			prepare := func(b *bench) crashStep {
				spec := b.spec()
				spec.Environment = map[string]string{"A": "1"}
				spec.Secrets = secrets
				spec.SecretNames = asObserved(spec).SortedSecretNames()
				if len(secrets) > 0 {
					spec.SecretNames = []string{"S"}
				}
				b.create(spec)
				b.sh("mkdir /opt; echo first > /opt/tool; echo kept > /workspace/kept")
				spec.Labels = map[string]string{"first": "change"}
				_, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
				b.must(err)
				b.sh("echo second >> /opt/tool")
				spec.Environment = map[string]string{"B": "2"}
				spec.Labels = nil
				spec.Volumes = map[string]backends.Volume{"data": {Target: "/data"}}
				return b.step("change", spec)
			}
			crashAtEachWrite(t, prepare, func(b *bench, step crashStep) {
				b.get()
				// The values of secrets are not handed in again: they must not be lost on the way.
				step.Spec.Secrets = nil
				_, err := b.backend.Reconfigure(b.ctx(), b.marks, step.Spec)
				b.must(err)
				shown := "" // only the exact value is taken out of the output
				if secrets["S"] != "" {
					shown = "(S redacted)"
				}
				if got := b.sh("cat /opt/tool /workspace/kept; echo ${A-unset} $B $S"); got != strings.TrimSpace("first\nsecond\nkept\nunset 2 "+shown) {
					b.t.Errorf("after the change: %q", got)
				}
				b.wantWhole(step.Spec, 1)
			})
		})
	}
}

func TestCrashInSnapshot(t *testing.T) {
	prepare := func(b *bench) crashStep {
		spec := b.spec()
		spec.Secrets, spec.SecretNames = map[string]string{"S": "secret"}, []string{"S"}
		b.create(spec)
		b.sh("mkdir /opt; echo tool > /opt/tool; echo kept > /workspace/kept")
		step := b.step("snapshot", spec)
		step.Snapshot = "snap-" + b.marks.Name
		return step
	}
	crashAtEachWrite(t, prepare, func(b *bench, step crashStep) {
		made, err := b.backend.CreateSnapshot(b.ctx(), b.marks, step.Snapshot)
		b.must(err)
		if made.ID != step.Snapshot || made.Marks != b.marks {
			b.t.Errorf("snapshot %+v", made)
		}
		list, err := b.backend.ListSnapshots(b.ctx(), b.marks.Record)
		b.must(err)
		if len(list) != 1 {
			b.t.Errorf("snapshots: %+v", list)
		}
		b.wantWhole(step.Spec, 1)
	})
}

func TestCrashInDelete(t *testing.T) {
	prepare := func(b *bench) crashStep {
		spec := b.spec()
		spec.Volumes = map[string]backends.Volume{"data": {Target: "/data"}}
		b.create(spec)
		b.sh("mkdir /opt; echo tool > /opt/tool")
		spec.Environment = map[string]string{"A": "1"}
		_, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
		b.must(err)
		_, err = b.backend.CreateSnapshot(b.ctx(), b.marks, "snap-"+b.marks.Name)
		b.must(err)
		return b.step("delete", spec)
	}
	crashAtEachWrite(t, prepare, func(b *bench, _ crashStep) {
		b.delete(everything)
		if left := b.count(); !reflect.DeepEqual(left, counts{}) {
			b.t.Errorf("left behind: %+v", left)
		}
	})
}

func TestCrashInClone(t *testing.T) {
	prepare := func(b *bench) crashStep {
		b.create(b.spec())
		b.sh("mkdir /opt; echo tool > /opt/tool; echo kept > /workspace/kept")
		step := b.step("create", backends.Spec{Source: backends.Source{CloneOf: b.marks.Name}})
		step.Marks.Name += "-clone"
		step.Marks.Record += "-clone"
		return step
	}
	crashAtEachWrite(t, prepare, func(b *bench, step crashStep) {
		b.must(b.backend.Delete(b.ctx(), step.Marks, everything))
		if got := b.get().Status; got != backends.StatusRunning {
			b.t.Errorf("the original is %s", got)
		}
		if found := b.count(); len(found.Containers) != 1 || len(found.Volumes) != 1 || len(found.Images) != 0 {
			b.t.Errorf("left behind: %+v", found)
		}
		_, err := b.backend.Create(b.ctx(), step.Marks, step.Spec)
		b.must(err)
		if got := b.shIn(step.Marks.Name, "cat /opt/tool /workspace/kept"); got != "tool\nkept" {
			b.t.Errorf("inside: %q", got)
		}
		b.must(b.backend.Delete(b.ctx(), step.Marks, everything))
		b.wantWhole(b.spec(), 0)
	})
}
