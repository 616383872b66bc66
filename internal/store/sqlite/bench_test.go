package sqlite

import (
	"path/filepath"
	"testing"
)

// BenchmarkGet is one read, including opening and closing the database.
func BenchmarkGet(b *testing.B) {
	s := New(Config{Dir: b.TempDir()})
	if _, err := s.Insert(b.Context(), testRecord(1)); err != nil {
		b.Fatal(err)
	}
	for _, state := range []string{"beside a writer", "at rest"} {
		b.Run(state, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Get(b.Context(), "id-0001"); err != nil {
					b.Fatal(err)
				}
			}
		})
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUpdate is one durable write on an open store.
func BenchmarkUpdate(b *testing.B) {
	s := New(Config{Dir: b.TempDir()})
	record, err := s.Insert(b.Context(), testRecord(1))
	for b.Loop() && err == nil {
		record, err = s.Update(b.Context(), record)
	}
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkFirstWrite makes, migrates and closes a store.
func BenchmarkFirstWrite(b *testing.B) {
	dir, number := b.TempDir(), 0
	for b.Loop() {
		number++
		s := New(Config{Dir: filepath.Join(dir, testRecord(number).ID)})
		if _, err := s.Insert(b.Context(), testRecord(1)); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
