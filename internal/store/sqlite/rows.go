package sqlite

import (
	"context"
	"database/sql"
	"errors"

	lib "modernc.org/sqlite/lib"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlrows"
)

// dialect needs no FOR UPDATE: transactions that write take turns from their beginning.
func dialect() sqlrows.Dialect {
	return sqlrows.Dialect{Taken: func(err error) bool {
		switch codeOf(err) {
		case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY:
			return true
		}
		return false
	}}
}

func (s *Store) rows() sqlrows.Rows {
	return sqlrows.New(sqlrows.Engine{
		Dialect: dialect(),
		Made: func(ctx context.Context) (bool, error) {
			exists, err := s.exists()
			return exists, errors.Join(err, ctx.Err())
		},
		Read: func(ctx context.Context, operation string, step func(context.Context, sqlrows.Reader, sqlrows.Version) error) error {
			return s.read(ctx, operation, func(ctx context.Context, from reader) error { return step(ctx, from, from.version) })
		},
		Write: func(ctx context.Context, action, object string, step func(context.Context, sqlrows.Writer) error) error {
			return s.write(ctx, action, object, func(ctx context.Context, tx *sql.Tx) error { return step(ctx, tx) })
		},
	})
}
