//go:build linux

package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// ordinaryUser is the uid that the whole suite is run as a second time when it is run by root.
const ordinaryUser = 1000

// childEnvironment marks a run of this binary by itself.
const childEnvironment = "SANDLOT_TEST_CHILD"

// TestAsOrdinaryUser runs the other tests again as a user without privileges, but for those of
// crashes: what they kill does not depend on the user.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user; the other tests ran as an ordinary user already")
	}
	needBubblewrap(t)
	environment := []string{testkit.RequireVariable + "=" + requiredOfOrdinaryUser(t)}
	output, err := rerun(t, ordinaryUser, environment, "-test.v", "-test.skip", "^(TestAsOrdinaryUser|TestKilledAtEveryStep)$").CombinedOutput()
	for _, line := range strings.Split(string(output), "\n") {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "===") || strings.HasPrefix(text, "--- PASS") || err == nil && !strings.HasPrefix(text, "--- SKIP") {
			continue
		}
		t.Log(line)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// requiredOfOrdinaryUser is what must not be skipped in that run. The way out needs the tun device,
// which many machines close to ordinary users; the run as root has tested it then.
func requiredOfOrdinaryUser(t *testing.T) string {
	t.Helper()
	parts := strings.Split(os.Getenv(testkit.RequireVariable), ",")
	device, err := os.Stat("/dev/net/tun")
	if err != nil || device.Mode().Perm()&0o006 != 0o006 {
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "slirp4netns" })
	}
	return strings.Join(parts, ",")
}

// rerun prepares a run of this test binary as a user. For another one the binary is copied
// to where that user can reach it.
func rerun(t *testing.T, uid uint32, environment []string, arguments ...string) *exec.Cmd {
	t.Helper()
	directory, err := os.MkdirTemp("", "rerun")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeAll(directory); err != nil {
			t.Error(err)
		}
	})
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if int(uid) != os.Geteuid() {
		binary = copyOf(t, binary, filepath.Join(directory, "local.test"))
	}
	temporary := filepath.Join(directory, "tmp")
	for _, step := range []error{
		os.Chmod(directory, 0o755), os.Mkdir(temporary, 0o700), os.Chown(temporary, int(uid), int(uid)),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	command := exec.Command(binary, arguments...)
	command.Dir = temporary
	command.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + temporary, "HOME=" + temporary, childEnvironment + "=1",
		"SANDLOT_TEST_REQUIRE=" + os.Getenv("SANDLOT_TEST_REQUIRE"),
	}, environment...)
	if int(uid) != os.Geteuid() {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	return command
}

func copyOf(t *testing.T, from, to string) string {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

func needBubblewrap(t *testing.T) {
	t.Helper()
	testkit.Bubblewrap(t)
}

// tempDir is t.TempDir that also removes what commands closed to us.
func tempDir(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "sandlot-local")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeAll(directory); err != nil {
			t.Error(err)
		}
	})
	return directory
}

// newBackend returns a prepared backend on a data directory of its own.
func newBackend(t *testing.T, observer effects.Observer) *Backend {
	t.Helper()
	needBubblewrap(t)
	b := New(Config{DataDir: filepath.Join(tempDir(t), "data"), Observer: observer})
	if _, err := b.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

func marksOf(name string) backends.Marks {
	return backends.Marks{Owner: "owner", Name: name, Kind: backends.Persistent, Record: "record-" + name}
}

// create makes a sandbox that is deleted when the test ends.
func create(t *testing.T, b *Backend, name string, spec backends.Spec) backends.Observed {
	t.Helper()
	observed, err := b.Create(t.Context(), marksOf(name), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Delete(context.Background(), marksOf(name), backends.DeleteOptions{Snapshots: true}); err != nil {
			t.Error(err)
		}
	})
	return observed
}

// run runs a command that must be executed, whatever its status.
func run(t *testing.T, b *Backend, name string, argv ...string) backends.ExecResult {
	t.Helper()
	result, err := b.Exec(t.Context(), name, backends.Command{Argv: argv})
	if err != nil {
		t.Fatalf("%v: %v (%s)", argv, err, result.Stderr)
	}
	return result
}

// shell runs a script that must succeed and returns what it prints.
func shell(t *testing.T, b *Backend, name, script string) string {
	t.Helper()
	result := run(t, b, name, "sh", "-c", script)
	if result.ExitCode != 0 {
		t.Fatalf("%s: status %d: %s", script, result.ExitCode, result.Stderr)
	}
	return strings.TrimSpace(string(result.Stdout))
}

func wantKind(t *testing.T, err error, kind backends.ErrorKind) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("got %v, want the kind %q", err, kind)
	}
}
