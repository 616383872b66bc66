package sqlite

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

const (
	readOnlyVariable = "SANDLOT_SQLITE_READ_ONLY_DIR"
	nobody           = 65534
)

// TestReadOnlyFolder runs its checks as a user to whom permissions apply.
func TestReadOnlyFolder(t *testing.T) {
	if dir := os.Getenv(readOnlyVariable); dir != "" {
		checkReadOnlyFolder(t, dir)
		return
	}
	for _, extra := range []string{"", "-wal", "no guard"} {
		t.Run("with "+extra, func(t *testing.T) {
			dir := readOnlyStore(t, extra)
			executable, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), executable, "-test.run=^TestReadOnlyFolder$", "-test.count=1")
			command.Dir = "/"
			command.Env = append(os.Environ(), readOnlyVariable+"="+dir)
			if os.Getuid() == 0 {
				// The test binary lies in a folder that an ordinary user may not enter.
				command.Path = copyExecutable(t, executable)
				command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			}
			if output, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
}

func copyExecutable(t *testing.T, from string) string {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "sandlot-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "sqlite.test")
	if err := errors.Join(os.WriteFile(path, content, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

// readOnlyStore makes a store in a folder that its owner may not write. Everything in it belongs
// to the user that reads it.
func readOnlyStore(t *testing.T, extra string) string {
	t.Helper()
	parent, err := os.MkdirTemp("/tmp", "sandlot-test-")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(parent, "store")
	t.Cleanup(func() {
		if err := errors.Join(os.Chmod(dir, 0o700), os.RemoveAll(parent)); err != nil {
			t.Error(err)
		}
	})
	s := newStore(t, dir)
	if _, err := s.Insert(t.Context(), testRecord(1)); err != nil {
		t.Fatal(err)
	}
	switch extra {
	case "":
		err = s.Close()
	case "no guard":
		err = errors.Join(s.Close(), os.Remove(filepath.Join(dir, guardName)))
	}
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		for _, path := range append(paths, dir, parent) {
			if err := os.Chown(path, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	return dir
}

func checkReadOnlyFolder(t *testing.T, dir string) {
	s := newStore(t, dir)
	if err := readAll(t.Context(), s, "id-0001"); err != nil {
		t.Errorf("reading: %v", err)
	}
	if _, err := s.Lock(t.Context(), "key"); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Lock: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, databaseName+"-wal")); err == nil {
		return // the files of a killed writer can be written even in a folder that cannot
	}
	_, err := s.Insert(t.Context(), testRecord(2))
	wantFailure(t, "Insert", dir, err, store.ErrReadOnly)
	absent := newStore(t, filepath.Join(dir, "absent"))
	_, err = absent.Insert(t.Context(), testRecord(2))
	wantFailure(t, "Insert into an absent folder", dir, err, store.ErrReadOnly)
	if err := readAll(t.Context(), absent, "id"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("reading an absent store: %v", err)
	}
}

// TestFullDisk uses a file system of its own, which only root can mount.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	mount := t.TempDir()
	if err := unix.Mount("tmpfs", mount, "tmpfs", 0, "size=500k"); err != nil {
		t.Skipf("this machine does not let the test mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(mount, 0); err != nil {
			t.Error(err)
		}
	})
	reserve := filepath.Join(mount, "reserve")
	if err := os.WriteFile(reserve, make([]byte, 150<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(mount, "store")
	s := New(Config{Dir: dir})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	number := 0
	var err error
	for ; number < 1000 && err == nil; number++ {
		record := testRecord(number)
		record.Spec = []byte(`"` + strings.Repeat("x", 2000) + `"`)
		_, err = s.Insert(t.Context(), record)
	}
	wantFailure(t, "Insert", dir, err, store.ErrFull)
	// What was promised before is there.
	records, err := s.Find(t.Context(), store.Query{})
	if err != nil || len(records) != number-1 {
		t.Fatalf("found %d of %d records: %v", len(records), number-1, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	filler := filepath.Join(mount, "filler")
	fill(t, filler)
	fresh := newStore(t, filepath.Join(mount, "other"))
	_, err = fresh.Insert(t.Context(), testRecord(1))
	wantFailure(t, "Insert into a new store", mount, err, store.ErrFull)
	if err := errors.Join(os.Remove(filler), os.Remove(reserve)); err != nil {
		t.Fatal(err)
	}
	for _, again := range []*Store{fresh, s} {
		if _, err := again.Insert(t.Context(), testRecord(5000)); err != nil {
			t.Errorf("after space was freed: %v", err)
		}
	}
}

// fill writes until nothing more fits.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = file.Write(make([]byte, 512))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
