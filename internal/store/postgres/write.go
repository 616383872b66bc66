package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlrows"
)

const (
	// commitLimit is how long the answer to a commit may take. Commits do not end with a context, so
	// that their outcome is known.
	commitLimit = 30 * time.Second
	// rollbackLimit is short: a connection that cannot roll back is closed, which does the same.
	rollbackLimit = 3 * time.Second
)

// dialect holds rows FOR UPDATE, as transactions run side by side.
func dialect() sqlrows.Dialect {
	return sqlrows.Dialect{
		Schema:    schemaName + ".",
		Numbered:  true,
		ForUpdate: " FOR UPDATE",
		Taken:     func(err error) bool { return stateOf(err) == stateUniqueViolation },
	}
}

// write runs step in a transaction, as one effect, under the locks that ctx carries. It makes and
// migrates the store when needed.
func (s *Store) write(ctx context.Context, action, object string, step func(context.Context, sqlrows.Writer) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s %q: %w", action, object, err)
	}
	defer s.enter()()
	if err := s.ready(ctx); err != nil {
		return err
	}
	return s.observer.Do(ctx, s.effect(action, object), func() error {
		err := s.transact(ctx, locksOf(ctx, s), step)
		return s.fail(ctx, action, writing, err)
	})
}

// transact runs step in a transaction that holds the locks it happens under.
func (s *Store) transact(ctx context.Context, locks []*lock, step func(context.Context, sqlrows.Writer) error) error {
	for _, held := range locks {
		if err := held.prove(ctx); err != nil {
			return err
		}
	}
	conn, err := s.begin(ctx)
	if err != nil {
		return err
	}
	for _, held := range locks {
		if err == nil {
			err = held.checkClaim(ctx, conn)
		}
	}
	if err == nil {
		err = step(ctx, conn)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		rollback(ctx, conn)
		return err
	}
	return commit(ctx, conn)
}

// begin begins a transaction. An idle connection may have broken unnoticed, so a failure is tried
// once again on a new one; nothing was sent yet that could have changed anything.
func (s *Store) begin(ctx context.Context) (*sql.Conn, error) {
	for again := true; ; again = false {
		conn, err := s.connection(ctx)
		if err != nil {
			return nil, err
		}
		if _, err = conn.ExecContext(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED"); err == nil {
			return conn, nil
		}
		discard(conn)
		if !again || !broken(err) || ended(ctx) != nil {
			return nil, err
		}
	}
}

func rollback(ctx context.Context, conn *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		discard(conn)
		return
	}
	_ = conn.Close()
}

// errOutcomeUnknown: the answer to a commit did not arrive.
var errOutcomeUnknown = errors.New("whether it was written is not known")

func commit(ctx context.Context, conn *sql.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitLimit)
	defer cancel()
	var done string
	err := conn.Raw(func(raw any) error {
		tag, err := raw.(*stdlib.Conn).Conn().Exec(ctx, "COMMIT")
		done = tag.String()
		return err
	})
	switch {
	case err == nil && done == "COMMIT":
		_ = conn.Close()
		return nil
	case err == nil:
		_ = conn.Close()
		return errors.New("the server rolled the transaction back")
	}
	discard(conn)
	if refused(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errOutcomeUnknown, err)
}
