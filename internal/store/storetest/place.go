package storetest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// placeVariable carries the place to a child process.
const placeVariable = "SANDLOT_STORETEST_PLACE"

var places sync.Map // of *testing.T to the path of its folder

// Place is the path of a folder that does not exist yet, the same for every call with t and in
// the processes that a test starts. A store that is no folder derives its own name from it.
func Place(t *testing.T) string {
	t.Helper()
	if place := os.Getenv(placeVariable); place != "" {
		return place
	}
	if place, ok := places.Load(t); ok {
		return place.(string)
	}
	place := filepath.Join(t.TempDir(), "a store", "of records")
	places.Store(t, place)
	t.Cleanup(func() { places.Delete(t) })
	return place
}
