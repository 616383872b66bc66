package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

const lockConnections = "state = 'idle in transaction'"

// A holder whose connection was cut while it lived must not write any more, also before somebody
// else took the lock.
func TestCutHolderCannotWrite(t *testing.T) {
	database := testkit.Postgres(t)
	s, other := newStore(t, database.URL()), newStore(t, database.URL())
	first := mustInsert(t.Context(), t, s, 1)
	held, under := mustLock(t, s, "key")
	first, err := s.Update(under, first)
	if err != nil {
		t.Fatal(err)
	}
	database.Cut(t, lockConnections)
	for name, err := range everyWrite(under, s) {
		if name != "EnsureOwner" || err != nil {
			wantFailure(t, name, err, store.ErrLockLost)
		}
	}
	if _, err := s.Update(under, first); !errors.Is(err, store.ErrLockLost) || !strings.Contains(err.Error(), `"key"`) {
		t.Errorf("an update with the right revision: %v", err)
	}
	if got, err := other.Get(t.Context(), first.ID); err != nil || got.Revision != first.Revision {
		t.Errorf("the record is %+v, %v", got, err)
	}
	if records, err := other.Find(t.Context(), store.Query{}); err != nil || len(records) != 1 {
		t.Errorf("found %d records, %v", len(records), err)
	}
	_, otherUnder := mustLock(t, other, "key")
	if _, err := other.Update(otherUnder, first); err != nil {
		t.Errorf("the next holder: %v", err)
	}
	if err := held.Unlock(); err != nil {
		t.Error(err)
	}
	// The late Unlock of the first did not end the claim of the second.
	mustInsert(otherUnder, t, other, 5)
	mustInsert(t.Context(), t, s, 6) // without the lock, as always
}

// The token catches what the proof cannot see: a connection that still answers, although the lock
// went to somebody else, as behind a proxy that reconnects.
func TestTokenOfAnother(t *testing.T) {
	database := testkit.Postgres(t)
	s := newStore(t, database.URL())
	_, under := mustLock(t, s, "key")
	mustInsert(under, t, s, 1)
	database.Exec(t, "UPDATE sandlot.claims SET token = 'other'")
	_, err := s.Insert(under, testRecord(2))
	wantFailure(t, "Insert", err, store.ErrLockLost)
	database.Exec(t, "DELETE FROM sandlot.claims")
	_, err = s.Insert(under, testRecord(2))
	wantFailure(t, "Insert", err, store.ErrLockLost)
	if records, err := s.Find(t.Context(), store.Query{}); err != nil || len(records) != 1 {
		t.Errorf("found %d records, %v", len(records), err)
	}
}

// The next holder waits for a write that passed the check until it is committed.
func TestNextHolderWaitsForTheLastWrite(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	s, other := newStore(t, database.URL()), newStore(t, database.URL())
	_, under := mustLock(t, s, "key")
	database.Exec(t, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN NEW; END $$;
		CREATE TRIGGER slow BEFORE INSERT ON sandlot.records FOR EACH ROW EXECUTE FUNCTION slow()`)
	written := make(chan error, 1)
	go func() {
		_, err := s.Insert(under, testRecord(1))
		written <- err
	}()
	time.Sleep(400 * time.Millisecond)
	database.Cut(t, lockConnections)
	_, otherUnder := mustLock(t, other, "key")
	if records, err := other.Find(otherUnder, store.Query{}); err != nil || len(records) != 1 {
		t.Errorf("the next holder sees %d records, %v", len(records), err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

func TestSeveralLocks(t *testing.T) {
	database := testkit.Postgres(t)
	s, elsewhere := newStore(t, database.URL()), newStore(t, testkit.Postgres(t).URL())
	outer, under := mustLock(t, s, "outer")
	inner, err := s.Lock(under, "inner")
	if err != nil {
		t.Fatal(err)
	}
	both := inner.Context(under)
	mustInsert(both, t, s, 1)
	mustInsert(both, t, elsewhere, 1) // another database knows nothing of these locks
	if err := inner.Unlock(); err != nil {
		t.Error(err)
	}
	if _, err := s.Insert(both, testRecord(2)); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("a write under a released lock: %v", err)
	}
	mustInsert(under, t, s, 2)
	for range 2 {
		if err := outer.Unlock(); err != nil {
			t.Error(err)
		}
	}
	if got := database.Text(t, "SELECT count(*)::text FROM sandlot.claims"); got != "0" {
		t.Errorf("%s claims are left", got)
	}
}

// Canceling an operation must not cost it the lock under which it cleans up.
func TestCanceledWriteKeepsTheLock(t *testing.T) {
	database := testkit.Postgres(t)
	s := newStore(t, database.URL())
	_, under := mustLock(t, s, "key")
	for number := range 30 {
		ctx, cancel := context.WithTimeout(under, time.Duration(number)*300*time.Microsecond)
		_, err := s.Insert(ctx, testRecord(number))
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("canceled: %v", err)
		}
		cancel()
	}
	mustInsert(under, t, s, 99)
}

func TestWaitingNamesTheHolder(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	mustLock(t, newStore(t, database.URL()), "a key")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := newStore(t, database.URL()).Lock(ctx, "a key")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), " pid ") || !strings.Contains(err.Error(), `"a key"`) {
		t.Errorf("waiting ended with %v", err)
	}
}

// Settings of a database that end idle transactions must not end a lock.
func TestTimeoutsOfTheServer(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	database.Exec(t, `ALTER DATABASE `+database.Name()+` SET idle_in_transaction_session_timeout = '200ms';
		ALTER DATABASE `+database.Name()+` SET statement_timeout = '5s'`)
	s := newStore(t, database.URL())
	_, under := mustLock(t, s, "key")
	time.Sleep(time.Second)
	mustInsert(under, t, s, 1)
}
