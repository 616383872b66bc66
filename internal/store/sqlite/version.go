package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// version is the schema of a store; the zero value means that it was never made.
//
// A migration that only adds (tables, columns with a default, indexes) raises minor: programs of
// an older minor go on reading and writing, because every statement names its columns. One that
// older programs could not live with raises major, and they refuse the store.
type version struct{ major, minor int }

// current is what this program makes and understands. The minor is the number of the last file
// in migrations.
var current = version{major: 1, minor: 1}

func (v version) check() error {
	if v.major > current.major {
		return fmt.Errorf("%w (schema %d.%d, this version understands %d)", store.ErrNewerSchema, v.major, v.minor, current.major)
	}
	return nil
}

// querier is what connections and transactions have in common.
type querier interface {
	QueryRowContext(ctx context.Context, query string, arguments ...any) *sql.Row
	QueryContext(ctx context.Context, query string, arguments ...any) (*sql.Rows, error)
}

func readVersion(ctx context.Context, from querier) (version, error) {
	var tables int
	row := from.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version'`)
	if err := row.Scan(&tables); err != nil {
		return version{}, err
	}
	if tables == 0 {
		return version{}, nil
	}
	var found version
	err := from.QueryRowContext(ctx, `SELECT major, minor FROM schema_version WHERE id = 1`).Scan(&found.major, &found.minor)
	if errors.Is(err, sql.ErrNoRows) {
		return version{}, fmt.Errorf("%w: it has no schema version", store.ErrCorrupt)
	}
	return found, err
}
