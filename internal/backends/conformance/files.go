package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func fileChecks() []check {
	return []check{
		{"file contents", checkFileContents},
		{"file modes", checkFileModes},
		{"file names", checkFileNames},
		{"file replacement", checkFileReplacement},
		{"absent files", checkAbsentFiles},
		{"directories", checkDirectories},
		{"links", checkLinks},
		{"files of a stopped sandbox", checkStoppedFiles},
	}
}

// contents are what a file must carry unchanged.
func contents() map[string][]byte {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return map[string][]byte{
		"empty":       {},
		"plain":       []byte("no line break at the end"),
		"every byte":  every,
		"only 0xff":   {0xff},
		"one NUL":     {0},
		"CRLF":        []byte("a\r\nb\r\n"),
		"one MiB":     bytes.Repeat(every, 4096),
		"a tar block": bytes.Repeat([]byte{'x'}, 512),
	}
}

func checkFileContents(t T, e *env) {
	b := e.create(t)
	for name, content := range contents() {
		b.write(name, content, 0o644)
		b.wantFile(name, content)
		info := b.stat(name)
		if info.Size != int64(len(content)) || info.Path != b.path(name) || !info.Mode.IsRegular() || info.LinkTarget != "" {
			t.Errorf("StatFile %q describes it as %+v", name, info)
		}
		if age := time.Since(info.ModTime); age < -time.Minute || age > 10*time.Minute {
			t.Errorf("%q was changed at %v", name, info.ModTime)
		}
		sum := sha256.Sum256(content)
		if inside, _, _ := strings.Cut(b.sh(`sha256sum < "$1"`, name), " "); inside != hex.EncodeToString(sum[:]) {
			t.Errorf("%q has another content inside: %s", name, inside)
		}
	}
	// And the other way round.
	b.sh(`mkdir made; printf 'x\000\377' > made/inside; chmod 640 made/inside`)
	b.wantFile("made/inside", []byte("x\x00\xff"))
	if mode := b.stat("made/inside").Mode; mode != 0o640 {
		t.Errorf("the mode of a file made inside is %v", mode)
	}
	if names := b.names("."); len(names) != len(contents())+1 {
		t.Errorf("writing files left others behind: %q", names)
	}
}

func checkFileModes(t T, e *env) {
	b := e.create(t)
	for _, mode := range []fs.FileMode{0o600, 0o644, 0o755, 0o400, 0o666} {
		b.write("file", []byte("#!/bin/sh\necho ran\n"), mode)
		if got := b.stat("file").Mode; got != mode {
			t.Errorf("the mode is %v, want %v", got, mode)
		}
		if got, want := b.sh("stat -c %a file"), strconv.FormatUint(uint64(mode), 8); got != want {
			t.Errorf("inside the mode is %s, want %s", got, want)
		}
	}
	b.write("file", []byte("#!/bin/sh\necho ran\n"), 0o755)
	if got := b.sh("./file"); got != "ran" {
		t.Errorf("an executable file printed %q", got)
	}
	// The file belongs to the sandbox's user, and so do the directories made for it.
	b.write("new/deep/own", []byte("a"), 0o600)
	if got := b.sh("cd new/deep && printf b >> own && cat own && : > beside && rm own beside && cd ../.. && rm -r new && echo done"); got != "abdone" {
		t.Errorf("a command that works on a written file printed %q", got)
	}
}

// oddNames are file names that something on the way might misread.
func oddNames() []string {
	return []string{"two words", "-n", "--", "it's", `"quoted"`, "ü€😀", "a\\b", "$(id)", "*", ".hidden", "...", "line\nbreak", "%s", "name.tar.gz", "-rf"}
}

func checkFileNames(t T, e *env) {
	b := e.create(t)
	for _, name := range oddNames() {
		b.write(path.Join("odd", name), []byte(name), 0o644)
		b.wantFile(path.Join("odd", name), []byte(name))
		if got := b.run(backends.Command{Argv: []string{"sh", "-c", `cat < "$0"`, b.path(path.Join("odd", name))}}); got != name {
			t.Errorf("inside %q holds %q", name, got)
		}
	}
	want := slices.Sorted(slices.Values(oddNames()))
	if got := b.names("odd"); !slices.Equal(got, want) {
		t.Errorf("ListFiles has %q, want %q", got, want)
	}
	for _, name := range oddNames() {
		if err := e.backend.RemoveFile(e.ctx(t), b.marks.Name, b.path(path.Join("odd", name))); err != nil {
			t.Errorf("RemoveFile %q: %v", name, err)
		}
	}
	if left := b.names("odd"); len(left) > 0 {
		t.Errorf("after all were removed there are %q", left)
	}
}

