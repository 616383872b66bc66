package testkit

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pinned are packages whose tests make clients of the platform without [Offline], and why that is safe.
var pinned = map[string]string{
	"internal/acceptance": "its one client is of newPlatform, and the CLIs run behind a dead proxy (acctest.NewWorkspace)",
}

var clientImport = regexp.MustCompile(`internal/(backends/vercel(/api)?|provider/backendset|provider/client)"`)

// TestNoTestReachesThePlatform: every package whose tests can make a client of the platform runs them
// offline.
func TestNoTestReachesThePlatform(t *testing.T) {
	root := filepath.Join("..", "..")
	makes, offline := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		inside := folder == "internal/backends/vercel" || folder == "internal/backends/vercel/api" || folder == "internal/provider/client"
		makes[folder] = makes[folder] || inside || clientImport.Match(content)
		offline[folder] = offline[folder] || strings.Contains(string(content), "testkit.Offline(m, ")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for folder := range makes {
		if !makes[folder] {
			continue
		}
		found++
		if !offline[folder] && pinned[folder] == "" {
			t.Errorf("the tests of %s can reach the platform: call testkit.Offline in their TestMain", folder)
		}
	}
	if found < 5 {
		t.Errorf("only %d packages were found", found)
	}
}
