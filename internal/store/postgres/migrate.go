package postgres

import (
	"context"
	"embed"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlrows"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ready makes sure that the database has the present schema.
func (s *Store) ready(ctx context.Context) error {
	if s.knownVersion() != (sqlrows.Version{}) {
		return nil
	}
	var found sqlrows.Version
	err := s.look(ctx, "open the store", writing, func(_ context.Context, _ sqlrows.Reader, version sqlrows.Version) error {
		found = version
		return nil
	})
	if err != nil || found.Minor >= sqlrows.Current().Minor {
		return err
	}
	return s.observer.Do(ctx, s.effect("migrate", schemaName), func() error {
		return s.fail(ctx, "make the store", writing, s.transact(ctx, nil, migrate))
	})
}

// migrate makes and changes tables, while other processes that want to do the same wait.
func migrate(ctx context.Context, tx sqlrows.Writer) error {
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", lockID("migration", schemaName)); err != nil {
		return err
	}
	found, err := versionInside(ctx, tx)
	if err != nil {
		return err
	}
	var schemas int
	err = tx.QueryRowContext(ctx, "SELECT count(*) FROM pg_namespace WHERE nspname = $1", schemaName).Scan(&schemas)
	if err != nil {
		return err
	}
	if schemas == 0 {
		// IF NOT EXISTS would ask for the privilege even where there is nothing to make.
		if _, err := tx.ExecContext(ctx, "CREATE SCHEMA "+schemaName); err != nil {
			return err
		}
	}
	return dialect().Migrate(ctx, tx, migrations, found)
}

// versionInside is readVersion for a transaction, which a failing statement would end.
func versionInside(ctx context.Context, tx sqlrows.Writer) (sqlrows.Version, error) {
	var made bool
	err := tx.QueryRowContext(ctx, "SELECT to_regclass('sandlot.schema_version') IS NOT NULL").Scan(&made)
	if err != nil || !made {
		return sqlrows.Version{}, err
	}
	return readVersion(ctx, tx)
}