func checkFileReplacement(t T, e *env) {
	b := e.create(t)
	b.write("file", []byte("a long first content"), 0o600)
	b.write("file", []byte("second"), 0o755)
	b.wantFile("file", []byte("second"))
	if mode := b.stat("file").Mode; mode != 0o755 {
		t.Errorf("the mode of a replaced file is %v", mode)
	}
	b.checkReplacedWhileOpen()
	b.write("directory/file", []byte("x"), 0o644)
	err := e.backend.WriteFile(e.ctx(t), b.marks.Name, b.path("directory"), []byte("y"), 0o644)
	if err == nil {
		t.Errorf("WriteFile replaced a directory")
	}
	b.wantFile("directory/file", []byte("x"))
	err = e.backend.WriteFile(e.ctx(t), b.marks.Name, b.path("file/below"), []byte("y"), 0o644)
	if err == nil {
		t.Errorf("WriteFile made a file below a file")
	}
	b.wantFile("file", []byte("second"))
	if names := b.names("."); !slices.Equal(names, []string{"directory", "file"}) {
		t.Errorf("failed writes left %q", names)
	}
}

// checkReplacedWhileOpen: a file is replaced in one step, so whoever has the old one open reads it
// to its end.
func (b *box) checkReplacedWhileOpen() {
	b.t.Helper()
	b.write("signals/old", []byte("old"), 0o644)
	read := make(chan string, 1)
	go func() {
		result, err := b.exec(backends.Command{
			Argv:             []string{"sh", "-c", "exec 3< old; : > ready; while [ ! -e go ]; do sleep 0.1; done; cat <&3"},
			WorkingDirectory: b.path("signals"), Timeout: time.Minute,
		})
		if err != nil {
			read <- err.Error()
			return
		}
		read <- string(result.Stdout)
	}()
	eventually(b.t, "a reader", 30*time.Second, func() bool {
		_, err := b.backend.StatFile(b.ctx(b.t), b.marks.Name, b.path("signals/ready"))
		return err == nil
	})
	b.write("signals/old", []byte("new"), 0o644)
	b.write("signals/go", nil, 0o644)
	if got := <-read; got != "old" {
		b.t.Errorf("while the file was replaced its reader found %q", got)
	}
	b.sh("rm -r signals")
}

func checkAbsentFiles(t T, e *env) {
	b := e.create(t)
	b.write("directory/file", []byte("x"), 0o644)
	ctx := e.ctx(t)
	for _, name := range []string{"absent", "absent/below", "directory/absent"} {
		_, err := e.backend.StatFile(ctx, b.marks.Name, b.path(name))
		e.wantKind(t, "StatFile of an absent file", err, backends.FileNotFound)
		_, _, err = b.open(b.path(name))
		e.wantKind(t, "OpenFile of an absent file", err, backends.FileNotFound)
		_, err = e.backend.ListFiles(ctx, b.marks.Name, b.path(name))
		e.wantKind(t, "ListFiles of an absent directory", err, backends.FileNotFound)
		if err := e.backend.RemoveFile(ctx, b.marks.Name, b.path(name)); err != nil {
			t.Errorf("RemoveFile of an absent file: %v", err)
		}
	}
	for range 2 {
		if err := e.backend.RemoveFile(ctx, b.marks.Name, b.path("directory/file")); err != nil {
			t.Errorf("RemoveFile: %v", err)
		}
		b.wantNoFile("directory/file")
	}
	if got := b.sh("ls -A directory"); got != "" {
		t.Errorf("inside there is still %q", got)
	}
}

func checkDirectories(t T, e *env) {
	b := e.create(t)
	ctx := e.ctx(t)
	b.sh("mkdir -p dir/sub empty; chmod 750 dir/sub; printf 12345 > dir/b; : > dir/a; : > dir/.c; ln -s b dir/d")
	if names := b.names("empty"); len(names) > 0 {
		t.Errorf("an empty directory holds %q", names)
	}
	entries, err := e.backend.ListFiles(ctx, b.marks.Name, b.path("dir"))
	if err != nil {
		t.Fatalf("ListFiles: %v", err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, path.Base(entry.Path))
		info, err := e.backend.StatFile(ctx, b.marks.Name, entry.Path)
		if err != nil || info.Mode != entry.Mode || info.LinkTarget != entry.LinkTarget || info.ModTime.Unix() != entry.ModTime.Unix() || info.Path != entry.Path {
			t.Errorf("ListFiles tells %+v, StatFile %+v, %v", entry, info, err)
		}
		if entry.Mode.IsRegular() && entry.Size != info.Size {
			t.Errorf("ListFiles tells %+v, StatFile %+v", entry, info)
		}
	}
	if want := []string{".c", "a", "b", "d", "sub"}; !slices.Equal(names, want) {
		t.Errorf("ListFiles has %q, want %q", names, want)
	}
	if info := b.stat("dir/b"); info.Size != 5 {
		t.Errorf("dir/b has the size %d", info.Size)
	}
	if info := b.stat("dir/sub"); info.Mode != fs.ModeDir|0o750 {
		t.Errorf("dir/sub has the mode %v", info.Mode)
	}
	if info := b.stat("."); !info.Mode.IsDir() || info.Path != b.workspace {
		t.Errorf("the workspace itself is %+v", info)
	}
	for _, name := range []string{"dir", "empty"} {
		e.wantKind(t, "RemoveFile of a directory", e.backend.RemoveFile(ctx, b.marks.Name, b.path(name)), backends.Invalid)
	}
	if info := b.stat("empty"); !info.Mode.IsDir() {
		t.Errorf("the directory became %+v", info)
	}
	_, _, err = b.open(b.path("dir"))
	e.wantKind(t, "OpenFile of a directory", err, backends.Invalid)
	if _, err := e.backend.ListFiles(ctx, b.marks.Name, b.path("dir/b")); err == nil {
		t.Errorf("ListFiles of a file: no error")
	}
}

