package overlay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const enough = 1 << 20

// tree makes files below a new directory; a name that ends in a slash is a directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		target := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(target, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(target, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func collect(t *testing.T, specs map[string]Spec) Set {
	t.Helper()
	set, err := Collect(t.Context(), specs, enough)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func paths(set Set) []string {
	var all []string
	for _, entry := range set.Entries {
		all = append(all, entry.Path)
	}
	return all
}

func TestCollect(t *testing.T) {
	dir := tree(t, map[string]string{"b/deep/file": "deep", "a": "first", ".hidden": "h", "empty/": ""})
	script := filepath.Join(tree(t, map[string]string{"run": "#!/bin/sh\n"}), "run")
	if err := os.Chmod(script, 0o711); err != nil {
		t.Fatal(err)
	}
	set := collect(t, map[string]Spec{
		"./templates//":   {Source: dir},
		"bin/run":         {Source: script},
		"/etc/motd":       {Content: []byte("hello")},
		"private/secrets": {Content: nil, Mode: 0o600},
		"chosen":          {Source: script, Mode: 0o640},
	})
	sum := sha256.Sum256([]byte("deep"))
	want := []Entry{
		{Path: "/etc/motd", Mode: 0o644, Size: 5},
		{Path: "bin/run", Mode: 0o755, Size: 10},
		{Path: "chosen", Mode: 0o640, Size: 10},
		{Path: "private/secrets", Mode: 0o600, Size: 0, SHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{Path: "templates/.hidden", Mode: 0o644, Size: 1},
		{Path: "templates/a", Mode: 0o644, Size: 5},
		{Path: "templates/b/deep/file", Mode: 0o644, Size: 4, SHA256: hex.EncodeToString(sum[:])},
	}
	if len(set.Entries) != len(want) || set.Total != 35 {
		t.Fatalf("collected %d bytes in %q", set.Total, paths(set))
	}
	for i, entry := range set.Entries {
		if entry.Path != want[i].Path || entry.Mode != want[i].Mode || entry.Size != want[i].Size || want[i].SHA256 != "" && entry.SHA256 != want[i].SHA256 {
			t.Errorf("entry %d is %+v, want %+v", i, entry, want[i])
		}
	}
	content, err := set.Entries[6].Open(t.Context())
	if err != nil || string(content) != "deep" {
		t.Errorf("opened %q, %v", content, err)
	}
	whole := collect(t, map[string]Spec{".": {Source: dir}})
	if got := paths(whole); !slices.Equal(got, []string{".hidden", "a", "b/deep/file"}) {
		t.Errorf("as the workspace itself: %q", got)
	}
}

// What depends on the machine does not count; what a user means does.
func TestDigest(t *testing.T) {
	dir := tree(t, map[string]string{"a": "1", "b": "2"})
	specs := map[string]Spec{"x": {Source: dir}, "y": {Content: []byte("3")}}
	before := collect(t, specs).Digest()
	same := func(what string, want bool) {
		t.Helper()
		if got := collect(t, specs).Digest() == before; got != want {
			t.Errorf("%s: the digest is the same: %v, want %v", what, got, want)
		}
	}
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	a := filepath.Join(dir, "a")
	same("nothing", true)
	try(os.Chtimes(a, time.Time{}, time.Unix(1, 0)))
	same("another time", true)
	for _, mode := range []fs.FileMode{0o600, 0o664, 0o666, 0o640} {
		try(os.Chmod(a, mode))
		same(fmt.Sprintf("the umask that makes %o", mode), true)
	}
	try(os.Chmod(a, 0o700))
	same("the executable bit", false)
	try(os.Chmod(a, 0o644))
	try(os.WriteFile(a, []byte("other"), 0o644))
	same("the content", false)
	try(os.WriteFile(a, []byte("1"), 0o644))
	same("the content set back", true)
	try(os.Rename(a, filepath.Join(dir, "c")))
	same("another name", false)
	try(os.Rename(filepath.Join(dir, "c"), a))
	specs["y"] = Spec{Content: []byte("3"), Mode: 0o600}
	same("a chosen mode", false)
	specs["y"] = Spec{Content: []byte("3"), Mode: 0o644}
	same("the mode that is the default", true)
	delete(specs, "y")
	same("one file less", false)
}

// The digest is what this prints:
//
//	printf '0644\0%s\0a\0' "$(printf 1 | sha256sum | cut -d' ' -f1)" | sha256sum
func TestDigestFormat(t *testing.T) {
	set := collect(t, map[string]Spec{"a": {Content: []byte("1")}})
	if got := set.Digest(); got != "5853388d06cf7b83cdbb7e709d77e58499fe4dd65c5c13b3c15560c24b53e3bf" {
		t.Errorf("the digest is %q", got)
	}
}

func TestIgnoreFile(t *testing.T) {
	dir := tree(t, map[string]string{
		".sandlotignore": "# comment\nnode_modules\n*.log\n**/*.tmp\n!keep.log\n/build/\n",
		"file":           "", "a.log": "", "keep.log": "", "sub/b.log": "", "sub/deep/c.tmp": "",
		"node_modules/x": "", "sub/node_modules/y": "", "build/out": "", "sub/.sandlotignore": "file",
	})
	if err := os.Symlink("file", filepath.Join(dir, "link.log")); err != nil {
		t.Fatal(err)
	}
	got := paths(collect(t, map[string]Spec{"w": {Source: dir}}))
	want := []string{"w/file", "w/keep.log", "w/sub/.sandlotignore", "w/sub/b.log", "w/sub/node_modules/y"}
	if !slices.Equal(got, want) {
		t.Errorf("collected %q, want %q", got, want)
	}
}

// rejected wants an error of a kind, about a key and a path.
func rejected(t *testing.T, err error, kind error, key, path string) *Error {
	t.Helper()
	var typed *Error
	if !errors.As(err, &typed) || !errors.Is(err, kind) {
		t.Fatalf("got the error %v, want %q", err, kind)
	}
	if typed.Key != key || !strings.HasSuffix(typed.Path, path) {
		t.Errorf("the error is about %q and %q, want %q and %q: %v", typed.Key, typed.Path, key, path, err)
	}
	return typed
}

func TestSpecialFiles(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"link":         func(path string) error { return os.Symlink("a", path) },
		"leading out":  func(path string) error { return os.Symlink("/etc", path) },
		"dangling":     func(path string) error { return os.Symlink("nowhere", path) },
		"pipe":         func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"socket":       func(path string) error { _, err := net.Listen("unix", path); return err },
		"ignore a dir": func(path string) error { return os.Mkdir(filepath.Join(filepath.Dir(path), IgnoreFile), 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{"a": "1"})
			if err := plant(filepath.Join(dir, "special")); err != nil {
				t.Fatal(err)
			}
			_, err := Collect(t.Context(), map[string]Spec{"x": {Source: dir}}, enough)
			if name == "ignore a dir" {
				rejected(t, err, ErrUnreadable, "x", IgnoreFile)
				return
			}
			rejected(t, err, ErrNotRegular, "x", "special")
		})
	}
	_, err := Collect(t.Context(), map[string]Spec{"x": {Source: "/dev/null"}}, enough)
	rejected(t, err, ErrNotRegular, "x", "/dev/null")
	_, err = Collect(t.Context(), map[string]Spec{"x": {Source: "/no/such"}}, enough)
	rejected(t, err, ErrUnreadable, "x", "/no/such")
}

