package postgres_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// The server itself raises the states of a full disk and the like.
func TestStatesOfTheServer(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	s := newStore(t, database.URL())
	mustInsert(t.Context(), t, s, 1)
	for state, want := range map[string]error{
		"53100": store.ErrFull, "53200": store.ErrUnavailable, "57P01": store.ErrUnavailable, "40P01": store.ErrUnavailable,
		"25006": store.ErrReadOnly, "42P01": store.ErrCorrupt, "42501": store.ErrReadOnly,
	} {
		database.Exec(t, fmt.Sprintf(`CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN RAISE EXCEPTION 'no more' USING ERRCODE = '%s'; END $$;
			CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON sandlot.records FOR EACH ROW EXECUTE FUNCTION fail()`, state))
		_, err := s.Insert(t.Context(), testRecord(2))
		wantFailure(t, state, err, want)
	}
	database.Exec(t, "DROP TRIGGER fail ON sandlot.records")
	mustInsert(t.Context(), t, s, 2)
}

func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	s := newStore(t, database.URL())
	mustInsert(t.Context(), t, s, 1)
	database.Exec(t, "ALTER DATABASE "+database.Name()+" CONNECTION LIMIT 2")
	held, under := mustLock(t, s, "key")
	mustInsert(under, t, s, 2)
	_, err := s.Lock(t.Context(), "another key")
	wantFailure(t, "Lock", err, store.ErrUnavailable)
	mustInsert(under, t, s, 3)
	// Whoever waits gets a connection that becomes free.
	time.AfterFunc(time.Second, func() { _ = held.Unlock() })
	mustLock(t, s, "another key")
}

// Fifty clients with a lock each fit a server's default of a hundred connections.
func TestFiftyHolders(t *testing.T) {
	t.Parallel()
	database := testkit.NewPostgresServer(t).Database(t)
	mustInsert(t.Context(), t, newStore(t, database.URL()), 0)
	const holders = 50
	var working, done sync.WaitGroup
	working.Add(holders)
	for number := 1; number <= holders; number++ {
		s := newStore(t, database.URL())
		done.Go(func() {
			held, err := s.Lock(t.Context(), fmt.Sprint(number))
			if err == nil {
				_, err = s.Insert(held.Context(t.Context()), testRecord(number))
				defer func() { _ = held.Unlock() }()
			}
			if err != nil {
				t.Error(err)
			}
			working.Done()
			working.Wait()
		})
	}
	done.Wait()
}

func TestIdleConnectionIsClosed(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	s := newStore(t, database.URL())
	const clients = "SELECT count(*)::text FROM pg_stat_activity WHERE datname = current_database() AND usename = 'sandlot'"
	mustInsert(t.Context(), t, s, 1)
	if got := database.Text(t, clients); got != "1" {
		t.Errorf("%s connections after a write, want 1", got)
	}
	held, under := mustLock(t, s, "key")
	mustInsert(under, t, s, 2)
	if got := database.Text(t, clients); got != "2" {
		t.Errorf("%s connections with a lock, want 2", got)
	}
	if err := s.Close(); err != nil { // as another operation does at its end
		t.Error(err)
	}
	mustInsert(under, t, s, 3)
	for deadline := time.Now().Add(soon); database.Text(t, clients) != "1"; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the working connection stays open")
		}
	}
	mustInsert(under, t, s, 4)
	if err := held.Unlock(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(soon); database.Text(t, clients) != "0"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("Close leaves connections")
		}
	}
}
