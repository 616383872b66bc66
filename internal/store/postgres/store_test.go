package postgres_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/postgres"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/storetest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return postgres.New(postgres.Config{URL: placeURL(t, func() string { return testkit.Postgres(t).URL() })})
	})
}

// placeURL is the URL that belongs to [storetest.Place], made on the first call. It stands in a
// file there, where the processes that a test starts find it.
func placeURL(t *testing.T, database func() string) string {
	t.Helper()
	place := storetest.Place(t)
	if content, err := os.ReadFile(place); err == nil {
		return string(content)
	}
	address := database()
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place, []byte(address), 0o600); err != nil {
		t.Fatal(err)
	}
	return address
}
