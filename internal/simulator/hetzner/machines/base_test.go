package machines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRecipeKey: a new week makes a new system, as packages change.
func TestRecipeKey(t *testing.T) {
	monday := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	keys := map[string]bool{}
	for _, day := range []int{0, 6, 7} {
		key, err := recipeKey(monday.AddDate(0, 0, day))
		if err != nil {
			t.Fatal(err)
		}
		keys[key] = true
	}
	if len(keys) != 2 {
		t.Errorf("two weeks have the keys %v", keys)
	}
}

// TestOldSystemsGo: the cache and the engine keep one week.
func TestOldSystemsGo(t *testing.T) {
	m := needMachines(t, Options{})
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	m.options.CacheDir = t.TempDir()
	old := repository + ":base-000000000000-1999-01"
	if _, err := docker(t.Context(), "tag", m.image, old); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"base-0-1999-01.tar", "base-" + m.key + ".tar"} {
		if err := os.WriteFile(filepath.Join(m.options.CacheDir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.dropOld(t.Context(), weekOf(time.Now())); err != nil {
		t.Fatal(err)
	}
	for reference, want := range map[string]bool{old: false, m.image: true} {
		if found, err := exists(t.Context(), "image", reference); err != nil || found != want {
			t.Errorf("%s is there: %v, %v", reference, found, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(m.options.CacheDir, "*"))
	if err != nil || len(left) != 1 || !strings.Contains(left[0], m.key) {
		t.Errorf("the cache has %v, %v", left, err)
	}
}
