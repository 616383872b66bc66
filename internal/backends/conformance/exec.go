package conformance

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func execChecks() []check {
	return []check{
		{"exec results", checkExecResults},
		{"exec arguments", checkExecArguments},
		{"exec environment and directory", checkExecSurroundings},
		{"exec output limits", checkExecOutput},
		{"exec timeout", checkExecTimeout},
		{"exec side by side", checkExecConcurrent},
		{"exec user", checkExecUser},
	}
}

func checkExecResults(t T, e *env) {
	b := e.create(t)
	for _, c := range []struct {
		argv   []string
		code   int
		stdout string
		stderr string
	}{
		{[]string{"sh", "-c", ":"}, 0, "", ""},
		{[]string{"sh", "-c", "printf out; printf err >&2; exit 7"}, 7, "out", "err"},
		{[]string{"sh", "-c", "exit 255"}, 255, "", ""},
		{[]string{"sh", "-c", `printf 'a\000b\377c'`}, 0, e.printed("a\x00b\xffc"), ""},
		{[]string{"cat"}, 0, "", ""}, // there is no input to wait for
	} {
		result, err := b.exec(backends.Command{Argv: c.argv})
		if err != nil {
			t.Errorf("%q: %v", c.argv, err)
			continue
		}
		if result.ExitCode != c.code || string(result.Stdout) != c.stdout || string(result.Stderr) != c.stderr || result.Truncated {
			t.Errorf("%q: %+v, want %d, %q, %q", c.argv, result, c.code, c.stdout, c.stderr)
		}
	}
	result, err := b.exec(backends.Command{Argv: []string{"sh", "-c", "kill -9 $$"}})
	if err != nil || result.ExitCode == 0 {
		t.Errorf("a killed command: %+v, %v", result, err)
	}
	result, err = b.exec(backends.Command{Argv: []string{"no-such-program-anywhere"}})
	if err == nil && result.ExitCode == 0 {
		t.Errorf("a program that does not exist: %+v", result)
	}
	_, err = b.exec(backends.Command{})
	e.wantKind(t, "an empty command", err, backends.Invalid)
}

// printed is how a backend tells what a command printed.
func (e *env) printed(output string) string {
	if e.capabilities.TextOutput {
		return strings.ToValidUTF8(output, "\uFFFD")
	}
	return output
}

func checkExecArguments(t T, e *env) {
	b := e.create(t)
	// Valid UTF-8 only: nothing else can be said in HCL.
	arguments := []string{
		"", " ", "two words", "it's", `"quoted"`, "line\nbreak\n", "\ttab", "'; rm -rf \"$HOME\"; '", "$(id)", "`id`", "${PATH}",
		"*", "~", "a&b|c>d<e;f", "back\\slash", "-n", "--", "ü€😀", "%s%d", "!history", "#comment", strings.Repeat("long", 5000),
	}
	argv := append([]string{"sh", "-c", `for argument; do printf '%s\000' "$argument"; done`, "sh"}, arguments...)
	got := b.run(backends.Command{Argv: argv})
	if want := strings.Join(arguments, "\x00") + "\x00"; got != want {
		t.Errorf("the arguments arrived as %s, want %s", excerpt([]byte(got)), excerpt([]byte(want)))
	}
	// Nor is the program's own name read by a shell.
	result, err := b.exec(backends.Command{Argv: []string{"echo escaped; true"}})
	if err == nil && (result.ExitCode == 0 || bytes.Contains(result.Stdout, []byte("escaped"))) {
		t.Errorf("the command went through a shell: %+v", result)
	}
}

func checkExecSurroundings(t T, e *env) {
	b := e.create(t, func(s *backends.Spec) {
		s.Environment = map[string]string{"FROM_SPEC": "spec", "BOTH": "spec"}
	})
	tricky := "a 'b' \"c\"\n$d=e ü"
	command := backends.Command{
		Argv:        []string{"sh", "-c", `printf '%s|%s|%s' "$FROM_SPEC" "$BOTH" "$TRICKY"`},
		Environment: map[string]string{"BOTH": "command", "TRICKY": tricky},
	}
	if got := b.run(command); got != "spec|command|"+tricky {
		t.Errorf("the environment was %q", got)
	}
	command.Environment = nil
	if got := b.run(command); got != "spec|spec|" {
		t.Errorf("a command's environment stayed for the next one: %q", got)
	}
	if got := b.run(backends.Command{Argv: pwd()}); strings.TrimSpace(got) != b.workspace {
		t.Errorf("a command ran in %q, want the workspace %q", got, b.workspace)
	}
	b.sh("mkdir 'sub dir'")
	if got := b.run(backends.Command{Argv: pwd(), WorkingDirectory: b.path("sub dir")}); strings.TrimSpace(got) != b.path("sub dir") {
		t.Errorf("a command ran in %q, want the directory that was asked for", got)
	}
}

