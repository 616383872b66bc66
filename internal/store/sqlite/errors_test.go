package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// wantFailure checks that err is target and names the folder and a way on.
func wantFailure(t *testing.T, what, dir string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%s: %v, want %v", what, err, target)
		return
	}
	if !strings.Contains(err.Error(), dir) {
		t.Errorf("%s: %q does not name %s", what, err, dir)
	}
	if !strings.HasSuffix(err.Error(), ".") {
		t.Errorf("%s: %q has no remedy", what, err)
	}
}

func TestCorruptStore(t *testing.T) {
	damages := map[string]func([]byte) []byte{
		"header": func(b []byte) []byte { copy(b, "no database at all"); return b },
		"text":   func([]byte) []byte { return []byte(strings.Repeat("some text\n", 1000)) },
		"pages": func(b []byte) []byte {
			for i := 4096; i < len(b); i++ {
				b[i] = 0xa5
			}
			return b
		},
		"schema page": func(b []byte) []byte {
			for i := 100; i < 4096; i++ {
				b[i] = 0xff
			}
			return b
		},
		"cut": func(b []byte) []byte { return b[:4096+100] },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dir := filledStore(t, 50)
			path := filepath.Join(dir, databaseName)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			s := newStore(t, dir)
			_, err = s.Find(t.Context(), store.Query{})
			wantFailure(t, "Find", dir, err, store.ErrCorrupt)
			_, err = s.Get(t.Context(), "id-0007")
			wantFailure(t, "Get", dir, err, store.ErrCorrupt)
			_, err = s.Insert(t.Context(), testRecord(99))
			wantFailure(t, "Insert", dir, err, store.ErrCorrupt)
		})
	}
	t.Run("time", func(t *testing.T) {
		dir := filledStore(t, 1)
		execute(t, dir, `UPDATE records SET created_at = 'yesterday'`)
		s := newStore(t, dir)
		record, err := s.Get(t.Context(), "id-0000")
		wantFailure(t, "Get", dir, err, store.ErrCorrupt)
		record.ID = "id-0000"
		_, err = s.Update(t.Context(), record)
		wantFailure(t, "Update", dir, err, store.ErrCorrupt)
	})
	t.Run("version", func(t *testing.T) {
		dir := filledStore(t, 1)
		execute(t, dir, `DELETE FROM schema_version`)
		_, err := newStore(t, dir).Get(t.Context(), "id-0000")
		wantFailure(t, "Get", dir, err, store.ErrCorrupt)
	})
}

func TestFolderIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStore(t, filepath.Join(file, "store"))
	if _, err := s.Get(t.Context(), "id"); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get: %v, want a failure that is not absence", err)
	}
	if _, err := s.Insert(t.Context(), testRecord(1)); err == nil {
		t.Error("Insert: no error")
	}
}
