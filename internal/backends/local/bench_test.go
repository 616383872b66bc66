//go:build linux

package local

import (
	"path/filepath"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// BenchmarkExec measures the smallest command, with all that surrounds it.
func BenchmarkExec(b *testing.B) {
	backend := New(Config{DataDir: filepath.Join(b.TempDir(), "data")})
	if _, err := backend.Create(b.Context(), marksOf("bench"), backends.Spec{}); err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		if _, err := backend.Exec(b.Context(), "bench", backends.Command{Argv: []string{"true"}}); err != nil {
			b.Fatal(err)
		}
	}
}
