package conformance

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// box is a sandbox of one check. Its methods end the check when the backend fails.
type box struct {
	*env
	t         T
	marks     backends.Marks
	spec      backends.Spec
	workspace string
	created   backends.Observed
}

// path returns the absolute path of a path below the workspace.
func (b *box) path(relative string) string { return path.Join(b.workspace, relative) }

func (b *box) get() backends.Observed {
	b.t.Helper()
	observed, err := b.backend.Get(b.ctx(b.t), b.marks.Name)
	if err != nil {
		b.t.Fatalf("Get: %v", err)
	}
	return observed
}

func (b *box) wantStatus(want backends.Status) {
	b.t.Helper()
	if observed := b.get(); observed.Status != want {
		b.t.Errorf("the status is %q, want %q", observed.Status, want)
	}
}

func (b *box) start() {
	b.t.Helper()
	if err := b.backend.Start(b.ctx(b.t), b.marks.Name); err != nil {
		b.t.Fatalf("Start: %v", err)
	}
}

func (b *box) stop() {
	b.t.Helper()
	if err := b.backend.Stop(b.ctx(b.t), b.marks.Name); err != nil {
		b.t.Fatalf("Stop: %v", err)
	}
}

func (b *box) delete(options backends.DeleteOptions) {
	b.t.Helper()
	if err := b.backend.Delete(b.ctx(b.t), b.marks, options); err != nil {
		b.t.Fatalf("Delete: %v", err)
	}
}

// reconfigure changes the specification by edits and keeps the result.
func (b *box) reconfigure(edits ...func(*backends.Spec)) backends.Observed {
	b.t.Helper()
	for _, edit := range edits {
		edit(&b.spec)
	}
	observed, err := b.backend.Reconfigure(b.ctx(b.t), b.marks, b.spec)
	if err != nil {
		b.t.Fatalf("Reconfigure: %v", err)
	}
	return observed
}

func (b *box) exec(command backends.Command) (backends.ExecResult, error) {
	return b.backend.Exec(b.ctx(b.t), b.marks.Name, command)
}

// run runs a command that must succeed and returns what it printed.
func (b *box) run(command backends.Command) string {
	b.t.Helper()
	result, err := b.exec(command)
	if err != nil {
		b.t.Fatalf("Exec of %q: %v", command.Argv, err)
	}
	if result.ExitCode != 0 {
		b.t.Fatalf("Exec of %q: exit status %d, stdout %q, stderr %q", command.Argv, result.ExitCode, result.Stdout, result.Stderr)
	}
	return string(result.Stdout)
}

// sh runs a script in the workspace and returns what it printed, without space around it.
func (b *box) sh(script string, arguments ...string) string {
	b.t.Helper()
	argv := append([]string{"sh", "-c", script, "sh"}, arguments...)
	return strings.TrimSpace(b.run(backends.Command{Argv: argv, WorkingDirectory: b.workspace}))
}

func (b *box) write(relative string, content []byte, mode fs.FileMode) {
	b.t.Helper()
	if err := b.backend.WriteFile(b.ctx(b.t), b.marks.Name, b.path(relative), content, mode); err != nil {
		b.t.Fatalf("WriteFile %q: %v", relative, err)
	}
}

func (b *box) stat(relative string) backends.FileInfo {
	b.t.Helper()
	info, err := b.backend.StatFile(b.ctx(b.t), b.marks.Name, b.path(relative))
	if err != nil {
		b.t.Fatalf("StatFile %q: %v", relative, err)
	}
	return info
}

// open reads a whole file.
func (b *box) open(absolute string) (content []byte, info backends.FileInfo, err error) {
	reader, info, err := b.backend.OpenFile(b.ctx(b.t), b.marks.Name, absolute)
	if err != nil {
		return nil, info, err
	}
	if reader == nil {
		return nil, info, fmt.Errorf("OpenFile %q returned neither a reader nor an error", absolute)
	}
	content, err = io.ReadAll(reader)
	if closeErr := reader.Close(); err == nil {
		err = closeErr
	}
	return content, info, err
}

// wantFile checks the content of a file in the workspace.
func (b *box) wantFile(relative string, want []byte) {
	b.t.Helper()
	content, info, err := b.open(b.path(relative))
	if err != nil {
		b.t.Errorf("OpenFile %q: %v", relative, err)
		return
	}
	if !bytes.Equal(content, want) {
		b.t.Errorf("%q holds %s, want %s", relative, excerpt(content), excerpt(want))
	}
	if info.Size != int64(len(want)) || info.Path != b.path(relative) || !info.Mode.IsRegular() {
		b.t.Errorf("OpenFile %q describes it as %+v", relative, info)
	}
}

func (b *box) wantNoFile(relative string) {
	b.t.Helper()
	_, err := b.backend.StatFile(b.ctx(b.t), b.marks.Name, b.path(relative))
	b.wantKind(b.t, "StatFile of the absent "+relative, err, backends.FileNotFound)
}

// names lists the names in a directory below the workspace.
func (b *box) names(relative string) []string {
	b.t.Helper()
	entries, err := b.backend.ListFiles(b.ctx(b.t), b.marks.Name, b.path(relative))
	if err != nil {
		b.t.Fatalf("ListFiles %q: %v", relative, err)
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = path.Base(entry.Path)
		if path.Dir(entry.Path) != b.path(relative) {
			b.t.Errorf("ListFiles %q has the path %q", relative, entry.Path)
		}
	}
	return names
}

// nothing is a command that succeeds and does nothing.
func nothing() []string { return []string{"sh", "-c", ":"} }

// pwd is a command that prints its working directory.
func pwd() []string { return []string{"sh", "-c", "pwd"} }

// excerpt shows where a long text begins.
func excerpt(content []byte) string {
	const most = 80
	if len(content) <= most {
		return fmt.Sprintf("%q", content)
	}
	return fmt.Sprintf("%q… (%d bytes)", content[:most], len(content))
}
