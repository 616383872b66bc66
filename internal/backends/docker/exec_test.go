package docker

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func (b *bench) exec(command backends.Command) (backends.ExecResult, error) {
	b.t.Helper()
	return b.backend.Exec(b.ctx(), b.marks.Name, command)
}

func TestExec(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	spec.Secrets, spec.SecretNames = map[string]string{"TOKEN": "from-the-container"}, []string{"TOKEN"}
	b.create(spec)
	result, err := b.exec(backends.Command{
		Argv:             []string{"sh", "-c", `echo "$TOKEN $MORE $(pwd) $(id -u)"; echo wrong >&2; exit 7`},
		Environment:      map[string]string{"MORE": "a=b c"},
		WorkingDirectory: "/tmp", User: "agent",
	})
	b.must(err)
	if string(result.Stdout) != "(TOKEN redacted) a=b c /tmp 1000\n" || string(result.Stderr) != "wrong\n" || result.ExitCode != 7 || result.Truncated {
		t.Errorf("result %+v: %s", result, result.Stdout)
	}
	for name, command := range map[string]backends.Command{
		"program":   {Argv: []string{"no-such-program"}},
		"path":      {Argv: []string{"/no/such/program"}},
		"directory": {Argv: []string{"id"}, WorkingDirectory: "/etc/passwd/x"},
		"user":      {Argv: []string{"id"}, User: "no-such-user"},
	} {
		_, err := b.exec(command)
		if failure := b.wantKind(err, backends.CommandFailed); !strings.Contains(failure.Detail, name) && name != "path" {
			t.Errorf("%s: %v", name, failure)
		}
	}
	_, err = b.exec(backends.Command{})
	b.wantKind(err, backends.Invalid)
	result, err = b.exec(backends.Command{Argv: []string{"head", "-c", "5000000", "/dev/zero"}, OutputLimit: 10})
	b.must(err)
	if len(result.Stdout) != 10 || !result.Truncated {
		t.Errorf("%d bytes, truncated %t", len(result.Stdout), result.Truncated)
	}
}

// TestExecEnds checks that a command that was given up does not go on, nor what it started.
func TestExecEnds(t *testing.T) {
	for name, user := range map[string]string{"root": "", "a user": "agent"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			spec := b.spec()
			spec.User = user
			b.create(spec)
			script := []string{"sh", "-c", "(trap '' TERM; while :; do sleep 77; done) & sleep 88; echo never"}
			_, err := b.exec(backends.Command{Argv: script, Timeout: time.Second})
			b.wantKind(err, backends.TimedOut)
			ctx, cancel := context.WithCancel(b.ctx())
			time.AfterFunc(time.Second, cancel)
			_, err = b.backend.Exec(ctx, b.marks.Name, backends.Command{Argv: script})
			failure := b.wantKind(err, backends.Failed)
			if !strings.Contains(failure.Detail, "ended") {
				t.Errorf("canceled: %v", failure)
			}
			if got := b.sh("ps | grep -v grep | grep -c 'sleep [78][78]' || true"); got != "0" {
				t.Errorf("%s processes go on: %s", got, b.sh("ps"))
			}
		})
	}
}

func TestMainProcessTimeout(t *testing.T) {
	for name, command := range map[string][]string{"keep-alive": nil, "command": {"sh", "-c", "while :; do sleep 1; done"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			spec := b.spec()
			spec.Command, spec.Timeout = command, 2*time.Second
			b.create(spec)
			for deadline := time.Now().Add(60 * time.Second); b.get().Running(); time.Sleep(200 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("it still runs")
				}
			}
		})
	}
}
