package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Whoever wakes a sandbox puts it back, however the command ends.
func TestExecPutsBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.create(p.manager, persistent(box))
	for _, test := range []struct {
		name    string
		command backends.Command
		status  int
		err     error
	}{
		{"success", backends.Command{Argv: []string{"true"}}, 0, nil},
		{"failing command", backends.Command{Argv: []string{"sh", "-c", "exit 7"}}, 7, nil},
		{"absolute directory that is absent", backends.Command{Argv: []string{"true"}, WorkingDirectory: "/absent"}, 0, backends.ErrorKind("any")},
		{"timeout", backends.Command{Argv: []string{"sleep", "60"}, Timeout: 1}, 0, backends.TimedOut},
	} {
		for _, before := range []backends.Status{backends.StatusStopped, backends.StatusRunning} {
			change := map[backends.Status]func(context.Context, string) error{
				backends.StatusStopped: p.backend.Stop, backends.StatusRunning: p.backend.Start,
			}[before]
			if err := change(t.Context(), box); err != nil {
				t.Fatal(err)
			}
			d := &double{}
			result, err := p.over(d).Exec(t.Context(), box, test.command)
			if test.err != backends.ErrorKind("any") && (result.ExitCode != test.status || !errors.Is(err, test.err)) {
				t.Errorf("%s, %s before: status %d, %v, want %d, %v", test.name, before, result.ExitCode, err, test.status, test.err)
			}
			if found := p.status(); found != before {
				t.Errorf("%s: it is %q, and was %q before", test.name, found, before)
			}
			changes := slices.DeleteFunc(d.noted(), func(call string) bool { return call == "Get" })
			want := map[backends.Status][]string{backends.StatusStopped: {"Start", "Stop"}}[before]
			if !slices.Equal(changes, want) {
				t.Errorf("%s, %s before: the backend was asked for %q, want %q", test.name, before, changes, want)
			}
		}
	}
	_, err := p.manager.Exec(t.Context(), "absent", backends.Command{Argv: []string{"true"}})
	fails(t, err, backends.NotFound)
}

// A canceled command does not leave the sandbox awake.
func TestExecCanceled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	request := persistent(box)
	request.DesiredState = DesiredStopped
	p.create(p.manager, request)
	ctx, cancel := context.WithCancel(t.Context())
	d := &double{}
	m := p.over(d)
	m.Backend = &canceler{double: d, cancel: cancel, begun: 1}
	if _, err := m.Exec(ctx, box, backends.Command{Argv: []string{"sleep", "60"}}); err == nil {
		t.Error("a canceled command succeeded")
	}
	if found := p.status(); found != backends.StatusStopped {
		t.Errorf("it is %q, and was stopped before", found)
	}
}

func TestExecCannotPutBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	request := persistent(box)
	request.DesiredState = DesiredStopped
	p.create(p.manager, request)
	_, err := p.over(&double{fail: failing("Stop")}).Exec(t.Context(), box, backends.Command{Argv: []string{"true"}})
	fails(t, err, errInjected)
	if err == nil || !strings.Contains(err.Error(), "local/box") {
		t.Errorf("the error does not name what is awake: %v", err)
	}
}

