package sqlite

import (
	"context"
	"database/sql"
	"embed"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrateSchema applies the migrations that the store does not have yet.
func migrateSchema(ctx context.Context, tx *sql.Tx) error {
	found, err := readVersion(ctx, tx)
	if err != nil {
		return err
	}
	return dialect().Migrate(ctx, tx, migrations, found)
}
