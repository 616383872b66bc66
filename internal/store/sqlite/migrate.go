package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrateSchema applies the migrations that the store does not have yet. It runs in one
// transaction, so a killed one leaves the store as it was.
func migrateSchema(ctx context.Context, tx *sql.Tx) error {
	found, err := readVersion(ctx, tx)
	if err != nil {
		return err
	}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for _, name := range names {
		number, err := migrationNumber(name)
		if err != nil {
			return err
		}
		if number <= found.minor {
			continue
		}
		script, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(script)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO schema_version (id, major, minor) VALUES (1, ?, ?)
		ON CONFLICT (id) DO UPDATE SET major = excluded.major, minor = excluded.minor`, current.major, current.minor)
	return err
}

// migrationNumber reads the 1 of migrations/0001_records.sql.
func migrationNumber(name string) (int, error) {
	digits, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
	number, err := strconv.Atoi(digits)
	if err != nil {
		return 0, fmt.Errorf("migration %s has no number: %w", name, err)
	}
	return number, nil
}
