//go:build linux

package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// The crash tests run this binary again with the data directory and the number of the step at
// which it kills itself.
const (
	crashDataDir = "SANDLOT_TEST_CRASH_DATA_DIR"
	crashAt      = "SANDLOT_TEST_CRASH_AT"
	crashScript  = "SANDLOT_TEST_CRASH_SCRIPT"
)

// scripts are the operations that are killed. Each can be repeated until it is done, and leaves
// what check expects. Setup is run without being killed.
func scripts() map[string]struct {
	setup func(context.Context, *Backend) error
	run   func(context.Context, *Backend) error
	left  []string
} {
	marks := marksOf("crash")
	spec := backends.Spec{Environment: map[string]string{"A": "b"}, Secrets: map[string]string{"S": "t"}}
	ensure := func(ctx context.Context, b *Backend) error {
		if _, err := b.Get(ctx, marks.Name); err == nil {
			return nil
		}
		_, err := b.Create(ctx, marks, spec)
		return err
	}
	write := func(ctx context.Context, b *Backend) error {
		return b.WriteFile(ctx, marks.Name, "/workspace/d/file", []byte("content"), 0o600)
	}
	snapshot := func(ctx context.Context, b *Backend) error {
		_, err := b.CreateSnapshot(ctx, marks, "snap")
		return err
	}
	all := func(steps ...func(context.Context, *Backend) error) func(context.Context, *Backend) error {
		return func(ctx context.Context, b *Backend) error {
			for _, step := range steps {
				if err := step(ctx, b); err != nil {
					return err
				}
			}
			return nil
		}
	}
	nothing := func(context.Context, *Backend) error { return nil }
	sandbox := []string{"sandboxes/crash", "locks/crash.lock"}
	return map[string]struct {
		setup func(context.Context, *Backend) error
		run   func(context.Context, *Backend) error
		left  []string
	}{
		"create": {nothing, ensure, sandbox},
		"restore": {all(ensure, write, snapshot, func(ctx context.Context, b *Backend) error {
			return b.Delete(ctx, marks, backends.DeleteOptions{})
		}), func(ctx context.Context, b *Backend) error {
			if _, err := b.Get(ctx, marks.Name); err == nil {
				return nil
			}
			_, err := b.Create(ctx, marks, backends.Spec{Source: backends.Source{SnapshotID: "snap"}})
			return err
		}, append([]string{"snapshots/snap.json", "snapshots/snap.tar.zst"}, sandbox...)},
		"clone": {all(ensure, write), func(ctx context.Context, b *Backend) error {
			if _, err := b.Get(ctx, "copy"); err == nil {
				return nil
			}
			_, err := b.Create(ctx, marksOf("copy"), backends.Spec{Source: backends.Source{CloneOf: "crash"}})
			return err
		}, append([]string{"sandboxes/copy", "locks/copy.lock"}, sandbox...)},
		"write":       {ensure, all(write, write), sandbox},
		"reconfigure": {ensure, func(ctx context.Context, b *Backend) error { _, err := b.Reconfigure(ctx, marks, spec); return err }, sandbox},
		"exec": {ensure, func(ctx context.Context, b *Backend) error {
			_, err := b.Exec(ctx, marks.Name, backends.Command{Argv: []string{"sh", "-c", ": crash-test-command; test -e slow || { touch slow; sleep 2; }"}})
			return err
		}, sandbox},
		"stop and start": {ensure, all(
			func(ctx context.Context, b *Backend) error { return b.Stop(ctx, marks.Name) },
			func(ctx context.Context, b *Backend) error { return b.Start(ctx, marks.Name) },
		), sandbox},
		"snapshot": {all(ensure, write), snapshot, append([]string{"snapshots/snap.json", "snapshots/snap.tar.zst"}, sandbox...)},
		"delete": {all(ensure, write, snapshot), func(ctx context.Context, b *Backend) error {
			return b.Delete(ctx, marks, backends.DeleteOptions{Snapshots: true})
		}, nil},
		"delete snapshot": {all(ensure, snapshot), func(ctx context.Context, b *Backend) error { return b.DeleteSnapshot(ctx, marks, "snap") }, sandbox},
	}
}

