package debian

import (
	"os"
	"strings"
	"testing"
)

// TestCopySources: the copies are those of the other suite, and nothing but sources is copied.
func TestCopySources(t *testing.T) {
	id, codename, err := hostRelease()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	files, err := CopySources("forky", folder)
	if err != nil {
		t.Fatal(err)
	}
	if id != "debian" && len(files) > 0 {
		t.Errorf("sources of %s for Debian: %v", id, files)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), codename) {
			t.Errorf("%s still has the suite %s", file, codename)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != len(files) {
		t.Errorf("%d files for %d sources, %v", len(entries), len(files), err)
	}
}

func TestFailureIsTold(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := (Bootstrap{Suite: "trixie", Variant: "minbase"}).Write(t.Context(), &strings.Builder{}); err == nil || !strings.Contains(err.Error(), Program) {
		t.Errorf("without the program: %v", err)
	}
}
