package acctest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// BinaryName is the file name by which the CLIs find the plugin.
const BinaryName = "terraform-provider-sandlot"

// keepBuilds is how long a build stays in the cache after its last use.
const keepBuilds = 24 * time.Hour

type build struct {
	once sync.Once
	path string
	err  error
}

var (
	buildsMu sync.Mutex
	builds   = map[string]*build{}
)

// Build returns the path of the plugin, built once for each test process and set of build tags.
// Builds of equal content share one file, whichever process made them.
func Build(t testing.TB, tags ...string) string {
	t.Helper()
	key := strings.Join(tags, ",")
	buildsMu.Lock()
	b := builds[key]
	if b == nil {
		b = &build{}
		builds[key] = b
	}
	buildsMu.Unlock()
	b.once.Do(func() { b.path, b.err = compile(key) })
	if b.err != nil {
		t.Fatalf("build the provider: %v", b.err)
	}
	return b.path
}

func compile(tags string) (string, error) {
	cache := filepath.Join(Root(), ".build", "acctest")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	dropOldBuilds(cache)
	dir, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	arguments := []string{"build", "-trimpath", "-buildvcs=false", "-tags", tags, "-o", filepath.Join(dir, BinaryName)}
	// An overlay lets a build leave out what does not compile yet.
	if overlay := os.Getenv("SANDLOT_TEST_OVERLAY"); overlay != "" {
		arguments = append(arguments, "-overlay", overlay)
	}
	command := exec.Command("go", append(arguments, ".")...)
	command.Dir = Root()
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, output)
	}
	content, err := os.ReadFile(filepath.Join(dir, BinaryName))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	final := filepath.Join(cache, hex.EncodeToString(sum[:8]))
	// The name says what the content is: when another process was first, its file will do.
	if err := os.Rename(dir, final); err != nil && !exists(filepath.Join(final, BinaryName)) {
		return "", err
	}
	now := time.Now()
	return filepath.Join(final, BinaryName), os.Chtimes(final, now, now)
}

func dropOldBuilds(cache string) {
	entries, _ := os.ReadDir(cache)
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && time.Since(info.ModTime()) > keepBuilds {
			_ = os.RemoveAll(filepath.Join(cache, entry.Name()))
		}
	}
}

// Root returns the directory of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	if filepath.IsAbs(file) {
		return filepath.Dir(filepath.Dir(filepath.Dir(file)))
	}
	// Built with -trimpath: a test runs in its package's directory.
	dir, _ := os.Getwd()
	for dir != filepath.Dir(dir) && !exists(filepath.Join(dir, "go.mod")) {
		dir = filepath.Dir(dir)
	}
	return dir
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
