package postgres_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/postgres"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/storetest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// TestStoreBehindPooler runs the suite behind a pooler that hands out a server connection for each
// transaction. The suite holds up to ten locks at once.
func TestStoreBehindPooler(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return postgres.New(postgres.Config{URL: placeURL(t, func() string {
			return testkit.PgBouncer(t, testkit.Postgres(t), 15)
		})})
	})
}

// Many who wait for one lock must leave its holder a server connection to work with.
func TestWaitersLeaveConnectionsBehindPooler(t *testing.T) {
	address := testkit.PgBouncer(t, testkit.Postgres(t), 2)
	held, under := mustLock(t, newStore(t, address), "key")
	var wait sync.WaitGroup
	for number := range 10 {
		waiting := newStore(t, address)
		wait.Go(func() {
			lock, err := waiting.Lock(t.Context(), "key")
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := waiting.Insert(lock.Context(t.Context()), testRecord(100+number)); err != nil {
				t.Error(err)
			}
			if err := lock.Unlock(); err != nil {
				t.Error(err)
			}
		})
	}
	holder := newStore(t, address)
	for number := range 20 {
		mustInsert(under, t, holder, number)
	}
	if err := held.Unlock(); err != nil {
		t.Error(err)
	}
	wait.Wait()
	if records, err := holder.Find(t.Context(), store.Query{}); err != nil || len(records) != 30 {
		t.Errorf("found %d records, %v", len(records), err)
	}
}

func TestCutHolderBehindPooler(t *testing.T) {
	database := testkit.Postgres(t)
	s := newStore(t, testkit.PgBouncer(t, database, 5))
	_, under := mustLock(t, s, "key")
	first := mustInsert(under, t, s, 1)
	database.Cut(t, lockConnections)
	_, err := s.Update(under, first)
	wantFailure(t, "Update", err, store.ErrLockLost)
	_, under = mustLock(t, newStore(t, database.URL()), "key")
	mustInsert(under, t, s, 2)
}

// A server that restarts behind a pooler leaves it with connections that are broken.
func TestServerRestartsBehindPooler(t *testing.T) {
	t.Parallel()
	server := testkit.NewPostgresServer(t)
	database := server.Database(t)
	s := newStore(t, testkit.PgBouncer(t, database, 5))
	mustInsert(t.Context(), t, s, 1)
	for number := range 3 {
		server.Restart(t)
		mustInsert(t.Context(), t, s, 10+number)
	}
	if records, err := s.Find(t.Context(), store.Query{}); err != nil || len(records) != 4 {
		t.Errorf("found %d records, %v", len(records), fmt.Sprint(err))
	}
}
