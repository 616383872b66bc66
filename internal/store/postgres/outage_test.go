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

func TestServerDownAndBack(t *testing.T) {
	t.Parallel()
	server := testkit.NewPostgresServer(t)
	database := server.Database(t)
	s := newStore(t, database.URL())
	first := mustInsert(t.Context(), t, s, 1)
	_, under := mustLock(t, s, "key")

	// Restarted between two operations: nobody notices, but the lock is gone.
	server.Restart(t)
	if _, err := s.Get(t.Context(), first.ID); err != nil {
		t.Errorf("a read after a restart: %v", err)
	}
	server.Restart(t)
	first, err := s.Update(t.Context(), first)
	if err != nil {
		t.Fatalf("a write after a restart: %v", err)
	}
	_, err = s.Update(under, first)
	wantFailure(t, "under the lost lock", err, store.ErrLockLost)

	server.Stop(t)
	for name, err := range everyRead(t.Context(), s) {
		wantFailure(t, name, err, store.ErrUnavailable)
	}
	for name, err := range everyWrite(t.Context(), s) {
		wantFailure(t, name, err, store.ErrUnavailable)
	}
	_, err = s.Lock(t.Context(), "another key")
	wantFailure(t, "Lock", err, store.ErrUnavailable)
	_, err = newStore(t, database.URL()).Get(t.Context(), first.ID)
	wantFailure(t, "Get of a new client", err, store.ErrUnavailable)
	if errors.Is(err, store.ErrNotFound) {
		t.Error("a server that is down counts as absence")
	}

	server.Start(t)
	if got, err := s.Get(t.Context(), first.ID); err != nil || got.Revision != first.Revision {
		t.Errorf("%+v, %v", got, err)
	}
	_, under = mustLock(t, s, "another key")
	if _, err := s.Update(under, first); err != nil {
		t.Error(err)
	}
}

// A server that goes down in the middle of a transaction has not executed it.
func TestCutInTheMiddle(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	s := newStore(t, database.URL())
	mustInsert(t.Context(), t, s, 1)
	database.Exec(t, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(30); RETURN NEW; END $$;
		CREATE TRIGGER slow BEFORE INSERT ON sandlot.records FOR EACH ROW EXECUTE FUNCTION slow()`)
	written := make(chan error, 1)
	go func() {
		_, err := s.Insert(t.Context(), testRecord(2))
		written <- err
	}()
	time.Sleep(500 * time.Millisecond)
	database.Cut(t, "state = 'active'")
	select {
	case err := <-written:
		wantFailure(t, "Insert", err, store.ErrUnavailable)
	case <-time.After(soon):
		t.Fatal("the write hangs")
	}
	if records, err := s.Find(t.Context(), store.Query{}); err != nil || len(records) != 1 {
		t.Errorf("found %d records, %v", len(records), err)
	}
}

// The answer to a commit is lost: the error does not pretend to know, and the write is not repeated.
func TestLostAnswerToACommit(t *testing.T) {
	database := testkit.Postgres(t)
	wire := startProxy(t, database.URL())
	s := newStore(t, wire.url)
	mustInsert(t.Context(), t, s, 1)
	wire.cutAt("COMMIT\x00")
	_, err := s.Insert(t.Context(), testRecord(2))
	wantFailure(t, "Insert", err, store.ErrUnavailable)
	if err == nil || !strings.Contains(err.Error(), "not known") || strings.Contains(err.Error(), "Nothing was written") {
		t.Errorf("%v", err)
	}
	if got, err := s.Get(t.Context(), testRecord(2).ID); err != nil || got.Revision != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A peer that accepts and then says nothing must not hold anybody longer than the context.
func TestSilentPeer(t *testing.T) {
	t.Parallel()
	database := testkit.Postgres(t)
	wire := startProxy(t, database.URL())
	s := newStore(t, wire.url)
	mustInsert(t.Context(), t, s, 1)
	wire.silence()
	for name, call := range map[string]func(context.Context) error{
		"read":                 func(ctx context.Context) error { _, err := s.Find(ctx, store.Query{}); return err },
		"write":                func(ctx context.Context) error { _, err := s.Insert(ctx, testRecord(2)); return err },
		"lock":                 func(ctx context.Context) error { _, err := s.Lock(ctx, "other"); return err },
		"read of a new client": func(ctx context.Context) error { return everyRead(ctx, newStore(t, wire.url))["Find"] },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		started := time.Now()
		err := call(ctx)
		if waited := time.Since(started); waited > 8*time.Second {
			t.Errorf("%s waited %v", name, waited)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

func TestNobodyListens(t *testing.T) {
	s := newStore(t, "postgres://user:secret@127.0.0.1:1/test")
	_, err := s.Get(t.Context(), "id")
	wantFailure(t, "Get", err, store.ErrUnavailable)
	s = newStore(t, "postgres://user:secret@no-such-host.invalid/test")
	_, err = s.Get(t.Context(), "id")
	wantFailure(t, "Get", err, store.ErrUnavailable)
}