// TestCrashChild is the process that is killed.
func TestCrashChild(t *testing.T) {
	if os.Getenv(crashDataDir) == "" {
		t.Skip("it is run by TestKilledAtEveryStep")
	}
	at, err := strconv.Atoi(os.Getenv(crashAt))
	if err != nil {
		t.Fatal(err)
	}
	var count atomic.Int64
	b := New(Config{DataDir: os.Getenv(crashDataDir), Observer: func(_ context.Context, phase effects.Phase, effect effects.Effect) {
		if !effect.Write {
			return
		}
		// Before the first step, or after the one before. In between nothing changes.
		done := int(count.Load())
		if phase == effects.After {
			done = int(count.Add(1))
		}
		if done+1 == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}})
	if err := scripts()[os.Getenv(crashScript)].run(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func TestKilledAtEveryStep(t *testing.T) {
	needBubblewrap(t)
	for name, script := range scripts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A clean run tells how many steps there are.
			var steps atomic.Int64
			var mutex sync.Mutex
			var seen []string
			clean := newBackend(t, func(_ context.Context, phase effects.Phase, effect effects.Effect) {
				if effect.Write && phase == effects.Before {
					steps.Add(1)
					mutex.Lock()
					defer mutex.Unlock()
					seen = append(seen, effect.Action+" "+effect.Object)
				}
			})
			if err := script.setup(t.Context(), clean); err != nil {
				t.Fatal(err)
			}
			steps.Store(0)
			seen = nil
			if err := script.run(t.Context(), clean); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d steps: %s", steps.Load(), strings.Join(seen, "; "))
			for at := range int(steps.Load()) + 1 {
				killAt(t, name, at+1, script.setup, script.run, script.left)
			}
		})
	}
}

func killAt(t *testing.T, name string, at int, setup, again func(context.Context, *Backend) error, left []string) {
	t.Helper()
	b := newBackend(t, nil)
	if err := setup(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	child := rerun(t, uint32(os.Geteuid()), []string{
		crashDataDir + "=" + b.config.DataDir, crashAt + "=" + strconv.Itoa(at), crashScript + "=" + name,
	}, "-test.run", "^TestCrashChild$", "-test.v")
	output, err := child.CombinedOutput()
	if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Errorf("point %d: it was not killed: %v: %s", at, err, output)
	}
	if name == "exec" {
		wantEnds(t, at, "crash-test-command")
	}
	if err := again(t.Context(), b); err != nil {
		t.Errorf("point %d: repeated: %v", at, err)
		return
	}
	found := treeBelow(t, b.root())
	slices.Sort(found)
	want := slices.Sorted(slices.Values(left))
	if !slices.Equal(found, want) {
		t.Errorf("point %d: there is %v, want %v", at, found, want)
	}
	for _, path := range []string{"*/*.new", "sandboxes/*/incoming/*", "sandboxes/*/*.new"} {
		if matches, err := filepath.Glob(filepath.Join(b.root(), path)); err != nil || len(matches) > 0 {
			t.Errorf("point %d: left: %v, %v", at, matches, err)
		}
	}
	if slices.Contains(left, "sandboxes/crash") {
		if got := shell(t, b, "crash", "echo $((1+1))"); got != "2" {
			t.Errorf("point %d: the sandbox does not work: %q", at, got)
		}
	}
	for _, name := range []string{"crash", "copy"} {
		if err := b.Delete(t.Context(), marksOf(name), backends.DeleteOptions{Snapshots: true}); err != nil {
			t.Errorf("point %d: %v", at, err)
		}
	}
	if found := treeBelow(t, b.root()); len(found) > 0 {
		t.Errorf("point %d: left after the deletion: %v", at, found)
	}
}

