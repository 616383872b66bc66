package acctest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// commandLimit is how long one command may run before it is ended and the test fails.
const commandLimit = 5 * time.Minute

// Option alters one command.
type Option func(*invocation)

type invocation struct {
	arguments []string
	env       map[string]string
	limit     time.Duration
	ctx       context.Context
	started   func(pid int)
}

// Var sets an input variable on the command line.
func Var(name, value string) Option { return Args("-var", name+"="+value) }

// Target limits the command to an address.
func Target(address string) Option { return Args("-target", address) }

// Replace asks for the replacement of an address.
func Replace(address string) Option { return Args("-replace", address) }

// NoRefresh leaves the refresh out.
func NoRefresh() Option { return Args("-refresh=false") }

// Args adds arguments as they are.
func Args(arguments ...string) Option {
	return func(i *invocation) { i.arguments = append(i.arguments, arguments...) }
}

// Env sets a variable for this command.
func Env(name, value string) Option {
	return func(i *invocation) { i.env[name] = value }
}

// Limit bounds the command's run time.
func Limit(limit time.Duration) Option { return func(i *invocation) { i.limit = limit } }

// WithContext ends the command, and everything that it started, when ctx is done. The test does not
// fail for that.
func WithContext(ctx context.Context) Option { return func(i *invocation) { i.ctx = ctx } }

// Started is called with the process id of the command, which leads a process group of its own.
func Started(f func(pid int)) Option { return func(i *invocation) { i.started = f } }

// Result is how a command ended.
type Result struct {
	w           *Workspace
	Args        []string
	ExitCode    int
	Stdout      string
	Stderr      string
	Duration    time.Duration
	Diagnostics Diagnostics
	// Changes are those that the command's own output announces.
	Changes []Change
}

// Run runs a command of the CLI in the workspace. A command that cannot be started, or that does
// not end in time, fails the test; any exit status is the caller's to judge.
func (w *Workspace) Run(command string, options ...Option) *Result {
	w.T.Helper()
	call := invocation{arguments: []string{command}, env: map[string]string{}, limit: commandLimit, ctx: context.Background()}
	for _, option := range options {
		option(&call)
	}
	ctx, cancel := context.WithTimeout(call.ctx, call.limit)
	defer cancel()
	process := exec.CommandContext(ctx, w.CLI.Path, call.arguments...)
	process.Dir, process.Env = w.Dir, w.environ(call.env)
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	process.Cancel = func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
	process.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	process.Stdout, process.Stderr = &stdout, &stderr
	begin := time.Now()
	err := process.Start()
	if err == nil {
		if call.started != nil {
			call.started(process.Process.Pid)
		}
		err = process.Wait()
	}
	result := &Result{
		w: w, Args: call.arguments, ExitCode: process.ProcessState.ExitCode(),
		Stdout: stdout.String(), Stderr: stderr.String(), Duration: time.Since(begin),
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil && call.ctx.Err() == nil:
		w.T.Fatalf("did not end within %s:\n%s", call.limit, result)
	case err != nil && !errors.As(err, &exit) && call.ctx.Err() == nil:
		w.T.Fatalf("%v:\n%s", err, result)
	}
	result.read()
	return result
}

// String is the command with all it said, for failure messages.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s (in %s) ended with %d after %s\n", filepath.Base(r.w.CLI.Path), strings.Join(r.Args, " "), r.w.Dir, r.ExitCode, r.Duration.Round(time.Millisecond))
	for _, change := range r.Changes {
		fmt.Fprintf(&b, "  %s\n", change)
	}
	for _, d := range r.Diagnostics {
		fmt.Fprintf(&b, "  %s\n", d)
	}
	if len(r.Diagnostics) == 0 && r.ExitCode != 0 {
		b.WriteString(indent(r.Stdout))
	}
	b.WriteString(indent(r.Stderr))
	return b.String()
}

// Succeed fails the test unless the command succeeded. A plan with changes is a success.
func (r *Result) Succeed() *Result {
	r.w.T.Helper()
	detailed := strings.Contains(strings.Join(r.Args, " "), "-detailed-exitcode") && r.ExitCode == 2
	if r.ExitCode != 0 && !detailed {
		r.w.T.Fatalf("failed:\n%s", r)
	}
	return r
}

// FailWith fails the test unless the command failed, and every error has the code.
func (r *Result) FailWith(code string) *Result {
	r.w.T.Helper()
	if r.ExitCode != 1 || len(r.Diagnostics.Errors()) == 0 {
		r.w.T.Fatalf("did not fail; expected the error %q:\n%s", code, r)
	}
	for _, d := range r.Diagnostics.Errors() {
		if d.Code != code {
			r.w.T.Fatalf("has the error %q; expected %q only:\n%s", d.Code, code, r)
		}
	}
	return r
}

// Warn fails the test unless there is a warning with the code.
func (r *Result) Warn(code string) *Result {
	r.w.T.Helper()
	if len(r.Diagnostics.Warnings().Code(code)) == 0 {
		r.w.T.Fatalf("does not warn with %q:\n%s", code, r)
	}
	return r
}

// NoWarning fails the test when the provider warned.
func (r *Result) NoWarning() *Result {
	r.w.T.Helper()
	for _, d := range r.Diagnostics.Warnings() {
		if d.Code != "" {
			r.w.T.Fatalf("warns unexpectedly:\n%s", r)
		}
	}
	return r
}

func indent(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	return "  | " + strings.ReplaceAll(text, "\n", "\n  | ") + "\n"
}
