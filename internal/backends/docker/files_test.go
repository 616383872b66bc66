package docker

import (
	"io"
	"io/fs"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func (b *bench) read(p string) (string, error) {
	b.t.Helper()
	stream, _, err := b.backend.OpenFile(b.ctx(), b.marks.Name, p)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(stream)
	b.must(err)
	b.must(stream.Close())
	return string(content), nil
}

func TestFilesOfAUser(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	spec.User = "agent"
	b.create(spec)
	for _, stopped := range []bool{false, true} {
		name := map[bool]string{false: "/workspace/new/dir/running", true: "/workspace/new/dir/stopped"}[stopped]
		if stopped {
			b.must(b.backend.Stop(b.ctx(), b.marks.Name))
		}
		b.must(b.backend.WriteFile(b.ctx(), b.marks.Name, name, []byte("one"), 0o600))
		b.must(b.backend.WriteFile(b.ctx(), b.marks.Name, name, []byte("two"), 0o640))
		if got, err := b.read(name); err != nil || got != "two" {
			t.Errorf("%s: read %q, %v", name, got, err)
		}
		info, err := b.backend.StatFile(b.ctx(), b.marks.Name, name)
		b.must(err)
		if info.Mode != 0o640 || info.Size != 3 || info.Path != name {
			t.Errorf("%s: %+v", name, info)
		}
	}
	b.must(b.backend.RemoveFile(b.ctx(), b.marks.Name, "/workspace/new/dir/stopped"))
	b.must(b.backend.RemoveFile(b.ctx(), b.marks.Name, "/workspace/new/dir/stopped"))
	if got := b.get().Status; got != backends.StatusStopped {
		t.Errorf("removing a file left it %s", got)
	}
	b.must(b.backend.Start(b.ctx(), b.marks.Name))
	if got := b.sh("stat -c %u:%g:%a /workspace/new /workspace/new/dir /workspace/new/dir/running; ls /workspace/new/dir"); got != "1000:1000:755\n1000:1000:755\n1000:1000:640\nrunning" {
		t.Errorf("inside: %q", got)
	}
	b.must(b.backend.RemoveFile(b.ctx(), b.marks.Name, "/workspace/new/dir/running"))
	if got := b.sh("ls -A /workspace/new/dir"); got != "" {
		t.Errorf("left: %q", got)
	}
	b.must(b.backend.WriteFile(b.ctx(), b.marks.Name, "/etc/app/config", []byte("outside"), 0o644))
	b.must(b.backend.RemoveFile(b.ctx(), b.marks.Name, "/etc/app/config"))
	_, err := b.read("/etc/app/config")
	b.wantKind(err, backends.FileNotFound)
}

func TestPlantedLinks(t *testing.T) {
	b := newBench(t)
	b.create(b.spec())
	b.sh(`cd /workspace; mkdir -p real/sub /tmp/outside; echo secret > /tmp/outside/file; echo in > real/sub/file
ln -s /tmp/outside out; ln -s ../../tmp/outside real/up; ln -s real in; ln -s real/sub/file link; ln -s /tmp/outside/file leads; ln -s loop loop; ln -s nowhere dangling; ln -s /etc /workspace/real/etc`)
	for _, p := range []string{"/workspace/out/file", "/workspace/real/up/file", "/workspace/in/up/file", "/workspace/real/etc/passwd"} {
		_, err := b.read(p)
		b.wantKind(err, backends.PathEscapes)
		_, err = b.backend.StatFile(b.ctx(), b.marks.Name, p)
		b.wantKind(err, backends.PathEscapes)
		b.wantKind(b.backend.WriteFile(b.ctx(), b.marks.Name, p, []byte("x"), 0o644), backends.PathEscapes)
		b.wantKind(b.backend.RemoveFile(b.ctx(), b.marks.Name, p), backends.PathEscapes)
	}
	_, err := b.read("/workspace/leads")
	b.wantKind(err, backends.PathEscapes)
	_, err = b.backend.ListFiles(b.ctx(), b.marks.Name, "/workspace/out")
	b.wantKind(err, backends.PathEscapes)
	for _, p := range []string{"/workspace/in/sub/file", "/workspace/link"} {
		if got, err := b.read(p); err != nil || got != "in\n" {
			t.Errorf("%s: %q, %v", p, got, err)
		}
	}
	for _, p := range []string{"/workspace/dangling", "/workspace/loop"} {
		if _, err := b.read(p); err == nil {
			t.Errorf("%s could be read", p)
		}
	}
	info, err := b.backend.StatFile(b.ctx(), b.marks.Name, "/workspace/leads")
	b.must(err)
	if info.Mode&fs.ModeSymlink == 0 || info.LinkTarget != "/tmp/outside/file" {
		t.Errorf("the link is %+v", info)
	}
	// Writing replaces the link itself, removing removes it.
	b.must(b.backend.WriteFile(b.ctx(), b.marks.Name, "/workspace/leads", []byte("mine"), 0o644))
	b.must(b.backend.WriteFile(b.ctx(), b.marks.Name, "/workspace/dangling", []byte("mine"), 0o644))
	b.must(b.backend.RemoveFile(b.ctx(), b.marks.Name, "/workspace/out"))
	if got := b.sh("cat /tmp/outside/file /workspace/leads; test -e /workspace/out || test -e /workspace/nowhere || echo none"); got != "secret\nminenone" {
		t.Errorf("inside: %q", got)
	}
	b.wantKind(b.backend.WriteFile(b.ctx(), b.marks.Name, "/workspace/real", []byte("x"), 0o644), backends.Invalid)
	b.wantKind(b.backend.RemoveFile(b.ctx(), b.marks.Name, "/workspace/real"), backends.Invalid)
}

func TestListRoot(t *testing.T) {
	b := newBench(t)
	b.create(b.spec())
	list, err := b.backend.ListFiles(b.ctx(), b.marks.Name, "/etc")
	b.must(err)
	var names []string
	for _, entry := range list {
		names = append(names, entry.Path)
	}
	if !reflect.DeepEqual(names[:1], []string{"/etc/group"}) {
		t.Errorf("/etc: %q", names)
	}
}

// TestReadsOnlyLook walks every read, on a sandbox in every state, and every call must be a look.
func TestReadsOnlyLook(t *testing.T) {
	b := newBench(t)
	b.create(b.spec())
	b.sh("echo kept > /workspace/file; ln -s file /workspace/link")
	_, err := b.backend.CreateSnapshot(b.ctx(), b.marks, "snap-"+b.marks.Name)
	b.must(err)
	reads := func(state string) {
		t.Helper()
		b.calls.take()
		b.backend.Probe(b.ctx())
		for _, read := range []func() error{
			func() error { _, err := b.backend.Binding(b.ctx()); return err },
			func() error { _, err := b.backend.Prepare(b.ctx()); return err },
			func() error { _, err := b.backend.Get(b.ctx(), b.marks.Name); return err },
			func() error { _, err := b.backend.List(b.ctx()); return err },
			func() error { _, err := b.backend.GetSnapshot(b.ctx(), "snap-"+b.marks.Name); return err },
			func() error { _, err := b.backend.ListSnapshots(b.ctx(), b.marks.Record); return err },
			func() error { _, err := b.backend.StatFile(b.ctx(), b.marks.Name, "/workspace/link"); return err },
			func() error { _, err := b.backend.ListFiles(b.ctx(), b.marks.Name, "/workspace"); return err },
			func() error { _, err := b.read("/workspace/link"); return err },
		} {
			if err := read(); err != nil && state != "lost" && state != "gone" {
				t.Errorf("%s: %v", state, err)
			}
		}
		seen := b.calls.take()
		if done := writes(seen); len(done) > 0 || len(seen) == 0 {
			t.Errorf("%s: wrote %v", state, done)
		}
	}
	reads("running")
	b.must(b.raw.ContainerPause(b.ctx(), b.marks.Name))
	reads("paused")
	if got := b.get().Status; got != backends.StatusStopped {
		t.Errorf("a paused sandbox is %s", got)
	}
	_, err = b.backend.Exec(b.ctx(), b.marks.Name, backends.Command{Argv: []string{"id"}})
	b.wantKind(err, backends.NotRunning)
	b.must(b.backend.Start(b.ctx(), b.marks.Name))
	b.must(b.backend.Stop(b.ctx(), b.marks.Name))
	reads("stopped")
	b.must(b.raw.ContainerRemove(b.ctx(), b.marks.Name, removeForced))
	reads("lost")
	b.delete(backends.DeleteOptions{})
	reads("gone")
}

// TestReadsOfOneContainerAtOnce reads files and a directory of one stopped container from many
// goroutines: every answer is whole. Without turns the engine cuts some of them short.
func TestReadsOfOneContainerAtOnce(t *testing.T) {
	const readers, rounds = 8, 8
	b := newBench(t)
	b.create(b.spec())
	content := strings.Repeat("content ", 4096)
	b.must(b.backend.WriteFile(b.ctx(), b.marks.Name, "/workspace/dir/file", []byte(content), 0o644))
	b.must(b.backend.Stop(b.ctx(), b.marks.Name))
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			for range rounds {
				entries, err := b.backend.ListFiles(b.ctx(), b.marks.Name, "/workspace/dir")
				if err != nil || len(entries) != 1 {
					t.Errorf("listed %v, %v", entries, err)
				}
				stream, _, err := b.backend.OpenFile(b.ctx(), b.marks.Name, "/workspace/dir/file")
				if err != nil {
					t.Error(err)
					continue
				}
				found, err := io.ReadAll(stream)
				if closing := stream.Close(); err != nil || closing != nil || string(found) != content {
					t.Errorf("read %d bytes of %d: %v, %v", len(found), len(content), err, closing)
				}
			}
		})
	}
	all.Wait()
}
