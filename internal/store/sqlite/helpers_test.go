package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

func testRecord(number int) store.Record {
	return store.Record{
		ID: fmt.Sprintf("id-%04d", number), Kind: "session", Backend: "local", Binding: "b", Owner: "o",
		Name: fmt.Sprintf("name-%04d", number), Spec: []byte(`{"cpus":1}`),
	}
}

func newStore(t *testing.T, dir string) *Store {
	t.Helper()
	s := New(Config{Dir: dir})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// filledStore makes a store with records and closes it.
func filledStore(t *testing.T, records int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	s := New(Config{Dir: dir})
	if _, err := s.EnsureOwner(t.Context()); err != nil {
		t.Fatal(err)
	}
	for number := range records {
		if _, err := s.Insert(t.Context(), testRecord(number)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// readAll makes every kind of read.
func readAll(ctx context.Context, s *Store, id string) error {
	if _, err := s.Owner(ctx); err != nil {
		return err
	}
	if _, err := s.Find(ctx, store.Query{Owner: "o"}); err != nil {
		return err
	}
	_, err := s.Get(ctx, id)
	return err
}

// tree describes every file below dir: its mode, times and content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		found[path] = fmt.Sprintf("%v %v", info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found[path] += fmt.Sprintf(" %x", sha256.Sum256(content))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// execute changes a closed store by plain SQL, as another version of the program would have.
func execute(t *testing.T, dir, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
