//go:build linux

package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// tools are the programs that run a command, as absolute paths without links.
type tools struct {
	bubblewrap string
	version    string
	prlimit    string
	setpriv    string
}

// toolCache remembers the tools once they were found and tried.
type toolCache struct {
	mutex sync.Mutex
	found *tools
}

// Minimum version of bubblewrap: the first that has --disable-userns.
const minimumMajor, minimumMinor = 0, 8

// needTools finds the programs and tries once whether a sandbox can be made at all.
func (b *Backend) needTools(ctx context.Context, op operation) (tools, error) {
	b.tools.mutex.Lock()
	defer b.tools.mutex.Unlock()
	if b.tools.found != nil {
		return *b.tools.found, nil
	}
	found, err := b.findTools(ctx, op)
	if err != nil {
		return tools{}, err
	}
	if err := b.tryTools(ctx, op, found); err != nil {
		return tools{}, err
	}
	b.tools.found = &found
	return found, nil
}

func (b *Backend) findTools(ctx context.Context, op operation) (found tools, err error) {
	program := b.config.BubblewrapPath
	if program == "" {
		program = "bwrap"
	}
	if found.bubblewrap, err = lookUp(op, program, "bubblewrap"); err != nil {
		return found, err
	}
	if found.prlimit, err = lookUp(op, "prlimit", "util-linux"); err != nil {
		return found, err
	}
	if found.setpriv, err = lookUp(op, "setpriv", "util-linux"); err != nil {
		return found, err
	}
	found.version, err = b.bubblewrapVersion(ctx, op, found.bubblewrap)
	return found, err
}

func lookUp(op operation, program, distribution string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		failure := op.fail(backends.NotInstalled, "The program %q is absent or cannot be run.", program)
		failure.Remedy = "Install it: apt-get install " + distribution
		failure.Err = err
		return "", failure
	}
	return path, nil
}

// bubblewrapVersion asks the program for its version and refuses one that is too old.
func (b *Backend) bubblewrapVersion(ctx context.Context, op operation, path string) (string, error) {
	var output []byte
	err := b.look(ctx, "run bwrap --version", path, func() (err error) {
		command := exec.CommandContext(ctx, path, "--version")
		command.Env = []string{}
		output, err = command.Output()
		return err
	})
	if err != nil {
		return "", op.wrap(err, fmt.Sprintf("%s does not tell its version.", path))
	}
	version := strings.TrimSpace(strings.TrimPrefix(string(bytes.TrimSpace(output)), "bubblewrap"))
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return "", op.fail(backends.Failed, "%s does not tell a version of bubblewrap, but %q.", path, version)
	}
	if major == minimumMajor && minor < minimumMinor {
		failure := op.fail(backends.NotInstalled, "bubblewrap %s is too old: 0.8.0 is the first that can forbid namespaces inside.", version)
		failure.Remedy = "Install a newer one: apt-get install bubblewrap, on a distribution of 2023 or later."
		return "", failure
	}
	return version, nil
}

// tryTools runs nothing in a sandbox like those of real commands, so that a kernel that forbids
// them is told before a sandbox is made. It writes nothing.
func (b *Backend) tryTools(ctx context.Context, op operation, found tools) error {
	line := &commandLine{tools: found, asRoot: b.asRoot(), uid: firstUID + uidRange}
	defer line.close()
	line.isolate(backends.NetworkDenyAll, "probe")
	if err := line.hostSystem(); err != nil {
		return op.wrap(err, "A trial sandbox could not be described.")
	}
	line.mounted("--proc", "/proc")
	line.mounted("--dev", "/dev")
	outcome, err := b.launch(ctx, op, line, launchOptions{argv: []string{"true"}, limit: backends.DefaultOutputLimit, read: true})
	if err != nil {
		return err
	}
	if outcome.ExitCode != 0 {
		return op.fail(backends.Failed, "A trial command in a sandbox ended with status %d: %s", outcome.ExitCode, firstLine(outcome.Stderr))
	}
	return nil
}

// checkTools tells before anything is made whether commands of that network mode can run.
func (b *Backend) checkTools(ctx context.Context, op operation, mode string) error {
	if _, err := b.needTools(ctx, op); err != nil {
		return err
	}
	if mode == backends.NetworkAllowAll {
		_, err := findEgress(op)
		return err
	}
	return nil
}

// Probe implements [backends.Backend].
func (b *Backend) Probe(ctx context.Context) backends.Availability {
	op, err := b.begin("probe", "")
	var found tools
	if err == nil && !b.bare() {
		found, err = b.needTools(ctx, op)
	}
	if err == nil {
		return backends.Availability{Available: true, Version: found.version}
	}
	reason := err.Error()
	var typed *backends.Error
	if errors.As(err, &typed) {
		reason = strings.TrimSpace(typed.Detail + " " + typed.Remedy)
	}
	return backends.Availability{Version: found.version, Reason: reason}
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	const longest = 300
	if len(line) > longest {
		line = line[:longest] + "…"
	}
	return line
}