// A link that takes a file's place after it was looked at is not followed.
func TestPlantedLink(t *testing.T) {
	dir := tree(t, map[string]string{"a": "1", "d/b": "2"})
	set := collect(t, map[string]Spec{"x": {Source: dir}})
	secret := tree(t, map[string]string{"b": "2", "a": "1"})
	for _, name := range []string{"a", "d"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(filepath.Join(secret, "a"), filepath.Join(dir, "a")), os.Symlink(secret, filepath.Join(dir, "d"))); err != nil {
		t.Fatal(err)
	}
	for _, entry := range set.Entries {
		content, err := entry.Open(t.Context())
		if err == nil {
			t.Errorf("%s: opened %q", entry.Path, content)
			continue
		}
		rejected(t, err, ErrChanged, "x", "")
	}
}

func TestTargets(t *testing.T) {
	dir := tree(t, map[string]string{"a": "1"})
	for _, target := range []string{"", ".", "a/", "..", "a/../b", "/../x", "a\x00b", "\xff", strings.Repeat("x", 5000)} {
		_, err := Collect(t.Context(), map[string]Spec{target: {}}, enough)
		rejected(t, err, ErrTarget, target, target)
		if err := CheckTarget(target, false); err == nil {
			t.Errorf("%q is accepted", target)
		}
	}
	for _, target := range []string{"..", "../x", "\x00", ""} {
		_, err := Collect(t.Context(), map[string]Spec{target: {Source: dir}}, enough)
		rejected(t, err, ErrTarget, target, target)
	}
	for _, target := range []string{".", "a/", "/", "/opt//x"} {
		if err := CheckTarget(target, true); err != nil {
			t.Errorf("%q: %v", target, err)
		}
	}
}

