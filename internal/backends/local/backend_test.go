//go:build linux

package local

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func TestLifeOfASandbox(t *testing.T) {
	b := newBackend(t, nil)
	spec := backends.Spec{
		Environment: map[string]string{"COLOR": "blue", "LD_PRELOAD": "/nonexistent.so"},
		Secrets:     map[string]string{"TOKEN": "s3cret\nline"},
		Labels:      map[string]string{"team": "a"},
	}
	created := create(t, b, "life", spec)
	if !created.Running() || created.SessionID == "" || created.Workspace != "/workspace" || created.Marks != marksOf("life") {
		t.Errorf("created %+v", created)
	}
	got, err := b.Get(t.Context(), "life")
	if err != nil || !reflect.DeepEqual(got, created) {
		t.Errorf("Get: %+v, %v, want %+v", got, err, created)
	}
	if got := shell(t, b, "life", `unset LD_PRELOAD; printf '%s|%s|' "$COLOR" "$TOKEN"; pwd; id -u; id -un; hostname; echo $HOME; cat /etc/hostname`); got != "blue|(TOKEN redacted)|/workspace\n1000\nagent\nlife\n/home/agent\nlife" {
		t.Errorf("inside: %q", got)
	}
	if result := run(t, b, "life", "sh", "-c", "echo out; echo err >&2; exit 7"); result.ExitCode != 7 || !strings.HasSuffix(string(result.Stderr), "err\n") || string(result.Stdout) != "out\n" {
		t.Errorf("exit: %+v", result)
	}
	_, err = b.Create(t.Context(), marksOf("life"), spec)
	wantKind(t, err, backends.AlreadyExists)
	other := marksOf("life")
	other.Record = "another"
	wantKind(t, b.Delete(t.Context(), other, backends.DeleteOptions{}), backends.NotOurs)

	all, err := b.List(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "life" {
		t.Errorf("List: %+v, %v", all, err)
	}
	if err := b.Delete(t.Context(), marksOf("life"), backends.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = b.Get(t.Context(), "life")
	wantKind(t, err, backends.NotFound)
	_, err = b.Exec(t.Context(), "life", backends.Command{Argv: []string{"true"}})
	wantKind(t, err, backends.NotFound)
	if leftovers := treeBelow(t, b.root()); len(leftovers) != 0 {
		t.Errorf("left behind: %v", leftovers)
	}
}

// treeBelow returns all files, and what lies in the folders that hold objects.
func treeBelow(t *testing.T, root string) []string {
	t.Helper()
	var found []string
	for _, folder := range []string{"sandboxes", "snapshots", "staging", "trash", "locks"} {
		entries, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if entry.Name() != ".prepare.lock" {
				found = append(found, folder+"/"+entry.Name())
			}
		}
	}
	return found
}

func TestStopAndStart(t *testing.T) {
	b := newBackend(t, nil)
	for _, kind := range []backends.Kind{backends.Persistent, backends.Session} {
		t.Run(string(kind), func(t *testing.T) {
			marks := marksOf("run-" + string(kind))
			marks.Kind = kind
			if _, err := b.Create(t.Context(), marks, backends.Spec{}); err != nil {
				t.Fatal(err)
			}
			shell(t, b, marks.Name, "echo kept > /workspace/file; echo kept > ~/file; echo x > /tmp/file; mkdir -m 000 /workspace/closed")
			ended := make(chan error, 1)
			go func() {
				_, err := b.Exec(context.Background(), marks.Name, backends.Command{Argv: []string{"sleep", "300"}})
				ended <- err
			}()
			time.Sleep(200 * time.Millisecond)
			for range 2 {
				if err := b.Stop(t.Context(), marks.Name); err != nil {
					t.Fatal(err)
				}
			}
			wantKind(t, <-ended, backends.NotRunning)
			got, err := b.Get(t.Context(), marks.Name)
			if err != nil || got.Status != backends.StatusStopped || got.SessionID != "" {
				t.Errorf("stopped: %+v, %v", got, err)
			}
			_, err = b.Exec(t.Context(), marks.Name, backends.Command{Argv: []string{"true"}})
			wantKind(t, err, backends.NotRunning)
			_, err = b.StatFile(t.Context(), marks.Name, "/workspace/file")
			if kind == backends.Session {
				wantKind(t, err, backends.FileNotFound)
			} else if err != nil {
				t.Error(err)
			}
			for range 2 {
				if err := b.Start(t.Context(), marks.Name); err != nil {
					t.Fatal(err)
				}
			}
			want := "kept,kept,"
			if kind == backends.Session {
				want = ""
			}
			if got := shell(t, b, marks.Name, "cat file ~/file /tmp/file 2>/dev/null | tr '\\n' ,"); got != want {
				t.Errorf("after the start: %q, want %q", got, want)
			}
			if err := b.Delete(t.Context(), marks, backends.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestReconfigure(t *testing.T) {
	b := newBackend(t, nil)
	create(t, b, "change", backends.Spec{Secrets: map[string]string{"A": "1", "B": "2"}})
	shell(t, b, "change", "echo data > file")
	spec := backends.Spec{Environment: map[string]string{"X": "y"}, SecretNames: []string{"A"}, WorkingDirectory: "/tmp"}
	got, err := b.Reconfigure(t.Context(), marksOf("change"), spec)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Spec, spec) || !got.Running() {
		t.Errorf("reconfigured: %+v", got)
	}
	if got := shell(t, b, "change", `echo "$A|$B|$X|$PWD|$(cat /workspace/file)"`); got != "1||y|/tmp|data" {
		t.Errorf("inside: %q", got)
	}
	_, err = b.Reconfigure(t.Context(), marksOf("change"), backends.Spec{SecretNames: []string{"NEW"}})
	wantKind(t, err, backends.Invalid)
	_, err = b.Reconfigure(t.Context(), marksOf("change"), backends.Spec{CPUs: 1})
	wantKind(t, err, backends.Unsupported)
	other := marksOf("change")
	other.Owner = "another"
	_, err = b.Reconfigure(t.Context(), other, spec)
	wantKind(t, err, backends.NotOurs)
	_, err = b.Reconfigure(t.Context(), marksOf("absent"), spec)
	wantKind(t, err, backends.NotFound)
}

func TestDriftShowsAsThatAttribute(t *testing.T) {
	b := newBackend(t, nil)
	want := create(t, b, "drift", backends.Spec{Environment: map[string]string{"A": "1"}})
	path := filepath.Join(b.sandboxDir("drift"), recordFile)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var stored map[string]any
	if err := json.Unmarshal(content, &stored); err != nil {
		t.Fatal(err)
	}
	stored["spec"].(map[string]any)["environment"] = map[string]string{"A": "2"}
	changed, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	want.Spec.Environment = map[string]string{"A": "2"}
	if got, err := b.Get(t.Context(), "drift"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for _, broken := range []string{"", "{", `{"version":9}`, "null"} {
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = b.Get(t.Context(), "drift")
		wantKind(t, err, backends.Failed)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err = b.Get(t.Context(), "drift")
	wantKind(t, err, backends.Failed)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestUnsupportedIsRefusedBeforeAnythingIsMade(t *testing.T) {
	directory := filepath.Join(tempDir(t), "data")
	b := New(Config{DataDir: directory})
	for name, spec := range map[string]backends.Spec{
		"source.image": {Source: backends.Source{Image: "alpine"}},
		"cpus":         {CPUs: 1},
		"memory_mib":   {MemoryMiB: 64},
		"user":         {User: "root"},
		"command":      {Command: []string{"sleep"}},
		"timeout":      {Timeout: time.Second},
		"ports":        {Ports: []backends.Port{{Port: 80}}},
		"volumes":      {Volumes: map[string]backends.Volume{"v": {Target: "/v"}}},
		"docker":       {Docker: &backends.DockerOptions{}},
		"network.mode": {Network: backends.Network{Mode: "restricted"}},
	} {
		_, err := b.Create(t.Context(), marksOf("refused"), spec)
		wantKind(t, err, backends.Unsupported)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, spec := range []backends.Spec{
		{Mounts: []backends.Mount{{Source: "/nonexistent/x", Target: "/data"}}},
		{Mounts: []backends.Mount{{Source: "/usr", Target: "/"}}},
		{Mounts: []backends.Mount{{Source: "/", Target: "/data"}}},
		{Source: backends.Source{Rootfs: "/etc/passwd"}},
		{Source: backends.Source{Rootfs: "/nonexistent"}},
		{Environment: map[string]string{"A=B": "c"}},
		{Environment: map[string]string{"A": "b\x00--bind\x00/\x00/host"}},
		{WorkingDirectory: "relative"},
	} {
		_, err := b.Create(t.Context(), marksOf("refused"), spec)
		wantKind(t, err, backends.Invalid)
	}
	for _, name := range []string{"", ".", "..", "a/b", "../x", "a\x00b", "a@snapshot", "-x"} {
		_, err := b.Create(t.Context(), marksOf(name), backends.Spec{})
		wantKind(t, err, backends.Invalid)
		_, err = b.Get(t.Context(), name)
		wantKind(t, err, backends.Invalid)
	}
	if _, err := os.Lstat(directory); !os.IsNotExist(err) {
		t.Errorf("the data directory was made: %v", err)
	}
	if err := b.Delete(t.Context(), marksOf("absent"), backends.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func TestExecErrors(t *testing.T) {
	b := newBackend(t, nil)
	create(t, b, "errors", backends.Spec{})
	if result := run(t, b, "errors", "no-such-program"); result.ExitCode != 127 || len(result.Stderr) == 0 {
		t.Errorf("absent program: %+v", result)
	}
	if result := run(t, b, "errors", "/etc"); result.ExitCode != 126 {
		t.Errorf("directory as program: %+v", result)
	}
	if result := run(t, b, "errors", "sh", "-c", "kill -9 $$"); result.ExitCode != 137 {
		t.Errorf("killed: %+v", result)
	}
	for name, test := range map[string]struct {
		command backends.Command
		kind    backends.ErrorKind
	}{
		"empty":           {backends.Command{}, backends.Invalid},
		"NUL":             {backends.Command{Argv: []string{"echo", "a\x00b"}}, backends.Invalid},
		"user":            {backends.Command{Argv: []string{"true"}, User: "root"}, backends.Unsupported},
		"directory":       {backends.Command{Argv: []string{"true"}, WorkingDirectory: "/nonexistent"}, backends.Invalid},
		"relative":        {backends.Command{Argv: []string{"true"}, WorkingDirectory: "x"}, backends.Invalid},
		"variable":        {backends.Command{Argv: []string{"true"}, Environment: map[string]string{"": "x"}}, backends.Invalid},
		"timeout":         {backends.Command{Argv: []string{"sleep", "60"}, Timeout: 100 * time.Millisecond}, backends.TimedOut},
		"output":          {backends.Command{Argv: []string{"yes"}, Timeout: 300 * time.Millisecond}, backends.TimedOut},
		"daemon holds on": {backends.Command{Argv: []string{"sh", "-c", "setsid sleep 60 & setsid sleep 60"}, Timeout: 100 * time.Millisecond}, backends.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := b.Exec(t.Context(), "errors", test.command)
			wantKind(t, err, test.kind)
			if took := time.Since(start); took > 8*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
	result, err := b.Exec(t.Context(), "errors", backends.Command{Argv: []string{"sh", "-c", "yes | head -c 1000000"}, OutputLimit: 1000, Timeout: 20 * time.Second})
	if err != nil || !result.Truncated || len(result.Stdout) != 1000 {
		t.Errorf("truncated: %d bytes, %v, %v", len(result.Stdout), result.Truncated, err)
	}
	// What a command leaves running ends with it.
	start := time.Now()
	shell(t, b, "errors", "sleep 100 & setsid sleep 100 &")
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("background processes kept the command for %s", took)
	}
}

func TestNotInstalled(t *testing.T) {
	b := New(Config{DataDir: filepath.Join(tempDir(t), "data"), BubblewrapPath: "/nonexistent/bwrap"})
	_, err := b.Create(t.Context(), marksOf("x"), backends.Spec{})
	wantKind(t, err, backends.NotInstalled)
	if availability := b.Probe(t.Context()); availability.Available || !strings.Contains(availability.Reason, "apt-get install bubblewrap") {
		t.Errorf("%+v", availability)
	}
	needBubblewrap(t)
	if availability := New(Config{DataDir: b.config.DataDir}).Probe(t.Context()); !availability.Available || availability.Version == "" {
		t.Errorf("%+v", availability)
	}
}

func TestWithoutIsolation(t *testing.T) {
	b := New(Config{DataDir: filepath.Join(tempDir(t), "data"), Isolation: IsolationNone})
	_, err := b.Create(t.Context(), marksOf("bare"), backends.Spec{})
	wantKind(t, err, backends.Unsupported)
	t.Setenv("CANARY", "bird")
	create(t, b, "bare", backends.Spec{Network: backends.Network{Mode: "host"}, Environment: map[string]string{"A": "b"}})
	if got, want := shell(t, b, "bare", `echo "$PWD|$HOME|$A|$CANARY"`), b.sandboxDir("bare"); got != want+"/workspace|"+want+"/home|b|" {
		t.Errorf("got %q", got)
	}
	_, err = b.Exec(t.Context(), "bare", backends.Command{Argv: []string{"sleep", "60"}, Timeout: 100 * time.Millisecond})
	wantKind(t, err, backends.TimedOut)
	if result := run(t, b, "bare", "no-such-program"); result.ExitCode != 127 {
		t.Errorf("%+v", result)
	}
}

func readFile(t *testing.T, b *Backend, name, path string) string {
	t.Helper()
	file, _, err := b.OpenFile(t.Context(), name, path)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestProbeChild prints what a probe says, for [TestForbiddenNamespaces].
func TestProbeChild(t *testing.T) {
	if os.Getenv(childEnvironment) == "" {
		t.Skip("it is run by TestForbiddenNamespaces")
	}
	b := New(Config{DataDir: filepath.Join(tempDir(t), "data")})
	_, err := b.Create(t.Context(), marksOf("x"), backends.Spec{})
	t.Logf("kind=%s available=%v reason=%s", backends.KindOf(err), b.Probe(t.Context()).Available, b.Probe(t.Context()).Reason)
}

func TestForbiddenNamespaces(t *testing.T) {
	needBubblewrap(t)
	child := rerun(t, uint32(os.Geteuid()), nil, "-test.run", "^TestProbeChild$", "-test.v")
	forbid := []string{"bwrap", "--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns", "--dev-bind", "/", "/", "--"}
	program, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	child.Path, child.Args = program, append(forbid, child.Args...)
	output, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "kind=unauthorized available=false reason=This machine does not let") {
		t.Errorf("%v: %s", err, output)
	}
	if os.Geteuid() != 0 {
		return
	}
	// Root of a user namespace that has no other users.
	child = rerun(t, 0, nil, "-test.run", "^TestProbeChild$", "-test.v")
	child.Path, child.Args = program, append([]string{"bwrap", "--unshare-user", "--dev-bind", "/", "/", "--"}, child.Args...)
	output, err = child.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "kind=unauthorized available=false reason=This process is root of a user namespace") {
		t.Errorf("%v: %s", err, output)
	}
}
