package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlrows"
)

// read calls step with an open connection. It does not call it when there is no store yet. A read
// whose connection turns out to be broken is made again on a new one.
func (s *Store) read(ctx context.Context, operation string, step func(context.Context, sqlrows.Reader, sqlrows.Version) error) error {
	return s.look(ctx, operation, reading, step)
}

// look is read on behalf of a reader or of a writer, who is told other remedies.
func (s *Store) look(
	ctx context.Context, operation string, how access, step func(context.Context, sqlrows.Reader, sqlrows.Version) error,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer s.enter()()
	err := s.readOnce(ctx, step)
	if broken(err) && ended(ctx) == nil {
		err = s.readOnce(ctx, step)
	}
	return s.fail(ctx, operation, how, err)
}

func (s *Store) readOnce(ctx context.Context, step func(context.Context, sqlrows.Reader, sqlrows.Version) error) (err error) {
	conn, err := s.connection(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if broken(err) {
			discard(conn)
		}
		_ = conn.Close()
	}()
	found := s.knownVersion()
	if found == (sqlrows.Version{}) {
		if found, err = readVersion(ctx, conn); err != nil {
			return err
		}
		if err := found.Check(); err != nil {
			return err
		}
		if found == (sqlrows.Version{}) {
			return nil
		}
		s.noteVersion(found)
	}
	return step(ctx, conn, found)
}

// readVersion must not be part of a transaction: it finds out by a statement that may fail.
func readVersion(ctx context.Context, from sqlrows.Reader) (sqlrows.Version, error) {
	var found sqlrows.Version
	err := from.QueryRowContext(ctx, "SELECT major, minor FROM sandlot.schema_version WHERE id = 1").Scan(&found.Major, &found.Minor)
	switch {
	case stateOf(err) == stateUndefinedTable, stateOf(err) == stateInvalidSchema:
		return sqlrows.Version{}, nil
	case errors.Is(err, sql.ErrNoRows):
		return sqlrows.Version{}, fmt.Errorf("%w: it has no schema version", store.ErrCorrupt)
	}
	return found, err
}
