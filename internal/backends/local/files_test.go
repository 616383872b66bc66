//go:build linux

package local

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func TestFiles(t *testing.T) {
	b := newBackend(t, nil)
	create(t, b, "files", backends.Spec{})
	if err := b.WriteFile(t.Context(), "files", "/workspace/a/b/c.txt", []byte("content"), 0o640); err != nil {
		t.Fatal(err)
	}
	if got := shell(t, b, "files", "cat a/b/c.txt; stat -c ' %a %u' a/b/c.txt; echo more >> a/b/c.txt; stat -c '%a %U' a/b; touch a/b/mine"); got != "content 640 1000\n755 agent" {
		t.Errorf("inside: %q", got)
	}
	if got := readFile(t, b, "files", "/workspace/a/b/c.txt"); got != "contentmore\n" {
		t.Errorf("outside: %q", got)
	}
	shell(t, b, "files", "ln -s c.txt a/b/link; ln -s /workspace/a absolute; ln -s ../../a/b a/b/up; mkfifo pipe; mkdir -p d/e; ln -s ./ring ring")
	info, err := b.StatFile(t.Context(), "files", "/workspace/a/b/link")
	if err != nil || info.LinkTarget != "c.txt" || info.Path != "/workspace/a/b/link" {
		t.Errorf("%+v, %v", info, err)
	}
	for _, path := range []string{"/workspace/a/b/link", "/workspace/absolute/b/c.txt", "/workspace/a/b/up/c.txt", "/workspace/absolute/b/up/link"} {
		if got := readFile(t, b, "files", path); got != "contentmore\n" {
			t.Errorf("%s: %q", path, got)
		}
	}
	list, err := b.ListFiles(t.Context(), "files", "/workspace/a/b")
	if err != nil || len(list) != 4 || list[0].Path != "/workspace/a/b/c.txt" || list[1].LinkTarget != "c.txt" {
		t.Errorf("%+v, %v", list, err)
	}
	// A link at the end is replaced, not followed.
	if err := b.WriteFile(t.Context(), "files", "/workspace/a/b/link", []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := shell(t, b, "files", "cat a/b/link a/b/c.txt; test ! -L a/b/link"); got != "newcontentmore" {
		t.Errorf("after the link was replaced: %q", got)
	}
	for name, test := range map[string]struct {
		err  func() error
		kind backends.ErrorKind
	}{
		"open pipe":        {func() error { _, _, err := b.OpenFile(t.Context(), "files", "/workspace/pipe"); return err }, backends.Invalid},
		"open directory":   {func() error { _, _, err := b.OpenFile(t.Context(), "files", "/workspace/d"); return err }, backends.Invalid},
		"list file":        {func() error { _, err := b.ListFiles(t.Context(), "files", "/workspace/a/b/c.txt"); return err }, backends.Invalid},
		"absent":           {func() error { _, err := b.StatFile(t.Context(), "files", "/workspace/x/y"); return err }, backends.FileNotFound},
		"below a file":     {func() error { _, err := b.StatFile(t.Context(), "files", "/workspace/a/b/c.txt/d"); return err }, backends.Invalid},
		"loop":             {func() error { _, _, err := b.OpenFile(t.Context(), "files", "/workspace/ring"); return err }, backends.PathEscapes},
		"outside":          {func() error { _, err := b.StatFile(t.Context(), "files", "/etc/passwd"); return err }, backends.Unsupported},
		"not clean":        {func() error { _, err := b.StatFile(t.Context(), "files", "/workspace/../etc"); return err }, backends.PathEscapes},
		"not clean inside": {func() error { _, err := b.StatFile(t.Context(), "files", "/workspace//d"); return err }, backends.Invalid},
		"write directory":  {func() error { return b.WriteFile(t.Context(), "files", "/workspace/d", nil, 0o600) }, backends.Invalid},
		"write workspace":  {func() error { return b.WriteFile(t.Context(), "files", "/workspace", nil, 0o600) }, backends.Invalid},
		"write below file": {func() error { return b.WriteFile(t.Context(), "files", "/workspace/a/b/c.txt/d", nil, 0o600) }, backends.Invalid},
		"remove directory": {func() error { return b.RemoveFile(t.Context(), "files", "/workspace/d") }, backends.Invalid},
		"absent sandbox":   {func() error { _, err := b.StatFile(t.Context(), "absent", "/workspace/d"); return err }, backends.NotFound},
	} {
		t.Run(name, func(t *testing.T) { wantKind(t, test.err(), test.kind) })
	}
	for range 2 {
		if err := b.RemoveFile(t.Context(), "files", "/workspace/a/b/c.txt"); err != nil {
			t.Error(err)
		}
	}
	shell(t, b, "files", "touch secret; chmod 000 secret")
	if os.Geteuid() != 0 {
		_, _, err = b.OpenFile(t.Context(), "files", "/workspace/secret")
		wantKind(t, err, backends.Unauthorized)
	}
}

func TestPlantedLinksDoNotLeadOut(t *testing.T) {
	b := newBackend(t, nil)
	create(t, b, "planted", backends.Spec{})
	outside := tempDir(t)
	if err := os.WriteFile(filepath.Join(outside, "file"), []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	shell(t, b, "planted", "ln -s "+outside+" absolute; ln -s ../../../../../../../../.."+outside+" relative; ln -s ../secrets.json secrets; ln -s .. up; ln -s absolute chain; ln -s /workspace/../etc dots")
	for _, link := range []string{"absolute", "relative", "chain", "up", "dots"} {
		path := "/workspace/" + link + "/file"
		_, _, err := b.OpenFile(t.Context(), "planted", path)
		wantKind(t, err, backends.PathEscapes)
		_, err = b.StatFile(t.Context(), "planted", path)
		wantKind(t, err, backends.PathEscapes)
		_, err = b.ListFiles(t.Context(), "planted", "/workspace/"+link)
		wantKind(t, err, backends.PathEscapes)
		wantKind(t, b.WriteFile(t.Context(), "planted", path, []byte("evil"), 0o600), backends.PathEscapes)
		wantKind(t, b.WriteFile(t.Context(), "planted", "/workspace/"+link+"/new/file", []byte("evil"), 0o600), backends.PathEscapes)
		wantKind(t, b.RemoveFile(t.Context(), "planted", path), backends.PathEscapes)
	}
	_, _, err := b.OpenFile(t.Context(), "planted", "/workspace/secrets")
	wantKind(t, err, backends.PathEscapes)
	entries, err := os.ReadDir(outside)
	content, err2 := os.ReadFile(filepath.Join(outside, "file"))
	if err != nil || err2 != nil || len(entries) != 1 || string(content) != "outside" {
		t.Errorf("outside: %v %q %v %v", entries, content, err, err2)
	}
}

func TestMounts(t *testing.T) {
	b := newBackend(t, nil)
	shared, fixed := tempDir(t), tempDir(t)
	for _, directory := range []string{shared, fixed} {
		if err := os.Chmod(directory, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(fixed, "file"), []byte("fixed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(fixed, "single"), []byte("single"), 0o666); err != nil {
		t.Fatal(err)
	}
	create(t, b, "mounts", backends.Spec{Mounts: []backends.Mount{
		{Source: shared, Target: "/workspace"},
		{Source: fixed, Target: "/workspace/lib/fixed", ReadOnly: true},
		{Source: fixed, Target: "/data", ReadOnly: true},
		{Source: filepath.Join(fixed, "file"), Target: "/etc/one"},
		{Source: filepath.Join(fixed, "single"), Target: "/workspace/single"},
	}})
	if got := shell(t, b, "mounts", "cat /data/file lib/fixed/file /etc/one; echo made > made; touch /data/x lib/fixed/x 2>/dev/null || echo refused"); got != "fixedfixedfixedrefused" {
		t.Errorf("inside: %q", got)
	}
	if content, err := os.ReadFile(filepath.Join(shared, "made")); err != nil || string(content) != "made\n" {
		t.Errorf("%q, %v", content, err)
	}
	if err := b.WriteFile(t.Context(), "mounts", "/workspace/sub/ours", []byte("ours"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := shell(t, b, "mounts", "cat sub/ours"); got != "ours" {
		t.Errorf("inside: %q", got)
	}
	if got := readFile(t, b, "mounts", "/workspace/lib/fixed/file"); got != "fixed" {
		t.Errorf("through the mount: %q", got)
	}
	wantKind(t, b.WriteFile(t.Context(), "mounts", "/workspace/lib/fixed/file", nil, 0o644), backends.Invalid)
	if got := readFile(t, b, "mounts", "/workspace/single"); got != "single" {
		t.Errorf("a mounted file: %q", got)
	}
	if err := b.WriteFile(t.Context(), "mounts", "/workspace/single", []byte("changed"), 0o644); err != nil {
		t.Error(err)
	}
	if got := shell(t, b, "mounts", "cat single"); got != "changed" {
		t.Errorf("a mounted file: %q", got)
	}
	wantKind(t, b.RemoveFile(t.Context(), "mounts", "/workspace/single"), backends.Invalid)
	shell(t, b, "mounts", "ln -s /workspace/lib/fixed/file into; ln -s "+fixed+" out")
	if got := readFile(t, b, "mounts", "/workspace/into"); got != "fixed" {
		t.Errorf("over a link into the mount: %q", got)
	}
	_, _, err := b.OpenFile(t.Context(), "mounts", "/workspace/out/file")
	wantKind(t, err, backends.PathEscapes)
}

func TestRootfs(t *testing.T) {
	b := newBackend(t, nil)
	rootfs := filepath.Join(tempDir(t), "rootfs")
	for _, directory := range []string{"etc", "usr"} {
		if err := os.MkdirAll(filepath.Join(rootfs, directory), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(rootfs, "etc/passwd"), []byte("root:x:0:0::/:/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(rootfs, "marker"), []byte("mark"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := copyHostPrograms(rootfs); err != nil {
		t.Skipf("a root file system cannot be made from this host: %v", err)
	}
	create(t, b, "rootfs", backends.Spec{Source: backends.Source{Rootfs: rootfs}})
	if got := shell(t, b, "rootfs", "cat /marker; head -n 1 /etc/passwd; touch /workspace/x /tmp/x ~/x; touch /x /etc/x 2>/dev/null || echo fixed"); !strings.HasPrefix(got, "markagent:x:1000") || !strings.HasSuffix(got, "fixed") {
		t.Errorf("inside: %q", got)
	}
	if got, err := b.Get(t.Context(), "rootfs"); err != nil || got.Spec.Source.Rootfs != rootfs {
		t.Errorf("%+v, %v", got, err)
	}
	marks := marksOf("copy")
	copied, err := b.Create(t.Context(), marks, backends.Spec{Source: backends.Source{CloneOf: "rootfs"}})
	if err != nil || copied.Spec.Source != (backends.Source{}) {
		t.Fatalf("%+v, %v", copied, err)
	}
	if got := shell(t, b, "copy", "cat /marker; ls"); got != "markx" {
		t.Errorf("clone: %q", got)
	}
	if err := b.Delete(t.Context(), marks, backends.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// copyHostPrograms makes a small root file system out of links to copies of the host's.
func copyHostPrograms(rootfs string) error {
	for _, file := range []string{"/bin/sh", "/bin/cat", "/bin/ls", "/usr/bin/head", "/bin/touch"} {
		if err := copyWithLibraries(rootfs, file); err != nil {
			return err
		}
	}
	return nil
}

func copyWithLibraries(rootfs, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	targets := []string{file}
	for _, library := range libraries(file) {
		data, err := os.ReadFile(library)
		if err != nil {
			return err
		}
		if err := writeExecutable(filepath.Join(rootfs, library), data); err != nil {
			return err
		}
	}
	for _, target := range targets {
		if err := writeExecutable(filepath.Join(rootfs, target), content); err != nil {
			return err
		}
	}
	return nil
}

func writeExecutable(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, fs.FileMode(0o755))
}
