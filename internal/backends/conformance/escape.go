package conformance

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func escapeChecks() []check {
	return []check{{"planted links", checkPlantedLinks}}
}

// fileStates are the run states in which files can be reached.
func (e *env) fileStates() []string {
	if e.capabilities.FilesNeedCompute {
		return []string{"running"}
	}
	return []string{"running", "stopped"}
}

// checkPlantedLinks has a command inside plant links that lead out of the workspace. No file
// method may follow them, whether the sandbox runs or not.
func checkPlantedLinks(t T, e *env) {
	b := e.create(t)
	b.sh(`ln -s /etc absolute; ln -s ../../../../../../etc up; ln -s / root; mkdir in; ln -s ../up in/chain
		ln -s /etc/passwd file; ln -s "$1etc/passwd" upfile; ln -s /etc/planted dangling; ln -s loop loop; ln -s . dot`, strings.Repeat("../", strings.Count(b.workspace, "/")))
	for _, state := range e.fileStates() {
		if state == "stopped" {
			b.stop()
		}
		for _, name := range []string{"absolute/passwd", "up/passwd", "root/etc/passwd", "in/chain/passwd", "dot/up/passwd", "file", "upfile"} {
			_, _, err := b.open(b.path(name))
			e.wantKind(t, state+": OpenFile "+name, err, backends.PathEscapes)
		}
		for _, name := range []string{"absolute/planted", "up/planted", "root/etc/planted", "in/chain/planted", "absolute/sub/planted"} {
			ctx, absolute := e.ctx(t), b.path(name)
			_, err := e.backend.StatFile(ctx, b.marks.Name, absolute)
			e.wantKind(t, state+": StatFile "+name, err, backends.PathEscapes)
			err = e.backend.WriteFile(ctx, b.marks.Name, absolute, []byte("planted"), 0o644)
			e.wantKind(t, state+": WriteFile "+name, err, backends.PathEscapes)
			err = e.backend.RemoveFile(ctx, b.marks.Name, absolute)
			e.wantKind(t, state+": RemoveFile "+name, err, backends.PathEscapes)
		}
		for _, name := range []string{"absolute", "up", "root/etc", "in/chain"} {
			_, err := e.backend.ListFiles(e.ctx(t), b.marks.Name, b.path(name))
			e.wantKind(t, state+": ListFiles "+name, err, backends.PathEscapes)
		}
		if _, _, err := b.open(b.path("loop")); err == nil {
			t.Errorf("%s: OpenFile of a link to itself: no error", state)
		}
		b.checkWriteOntoLinks(state)
	}
	b.start()
	if got := b.sh("ls -A /etc"); strings.Contains(got, "planted") {
		t.Errorf("a write went through a planted link")
	}
}

// checkWriteOntoLinks: a write onto a link that leads out is refused, or takes the link's place.
func (b *box) checkWriteOntoLinks(state string) {
	b.t.Helper()
	before := b.stat("dangling")
	if before.Mode.Type() != fs.ModeSymlink {
		return // replaced in the round before
	}
	err := b.backend.WriteFile(b.ctx(b.t), b.marks.Name, b.path("dangling"), []byte("x"), 0o644)
	switch {
	case err == nil:
		if info := b.stat("dangling"); !info.Mode.IsRegular() {
			b.t.Errorf("%s: a write onto a link was accepted and went elsewhere: %+v", state, info)
		}
	case !errors.Is(err, backends.PathEscapes):
		b.t.Errorf("%s: WriteFile onto a link that leads out: %v", state, err)
	}
}