// wantEnds checks that the commands of a killed process end at once, and not by themselves.
func wantEnds(t *testing.T, at int, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		found := processesWith(t, text)
		if len(found) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("point %d: %v still run", at, found)
			return
		}
	}
}

func TestReadsWriteNothing(t *testing.T) {
	b := newBackend(t, nil)
	create(t, b, "read", backends.Spec{Secrets: map[string]string{"S": "t"}})
	shell(t, b, "read", "mkdir d; echo x > d/f")
	if _, err := b.CreateSnapshot(t.Context(), marksOf("read"), "snap"); err != nil {
		t.Fatal(err)
	}
	absent := New(Config{DataDir: filepath.Join(tempDir(t), "absent")})
	before := snapshotOf(t, filepath.Dir(b.config.DataDir))
	for _, backend := range []*Backend{b, New(Config{DataDir: b.config.DataDir}), absent} {
		ctx := t.Context()
		_ = backend.Probe(ctx)
		_, _ = backend.Binding(ctx)
		_, _ = backend.Get(ctx, "read")
		_, _ = backend.Get(ctx, "absent")
		_, _ = backend.List(ctx)
		_, _ = backend.StatFile(ctx, "read", "/workspace/d/f")
		_, _ = backend.ListFiles(ctx, "read", "/workspace/d")
		if file, _, err := backend.OpenFile(ctx, "read", "/workspace/d/f"); err == nil {
			_ = file.Close()
		}
		_, _ = backend.GetSnapshot(ctx, "snap")
		_, _ = backend.ListSnapshots(ctx, "record-read")
		_, _ = backend.Exec(ctx, "absent", backends.Command{Argv: []string{"true"}})
		_ = backend.Stop(ctx, "absent")
		_ = backend.RemoveFile(ctx, "absent", "/workspace/x")
	}
	if after := snapshotOf(t, filepath.Dir(b.config.DataDir)); after != before {
		t.Errorf("changed:\n%s\n%s", before, after)
	}
	if _, err := os.Lstat(absent.config.DataDir); !os.IsNotExist(err) {
		t.Errorf("the absent data directory was made: %v", err)
	}
}

// snapshotOf describes every file below root with its times of change.
func snapshotOf(t *testing.T, root string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		status := info.Sys().(*syscall.Stat_t)
		fmt.Fprintln(&all, path, info.Mode(), info.Size(), status.Ino, status.Ctim, status.Mtim)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestPrepareChild prints the id that one of several racing processes ends with.
func TestPrepareChild(t *testing.T) {
	if os.Getenv(crashDataDir) == "" || os.Getenv(crashScript) != "prepare" {
		t.Skip("it is run by TestTwoProcessesPrepareOneID")
	}
	binding, err := New(Config{DataDir: os.Getenv(crashDataDir)}).Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("id=" + binding.ID)
}

func TestTwoProcessesPrepareOneID(t *testing.T) {
	directory := filepath.Join(tempDir(t), "a", "data")
	b := New(Config{DataDir: directory})
	_, err := b.Binding(t.Context())
	wantKind(t, err, backends.NotFound)
	ids := make(chan string)
	const racers = 4
	for range racers {
		child := rerun(t, uint32(os.Geteuid()), []string{crashDataDir + "=" + directory, crashScript + "=prepare"}, "-test.run", "^TestPrepareChild$", "-test.v")
		go func() {
			output, _ := child.CombinedOutput()
			_, id, _ := strings.Cut(string(output), "id=")
			id, _, _ = strings.Cut(id, "\n")
			ids <- id
		}()
	}
	binding := backends.Binding{}
	for range racers {
		id := <-ids
		if binding, err = b.Binding(t.Context()); err != nil || id != binding.ID || len(id) != 32 {
			t.Errorf("a process ended with %q, the directory with %q, %v", id, binding.ID, err)
		}
	}
	info, err := os.Lstat(directory)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if binding.Description != directory {
		t.Errorf("described as %q", binding.Description)
	}
}