func checkExecOutput(t T, e *env) {
	b := e.create(t)
	both := func(bytes string) []string {
		return []string{"sh", "-c", `head -c "$0" /dev/zero; head -c "$0" /dev/zero >&2`, bytes}
	}
	for _, c := range []struct {
		name      string
		command   backends.Command
		length    int
		truncated bool
	}{
		{"below the limit", backends.Command{Argv: both("99"), OutputLimit: 100}, 99, false},
		{"at the limit", backends.Command{Argv: both("100"), OutputLimit: 100}, 100, false},
		{"beyond the limit", backends.Command{Argv: both("101"), OutputLimit: 100}, 100, true},
		{"at the default limit", backends.Command{Argv: both("65536")}, backends.DefaultOutputLimit, false},
		{"beyond the default limit", backends.Command{Argv: both("65537")}, backends.DefaultOutputLimit, true},
		{"above the default limit", backends.Command{Argv: both("200000"), OutputLimit: 1 << 20}, 200000, false},
		{"far beyond the limit", backends.Command{Argv: both("20000000"), OutputLimit: 100}, 100, true},
	} {
		result, err := b.exec(c.command)
		if err != nil {
			t.Errorf("output %s: %v", c.name, err)
			continue
		}
		if len(result.Stdout) != c.length || len(result.Stderr) != c.length || result.Truncated != c.truncated || result.ExitCode != 0 {
			t.Errorf("output %s: %d and %d bytes, truncated %v, exit status %d; want %d bytes, truncated %v",
				c.name, len(result.Stdout), len(result.Stderr), result.Truncated, result.ExitCode, c.length, c.truncated)
		}
	}
	result, err := b.exec(backends.Command{Argv: []string{"sh", "-c", "printf 0123456789"}, OutputLimit: 4})
	if err != nil || string(result.Stdout) != "0123" || len(result.Stderr) != 0 || !result.Truncated {
		t.Errorf("the beginning of the output: %+v, %v", result, err)
	}
}

func checkExecTimeout(t T, e *env) {
	b := e.create(t)
	started := time.Now()
	_, err := b.exec(backends.Command{Argv: []string{"sh", "-c", "sleep 6; echo late > late"}, WorkingDirectory: b.workspace, Timeout: 500 * time.Millisecond})
	e.wantKind(t, "a command that takes too long", err, backends.TimedOut)
	if took := time.Since(started); took > 30*time.Second {
		t.Errorf("a timeout of half a second took %v", took)
	}
	// A command of the process group's child, so that ending the first process is not enough.
	_, err = b.exec(backends.Command{Argv: []string{"sh", "-c", "sh -c 'sleep 6; echo late > late2'; true"}, WorkingDirectory: b.workspace, Timeout: 500 * time.Millisecond})
	e.wantKind(t, "a child that takes too long", err, backends.TimedOut)

	ctx, cancel := context.WithTimeout(e.ctx(t), 500*time.Millisecond)
	defer cancel()
	started = time.Now()
	_, err = e.backend.Exec(ctx, b.marks.Name, backends.Command{Argv: []string{"sleep", "60"}})
	e.wantKind(t, "a command beyond the context's deadline", err, backends.TimedOut)
	if took := time.Since(started); took > 30*time.Second {
		t.Errorf("a context of half a second took %v", took)
	}
	time.Sleep(7 * time.Second)
	if names := b.names("."); len(names) > 0 {
		t.Errorf("commands that timed out went on and left %q", names)
	}
	b.wantStatus(backends.StatusRunning)
	if result, err := b.exec(backends.Command{Argv: nothing(), Timeout: time.Minute}); err != nil || result.ExitCode != 0 {
		t.Errorf("the next command: %+v, %v", result, err)
	}
}

func checkExecConcurrent(t T, e *env) {
	b := e.create(t)
	var wait sync.WaitGroup
	for i := range 5 {
		wait.Go(func() {
			text := strings.Repeat(string(rune('a'+i)), 1000)
			result, err := b.exec(backends.Command{Argv: []string{"sh", "-c", `printf %s "$0"; sleep 0.2; printf %s "$0"`, text}})
			if err != nil || string(result.Stdout) != text+text {
				t.Errorf("command %d side by side: %v, %s", i, err, excerpt(result.Stdout))
			}
		})
	}
	wait.Wait()
}

func checkExecUser(t T, e *env) {
	b := e.create(t)
	command := backends.Command{Argv: []string{"id", "-u"}, User: "1234"}
	if !e.capabilities.User {
		_, err := b.exec(command)
		e.wantKind(t, "a command as another user", err, backends.Unsupported)
		return
	}
	if got := strings.TrimSpace(b.run(command)); got != "1234" {
		t.Errorf("the command ran as %q", got)
	}
}
