package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlrows"
)

const (
	// writerBusy is how long SQLite waits at a time for another process's transaction. It is short
	// because SQLite's waiting does not end with a context; begin repeats it.
	writerBusy = 100 * time.Millisecond
	// busyLimit is how long begin waits in all. Transactions here take milliseconds.
	busyLimit = 30 * time.Second
)

// writer is the connection that all writes of one Store use.
type writer struct{ conn *connection }

// close waits for readers as long as ctx allows, because the last connection that closes while
// nobody reads also removes the -wal and -shm files.
func (w *writer) close(ctx context.Context, guardPath string) error {
	guard, err := guardExclusive(ctx, guardPath)
	if err != nil {
		// Closing is as safe without the guard: readers that began beside the -wal file follow it.
		return w.conn.close()
	}
	return errors.Join(w.conn.close(), guard.Unlock())
}

// write runs step in a transaction, as one effect. It opens and migrates the store when needed.
func (s *Store) write(ctx context.Context, action, object string, step func(context.Context, *sql.Tx) error) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%s %q: %w", action, object, ctx.Err())
	}
	defer func() { <-s.turn }()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s %q: %w", action, object, err)
	}
	if err := s.openWriter(ctx); err != nil {
		return err
	}
	return s.observer.Do(ctx, s.effect(action, object), func() error {
		if err := transact(ctx, s.writer.conn, step); err != nil {
			return s.fail(action, writing, err)
		}
		return nil
	})
}

// openWriter makes sure that s.writer is open on a store of the present schema.
func (s *Store) openWriter(ctx context.Context) error {
	if s.writer != nil {
		return nil
	}
	exists, err := s.exists()
	if err != nil {
		return err
	}
	migrate := func(step func() error) error {
		return s.observer.Do(ctx, s.effect("migrate", databaseName), step)
	}
	if exists {
		return s.open(ctx, migrate)
	}
	// Making the folder and the file belongs to the migration: before it, nothing is there.
	return migrate(func() error {
		if err := s.create(); err != nil {
			return s.fail("make the store", writing, err)
		}
		return s.open(ctx, func(step func() error) error { return step() })
	})
}

// create makes the folder and an empty database file, which SQLite would make less private.
func (s *Store) create() error {
	if err := os.MkdirAll(s.dir, folderMode); err != nil {
		return err
	}
	file, err := os.OpenFile(s.databasePath(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// open opens the writer while no reader is there, and brings the schema up to date by migrate.
func (s *Store) open(ctx context.Context, migrate func(step func() error) error) (err error) {
	guard, err := guardExclusive(ctx, s.guardPath())
	if err != nil {
		return s.fail("open the store", writing, err)
	}
	defer func() { err = errors.Join(err, guard.Unlock()) }()
	conn, err := connect(ctx, s.databasePath(), url.Values{
		"_txlock": {"immediate"},
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", writerBusy.Milliseconds()),
			"trusted_schema(0)", "journal_mode(WAL)", "synchronous(FULL)",
		},
	})
	if err != nil {
		return s.fail("open the store", writing, err)
	}
	if err := s.prepare(ctx, conn, migrate); err != nil {
		return errors.Join(s.fail("open the store", writing, err), conn.close())
	}
	s.writer = &writer{conn: conn}
	return nil
}

// prepare checks the schema and migrates it when it is older. In any case it runs a transaction
// for writing, after which the -wal file exists for as long as the connection does.
func (s *Store) prepare(ctx context.Context, conn *connection, migrate func(step func() error) error) error {
	var found sqlrows.Version
	err := transact(ctx, conn, func(ctx context.Context, tx *sql.Tx) (err error) {
		found, err = readVersion(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	if err := found.Check(); err != nil {
		return err
	}
	if found.Minor >= sqlrows.Current().Minor {
		return nil
	}
	return migrate(func() error { return transact(ctx, conn, migrateSchema) })
}

// transact runs step in a transaction that may write. Once begun it does not end with the
// context: an interrupted connection would be closed, and the -wal file with it.
func transact(ctx context.Context, conn *connection, step func(context.Context, *sql.Tx) error) error {
	tx, err := begin(ctx, conn)
	if err != nil {
		return err
	}
	if err := step(context.WithoutCancel(ctx), tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// begin waits for other processes' transactions.
func begin(ctx context.Context, conn *connection) (*sql.Tx, error) {
	deadline := time.Now().Add(busyLimit)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
		if codeOf(err)&0xff != lib.SQLITE_BUSY || time.Now().After(deadline) {
			return tx, err
		}
	}
}
