package sandbox

import (
	"bufio"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

type attempt struct {
	line int
	path string
	// want is a resolved path, or the reason of a refusal.
	want string
}

// readAttempts reads the corpus of traversal attempts.
func readAttempts(t testing.TB) []attempt {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "traversal.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var attempts []attempt
	scanner := bufio.NewScanner(file)
	for number := 1; scanner.Scan(); number++ {
		line := strings.TrimSpace(scanner.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			t.Fatalf("line %d: %v", number, err)
		}
		userPath, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("line %d: %v", number, err)
		}
		want := strings.TrimSpace(strings.TrimPrefix(line, quoted))
		if strings.HasPrefix(want, `"`) {
			if want, err = strconv.Unquote(want); err != nil {
				t.Fatalf("line %d: %v", number, err)
			}
		}
		attempts = append(attempts, attempt{number, userPath, want})
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	if len(attempts) < 60 {
		t.Fatalf("the corpus has only %d attempts", len(attempts))
	}
	return attempts
}

func TestResolvePath(t *testing.T) {
	t.Parallel()
	for _, attempt := range readAttempts(t) {
		resolved, err := ResolvePath("/workspace", attempt.path)
		if strings.HasPrefix(attempt.want, "/") {
			if err != nil || resolved != attempt.want {
				t.Errorf("line %d: %q became %q, %v, want %q", attempt.line, attempt.path, resolved, err, attempt.want)
			}
			continue
		}
		if err == nil || resolved != "" {
			t.Errorf("line %d: %q became %q, want it refused", attempt.line, attempt.path, resolved)
			continue
		}
		reason := map[string]bool{
			"escapes": errors.Is(err, ErrEscapes),
			"nul":     strings.Contains(err.Error(), "NUL"),
			"empty":   strings.Contains(err.Error(), "empty"),
		}
		if !reason[attempt.want] {
			t.Errorf("line %d: %q is refused by %q, want the reason %q", attempt.line, attempt.path, err, attempt.want)
		}
	}
}

// PATH_MAX of Linux is 4096 with the terminating NUL.
func TestResolvePathLength(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("a/", 2042) // 4084 bytes, with "/workspace/" 4095
	for _, test := range []struct {
		name, path string
		ok         bool
	}{
		{"longest", longest[:4083] + "a", true},
		{"one more", longest + "a", false},
		{"absolute", "/" + strings.Repeat("a", 4094), true},
		{"absolute, one more", "/" + strings.Repeat("a", 4095), false},
		{"long before it is cleaned", strings.Repeat("./", 8000) + "a", true},
		{"a megabyte", strings.Repeat("a", 1<<20), false},
		{"a megabyte upwards", strings.Repeat("../", 1<<18), false},
	} {
		resolved, err := ResolvePath("/workspace", test.path)
		if (err == nil) != test.ok || len(resolved) > 4095 {
			t.Errorf("%s: %d bytes, %v, want ok %v", test.name, len(resolved), err, test.ok)
		}
	}
}

func TestResolvePathWorkspace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ workspace, path, want string }{
		{"/workspace", "a", "/workspace/a"},
		{"/workspace/", "a", "/workspace/a"},
		{"/srv//box/./w", "a", "/srv/box/w/a"},
		{"/", "a", "/a"},
		{"/", "..", ""}, // the parent of the root is the root, but upwards is upwards
		{"workspace", "a", ""},
		{"", "a", ""},
		{"", "/a", ""},
		{"/a\x00", "b", ""},
	} {
		resolved, err := ResolvePath(test.workspace, test.path)
		if (err == nil) != (test.want != "") || resolved != test.want {
			t.Errorf("ResolvePath(%q, %q) = %q, %v, want %q", test.workspace, test.path, resolved, err, test.want)
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		dir, target string
		want        bool
	}{
		{"/a", "/a", true},
		{"/a", "/a/b", true},
		{"/a/", "/a/b", true},
		{"/", "/a", true},
		{"/", "/", true},
		{"/a", "/", false},
		{"/a", "/ab", false},
		{"/a/b", "/a", false},
		{"/a", "/A/b", false},
	} {
		if found := Within(test.dir, test.target); found != test.want {
			t.Errorf("Within(%q, %q) = %v, want %v", test.dir, test.target, found, test.want)
		}
	}
}

func TestCheckFilePath(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path string
		ok   bool
	}{
		{"a", true},
		{"a/b.txt", true},
		{"./a", true},
		{".a", true},
		{"...", true},
		{"a/...", true},
		{"a..", true},
		{"a/../b", true},
		{"/workspace/a", true},
		{"/etc/a", true},
		{"%2e%2e", true},
		{"", false},
		{".", false},
		{"./", false},
		{"..", false},
		{"a/", false},
		{"a/b//", false},
		{"a/.", false},
		{"a/./", false},
		{"a/..", false},
		{"a/b/..", false},
		{"/", false},
		{"//", false},
		{"/etc/", false},
		{"/etc/.", false},
		{"/etc/ssl/..", false},
		{"/workspace", false},
		{"/workspace/", false},
		{"/workspace/a/..", false},
		{"../a", false},
		{"a\x00b", false},
	} {
		if err := CheckFilePath(test.path); (err == nil) != test.ok {
			t.Errorf("CheckFilePath(%q) = %v, want ok %v", test.path, err, test.ok)
		}
	}
}

// FuzzResolvePath compares with package filepath, which decides on its own whether a path is local.
func FuzzResolvePath(f *testing.F) {
	for _, attempt := range readAttempts(f) {
		f.Add("/workspace", attempt.path)
	}
	f.Add("/", "a/..")
	f.Add("/a/../b", "c")
	f.Add("a", "b")
	f.Add("/\x00", "a")
	f.Fuzz(func(t *testing.T, workspace, userPath string) {
		resolved, err := ResolvePath(workspace, userPath)
		if err != nil {
			if resolved != "" {
				t.Fatalf("a refusal came with the path %q", resolved)
			}
			valid := userPath != "" && !strings.Contains(workspace+userPath, "\x00") && filepath.IsAbs(workspace)
			local := filepath.IsAbs(userPath) || filepath.IsLocal(userPath)
			if valid && local && len(workspace)+len(userPath) < maxPathLength {
				t.Fatalf("ResolvePath(%q, %q) refuses a local path: %v", workspace, userPath, err)
			}
			return
		}
		switch {
		case !path.IsAbs(resolved):
			t.Fatalf("%q is not absolute", resolved)
		case path.Clean(resolved) != resolved:
			t.Fatalf("%q is not clean", resolved)
		case strings.Contains(resolved, "\x00"):
			t.Fatalf("%q holds a NUL byte", resolved)
		case len(resolved) > maxPathLength:
			t.Fatalf("%d bytes are too long", len(resolved))
		}
		if filepath.IsAbs(userPath) {
			if want := filepath.Clean(userPath); resolved != want {
				t.Fatalf("the absolute %q became %q, want %q", userPath, resolved, want)
			}
			return
		}
		if !filepath.IsLocal(userPath) {
			t.Fatalf("%q is not local, and became %q", userPath, resolved)
		}
		if want := filepath.Join(workspace, userPath); resolved != want {
			t.Fatalf("ResolvePath(%q, %q) = %q, want %q", workspace, userPath, resolved, want)
		}
		if relative, err := filepath.Rel(workspace, resolved); err != nil || !filepath.IsLocal(relative) {
			t.Fatalf("%q is %q from the workspace %q (%v)", resolved, relative, workspace, err)
		}
	})
}
