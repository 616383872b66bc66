package sqlite_test

import (
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlite"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return sqlite.New(sqlite.Config{Dir: storetest.Place(t)})
	})
}