func TestConflicts(t *testing.T) {
	dir := tree(t, map[string]string{"a": "1", "sub/b": "2"})
	for name, c := range map[string]struct {
		specs map[string]Spec
		key   string
	}{
		"twice":               {map[string]Spec{"a": {}, "./a": {}}, "a"},
		"in a directory":      {map[string]Spec{"x": {Source: dir}, "x/a": {}}, "x/a"},
		"below a file":        {map[string]Spec{"a": {}, "a/b/c": {}}, "a/b/c"},
		"absolutely":          {map[string]Spec{"/a": {}, "/a/b": {}}, "/a/b"},
		"a file for a folder": {map[string]Spec{"x": {Source: dir}, "x/sub": {}}, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Collect(t.Context(), c.specs, enough)
			rejected(t, err, ErrConflict, c.key, "")
		})
	}
	collect(t, map[string]Spec{"a": {}, "/a": {}, "a-b": {}, "a.b/c": {}})
}

func TestModes(t *testing.T) {
	dir := tree(t, map[string]string{"a": "1"})
	_, err := Collect(t.Context(), map[string]Spec{"x": {Source: dir, Mode: 0o600}}, enough)
	rejected(t, err, ErrMode, "x", dir)
	_, err = Collect(t.Context(), map[string]Spec{"x": {Mode: 0o644 | fs.ModeSetuid}}, enough)
	rejected(t, err, ErrMode, "x", "x")
}

// Every specification that is wrong is told, not only the first.
func TestAllProblemsAreTold(t *testing.T) {
	_, err := Collect(t.Context(), map[string]Spec{"../a": {}, "b": {Source: "/no/such"}, "c/": {}}, enough)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 3 {
		t.Errorf("got %v", err)
	}
}

func TestBounds(t *testing.T) {
	files := map[string]string{}
	for i := range 7 {
		files[fmt.Sprintf("file%d", i)] = strings.Repeat("x", 100*(i+1))
	}
	specs := map[string]Spec{"x": {Source: tree(t, files)}}
	if _, err := Collect(t.Context(), specs, 2800); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	_, err := Collect(t.Context(), specs, 2799)
	problem := rejected(t, err, ErrTooLarge, "x", "x/file6")
	for _, part := range []string{"2800", "2799", "x/file6 (700 bytes)", "x/file2 (300 bytes)"} {
		if !strings.Contains(problem.Detail, part) {
			t.Errorf("%q lacks %q", problem.Detail, part)
		}
	}
	if strings.Contains(problem.Detail, "file1") {
		t.Errorf("%q names more than the largest", problem.Detail)
	}

	many := map[string]string{}
	for i := range MaxFiles + 1 {
		many[fmt.Sprintf("d%d/f%d", i%10, i)] = ""
	}
	specs = map[string]Spec{"x": {Source: tree(t, many)}}
	_, err = Collect(t.Context(), specs, enough)
	rejected(t, err, ErrTooMany, "x", "x")
	if err := os.Remove(filepath.Join(specs["x"].Source, "d0", "f0")); err != nil {
		t.Fatal(err)
	}
	if set := collect(t, specs); len(set.Entries) != MaxFiles {
		t.Errorf("collected %d files", len(set.Entries))
	}
}

// A file that changed between plan and apply is noticed.
func TestChangedFile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"content": func(path string) error { return os.WriteFile(path, []byte("2"), 0o644) },
		"longer":  func(path string) error { return os.WriteFile(path, []byte("1and more"), 0o644) },
		"shorter": func(path string) error { return os.Truncate(path, 0) },
		"gone":    os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{"a": "1"})
			file := filepath.Join(dir, "a")
			set := collect(t, map[string]Spec{"single": {Source: file}, "dir": {Source: dir}})
			if err := change(file); err != nil {
				t.Fatal(err)
			}
			for _, entry := range set.Entries {
				_, err := entry.Open(t.Context())
				rejected(t, err, ErrChanged, entry.key, "a")
			}
		})
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, specs := range []map[string]Spec{{"a": {Content: []byte("1")}}, {"d": {Source: tree(t, map[string]string{"a": ""})}}} {
		if _, err := Collect(ctx, specs, enough); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

// As JSON a set keeps everything but where its content comes from.
func TestJSON(t *testing.T) {
	set := collect(t, map[string]Spec{"a": {Content: []byte("1"), Mode: 0o600}})
	raw, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"entries":[{"path":"a","mode":"0600","size":1,"sha256":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"}],"total":1}`
	if string(raw) != want {
		t.Errorf("got %s", raw)
	}
	var again Set
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	if again.Digest() != set.Digest() {
		t.Errorf("read back: %+v", again)
	}
	_, err = again.Entries[0].Open(t.Context())
	rejected(t, err, ErrUnreadable, "a", "a")
	for _, text := range []string{`"9"`, `"1777"`, `"x"`, `""`} {
		if err := json.Unmarshal([]byte(text), new(Mode)); err == nil {
			t.Errorf("the mode %s is accepted", text)
		}
	}
}
