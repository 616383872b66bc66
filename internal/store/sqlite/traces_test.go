package sqlite

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

func TestReadsOfAbsentStoreMakeNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	s := newStore(t, dir)
	if err := readAll(t.Context(), s, "id"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if err := s.Delete(t.Context(), testRecord(1)); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the reads made %s: %v", dir, err)
	}
}

func TestReadsOfExistingStoreChangeNothing(t *testing.T) {
	dir := filledStore(t, 3)
	before := tree(t, dir)
	if err := readAll(t.Context(), newStore(t, dir), "id-0001"); err != nil {
		t.Fatal(err)
	}
	if after := tree(t, dir); !maps.Equal(before, after) {
		t.Errorf("before: %v\nafter: %v", before, after)
	}
}

func TestReadsBesideAWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	writing, reading := newStore(t, dir), newStore(t, dir)
	for number := range 5 {
		if _, err := writing.Insert(t.Context(), testRecord(number)); err != nil {
			t.Fatal(err)
		}
		database := filepath.Join(dir, databaseName)
		before := tree(t, database)
		names := listNames(t, dir)
		if err := readAll(t.Context(), reading, testRecord(number).ID); err != nil {
			t.Fatal(err)
		}
		if after := tree(t, database); !maps.Equal(before, after) {
			t.Error("a read changed the database")
		}
		if after := listNames(t, dir); !slices.Equal(names, after) {
			t.Errorf("a read made files: %v, then %v", names, after)
		}
	}
	if err := writing.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := listNames(t, dir), []string{databaseName, guardName}; !slices.Equal(got, want) {
		t.Errorf("after the writer closed there are %v, want %v", got, want)
	}
}

func listNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// A store whose writer was killed has a -wal file with newer data than the database.
func TestReadsAfterAKilledWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	writing := newStore(t, dir)
	if _, err := writing.Insert(t.Context(), testRecord(1)); err != nil {
		t.Fatal(err)
	}
	for _, files := range [][]string{
		{databaseName, databaseName + "-wal", databaseName + "-shm", guardName},
		{databaseName, databaseName + "-wal", guardName},
		{databaseName, databaseName + "-wal"},
	} {
		killed := t.TempDir()
		for _, name := range files {
			content, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(killed, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := tree(t, filepath.Join(killed, databaseName))
		after := newStore(t, killed)
		if err := readAll(t.Context(), after, "id-0001"); err != nil {
			t.Errorf("%v: %v", files, err)
		}
		if now := tree(t, filepath.Join(killed, databaseName)); !maps.Equal(before, now) {
			t.Errorf("%v: a read changed the database", files)
		}
		if _, err := after.Insert(t.Context(), testRecord(2)); err != nil {
			t.Errorf("%v: %v", files, err)
		}
	}
}

func TestReadsWithoutAGuardFile(t *testing.T) {
	dir := filledStore(t, 1)
	if err := os.Remove(filepath.Join(dir, guardName)); err != nil {
		t.Fatal(err)
	}
	database := filepath.Join(dir, databaseName)
	before := tree(t, database)
	if err := readAll(t.Context(), newStore(t, dir), "id-0000"); err != nil {
		t.Fatal(err)
	}
	if after := tree(t, database); !maps.Equal(before, after) {
		t.Error("a read changed the database")
	}
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := newStore(t, dir)
	if _, err := s.Insert(t.Context(), testRecord(1)); err != nil {
		t.Fatal(err)
	}
	held, err := s.Lock(t.Context(), "key")
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{
		".": 0o700 | os.ModeDir, locksFolder: 0o700 | os.ModeDir, filepath.Join(locksFolder, lockName("key")): 0o600,
		databaseName: 0o600, databaseName + "-wal": 0o600, databaseName + "-shm": 0o600, guardName: 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil {
			t.Error(err)
		} else if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
}

func TestOddFolders(t *testing.T) {
	for _, name := range []string{"a b", "what?", "50%25", "a#b", "ü", "mode=memory&x", "'quoted'"} {
		dir := filepath.Join(t.TempDir(), name)
		if _, err := newStore(t, dir).Insert(t.Context(), testRecord(1)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, databaseName)); err != nil {
			t.Error(err)
		}
		if err := readAll(t.Context(), newStore(t, dir), "id-0001"); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Writers that open and close without pause must never show a reader a half-written database.
func TestReadersAgainstOpeningWriters(t *testing.T) {
	dir := filledStore(t, 2)
	var wait sync.WaitGroup
	var done atomic.Bool
	for worker := range 2 {
		wait.Go(func() {
			for !done.Load() {
				s := New(Config{Dir: dir})
				record, err := s.Get(t.Context(), testRecord(worker).ID)
				if err == nil {
					// More than a page, so that a torn read would show.
					record.Spec = []byte(`"` + strings.Repeat("x", 9000) + `"`)
					record.Generation++
					_, err = s.Update(t.Context(), record)
				}
				if err := errors.Join(err, s.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		wait.Go(func() {
			s, last := New(Config{Dir: dir}), int64(0)
			for !done.Load() {
				record, err := s.Get(t.Context(), testRecord(0).ID)
				if err != nil || record.Generation < last {
					t.Errorf("generation %d after %d, %v", record.Generation, last, err)
				}
				last = record.Generation
			}
		})
	}
	for range 300 {
		if err := readAll(t.Context(), New(Config{Dir: dir}), testRecord(1).ID); err != nil {
			t.Error(err)
		}
	}
	done.Store(true)
	wait.Wait()
	if got, want := listNames(t, dir), []string{databaseName, guardName}; !slices.Equal(got, want) {
		t.Errorf("in the end there are %v, want %v", got, want)
	}
}
