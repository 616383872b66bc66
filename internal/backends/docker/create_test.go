package docker

import (
	"io"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func TestLifecycle(t *testing.T) {
	b := newBench(t)
	observed := b.create(b.spec())
	if observed.Status != backends.StatusRunning || observed.Marks != b.marks || observed.SessionID == "" {
		t.Fatalf("created %+v", observed)
	}
	b.sh("echo hello > /workspace/made-by-command")
	b.must(b.backend.WriteFile(b.ctx(), b.marks.Name, "/workspace/a/b/file", []byte("content"), 0o640))
	if got := b.sh("cat /workspace/a/b/file; stat -c %a:%u /workspace/a/b/file"); got != "content640:0" {
		t.Errorf("written file shows %q", got)
	}
	stream, _, err := b.backend.OpenFile(b.ctx(), b.marks.Name, "/workspace/made-by-command")
	b.must(err)
	content, err := io.ReadAll(stream)
	b.must(err)
	b.must(stream.Close())
	if string(content) != "hello\n" {
		t.Errorf("read %q", content)
	}
	b.must(b.backend.RemoveFile(b.ctx(), b.marks.Name, "/workspace/a/b/file"))
	_, err = b.backend.StatFile(b.ctx(), b.marks.Name, "/workspace/a/b/file")
	b.wantKind(err, backends.FileNotFound)
	b.calls.take()
	b.delete(backends.DeleteOptions{})
	_, err = b.backend.Get(b.ctx(), b.marks.Name)
	b.wantKind(err, backends.NotFound)
	if left := b.count(); len(left.Containers)+len(left.Volumes)+len(left.Images) > 0 {
		t.Errorf("left behind: %+v", left)
	}
}