func checkLinks(t T, e *env) {
	b := e.create(t)
	b.sh("mkdir dir; printf real > dir/real; ln -s real dir/link; ln -s dir way; ln -s dir/real top; ln -s nowhere dangling")
	info := b.stat("dir/link")
	if info.Mode.Type() != fs.ModeSymlink || info.LinkTarget != "real" || info.Path != b.path("dir/link") {
		t.Errorf("StatFile of a link: %+v", info)
	}
	if info := b.stat("dangling"); info.LinkTarget != "nowhere" {
		t.Errorf("StatFile of a dangling link: %+v", info)
	}
	for _, name := range []string{"top", "dir/link", "way/real"} {
		if content, _, err := b.open(b.path(name)); err != nil || string(content) != "real" {
			t.Errorf("OpenFile over a link that stays in the workspace, %q: %q, %v", name, content, err)
		}
	}
	b.write("way/new", []byte("new"), 0o644)
	b.wantFile("dir/new", []byte("new"))
	if _, _, err := b.open(b.path("dangling")); err == nil {
		t.Errorf("OpenFile of a dangling link: no error")
	}
	if err := e.backend.RemoveFile(e.ctx(t), b.marks.Name, b.path("top")); err != nil {
		t.Errorf("RemoveFile of a link: %v", err)
	}
	b.wantNoFile("top")
	b.wantFile("dir/real", []byte("real"))
}

// wantFilesClosed checks that no file method works in a stopped sandbox, and none wakes it.
func (b *box) wantFilesClosed() {
	b.t.Helper()
	ctx, file := b.ctx(b.t), b.path("dir/inside")
	for what, call := range map[string]func() error{
		"StatFile":   func() error { _, err := b.backend.StatFile(ctx, b.marks.Name, file); return err },
		"OpenFile":   func() error { _, _, err := b.open(file); return err },
		"ListFiles":  func() error { _, err := b.backend.ListFiles(ctx, b.marks.Name, b.path("dir")); return err },
		"WriteFile":  func() error { return b.backend.WriteFile(ctx, b.marks.Name, file, []byte("x"), 0o644) },
		"RemoveFile": func() error { return b.backend.RemoveFile(ctx, b.marks.Name, file) },
	} {
		b.wantKind(b.t, what+" in a stopped sandbox", call(), backends.NotRunning)
	}
	b.wantStatus(backends.StatusStopped)
}

func checkStoppedFiles(t T, e *env) {
	b := e.create(t)
	b.sh("mkdir dir; printf inside > dir/inside; : > dir/gone")
	b.stop()
	if e.capabilities.FilesNeedCompute {
		b.wantFilesClosed()
		b.start()
		b.wantFile("dir/inside", []byte("inside"))
		return
	}
	b.wantFile("dir/inside", []byte("inside"))
	b.write("dir/added/file", []byte("added\x00\xff"), 0o750)
	b.wantFile("dir/added/file", []byte("added\x00\xff"))
	if mode := b.stat("dir/added/file").Mode; mode != 0o750 {
		t.Errorf("the mode is %v", mode)
	}
	if err := e.backend.RemoveFile(e.ctx(t), b.marks.Name, b.path("dir/gone")); err != nil {
		t.Errorf("RemoveFile: %v", err)
	}
	b.wantNoFile("dir/gone")
	if names := b.names("dir"); !slices.Equal(names, []string{"added", "inside"}) {
		t.Errorf("ListFiles has %q", names)
	}
	_, _, err := b.open(b.path("absent"))
	e.wantKind(t, "OpenFile of an absent file", err, backends.FileNotFound)
	b.wantStatus(backends.StatusStopped)
	b.start()
	if got := b.sh("cat dir/added/file | sha256sum; stat -c %a dir/added/file; printf x >> dir/added/file; ls dir"); !strings.HasSuffix(got, "750\nadded\ninside") {
		t.Errorf("after the start a command printed %q", got)
	}
}