// Two commands that find one stopped sandbox do not lose it under each other.
func TestExecConcurrently(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	request := persistent(box)
	request.DesiredState = DesiredStopped
	p.create(p.manager, request)
	other := openPlace(t, p.dir, nil)
	var group sync.WaitGroup
	for i, m := range []*Manager{p.manager, other.manager, p.manager, other.manager} {
		group.Go(func() {
			script := fmt.Sprintf("i=0; while [ $i -lt 50 ]; do i=$((i+1)); : > /workspace/%d-$i; done; ls /workspace | grep -c ^%d-", i, i)
			result, err := m.Exec(t.Context(), box, backends.Command{Argv: []string{"sh", "-c", script}})
			if found := strings.TrimSpace(string(result.Stdout)); err != nil || found != "50" {
				t.Errorf("command %d: %q, status %d, %v: %s", i, found, result.ExitCode, err, result.Stderr)
			}
		})
	}
	group.Wait()
	if found := p.status(); found != backends.StatusStopped {
		t.Errorf("it is %q, and was stopped before", found)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	made := p.create(p.manager, persistent(box))
	m, observed := p.manager, made.Observed
	// The hashes are those of sha256sum.
	written, err := m.WriteFile(t.Context(), observed, "docs/a.txt", []byte("abc"), 0o640)
	want := FileState{Path: "/workspace/docs/a.txt", SHA256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", Size: 3, Mode: 0o640}
	if err != nil || written != want {
		t.Errorf("written %+v, %v, want %+v", written, err, want)
	}
	if found := p.shell(m, "sha256sum < /workspace/docs/a.txt; stat -c %a /workspace/docs/a.txt"); found != want.SHA256+"  -\n640" {
		t.Errorf("inside it is %q", found)
	}
	if hashed, err := m.HashFile(t.Context(), observed, "/workspace/docs/../docs/a.txt"); err != nil || hashed != want {
		t.Errorf("hashed %+v, %v", hashed, err)
	}
	if read, content, err := m.ReadFile(t.Context(), observed, "docs/a.txt", 3); err != nil || read != want || !bytes.Equal(content, []byte("abc")) {
		t.Errorf("read %+v, %q, %v", read, content, err)
	}
	_, _, err = m.ReadFile(t.Context(), observed, "docs/a.txt", 2)
	fails(t, err, backends.Invalid)
	if _, err := m.WriteFile(t.Context(), observed, "empty", nil, fs.FileMode(0o600)); err != nil {
		t.Error(err)
	}
	if empty, err := m.HashFile(t.Context(), observed, "empty"); err != nil || empty.SHA256 != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("the empty file is %+v, %v", empty, err)
	}

	list := func(path string, recursive bool, limit int) ([]string, error) {
		entries, err := m.ListFiles(t.Context(), observed, path, recursive, limit)
		var paths []string
		for _, entry := range entries {
			paths = append(paths, entry.Path)
		}
		return paths, err
	}
	if found, err := list(".", false, 10); err != nil || !slices.Equal(found, []string{"/workspace/docs", "/workspace/empty"}) {
		t.Errorf("listed %q, %v", found, err)
	}
	if found, err := list(".", true, 10); err != nil || !slices.Contains(found, "/workspace/docs/a.txt") || len(found) != 3 {
		t.Errorf("listed %q, %v", found, err)
	}
	_, err = list(".", true, 2)
	fails(t, err, backends.Invalid)

	p.shell(m, "ln -s /etc/passwd /workspace/link; ln -s /etc /workspace/dir; ln -s ../../../../etc/passwd /workspace/relative")
	for path, kind := range map[string]backends.ErrorKind{
		"../a": backends.PathEscapes, "docs/../../a": backends.PathEscapes, "../workspace/empty": backends.PathEscapes,
		"a\x00": backends.PathEscapes, "": backends.PathEscapes,
		"/etc/passwd": backends.Unsupported, "/workspace/../etc/passwd": backends.Unsupported,
		"link": backends.PathEscapes, "dir/passwd": backends.PathEscapes, "relative": backends.PathEscapes,
		"absent": backends.FileNotFound,
	} {
		if _, err := m.HashFile(t.Context(), observed, path); !errors.Is(err, kind) {
			t.Errorf("hashing %q gives %v, want %q", path, err, kind)
		}
		if kind == backends.FileNotFound || strings.HasPrefix(path, "link") || path == "relative" {
			continue // such a file may be made, or be replaced as the link it is
		}
		if _, err := m.WriteFile(t.Context(), observed, path, []byte("x"), 0o600); !errors.Is(err, kind) {
			t.Errorf("writing %q gives %v, want %q", path, err, kind)
		}
		if err := m.RemoveFile(t.Context(), observed, path); !errors.Is(err, kind) {
			t.Errorf("removing %q gives %v, want %q", path, err, kind)
		}
	}
	for range 2 {
		if err := m.RemoveFile(t.Context(), observed, "docs/a.txt"); err != nil {
			t.Error(err)
		}
	}
	_, err = m.HashFile(t.Context(), observed, "docs/a.txt")
	fails(t, err, backends.FileNotFound)
}
