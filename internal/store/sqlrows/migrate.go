package sqlrows

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Migrate applies the migrations that a store of the version found does not have yet. It belongs
// into one transaction, so that a killed one leaves the store as it was.
func (d Dialect) Migrate(ctx context.Context, tx Writer, migrations fs.FS, found Version) error {
	if err := found.Check(); err != nil {
		return err
	}
	if found.Minor >= Current().Minor {
		return nil // another process was faster
	}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for _, name := range names {
		number, err := MigrationNumber(name)
		if err != nil {
			return err
		}
		if number <= found.Minor {
			continue
		}
		script, err := fs.ReadFile(migrations, name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(script)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err = tx.ExecContext(ctx, d.statement(`INSERT INTO {schema_version} (id, major, minor) VALUES (1, ?, ?)
		ON CONFLICT (id) DO UPDATE SET major = excluded.major, minor = excluded.minor`), Current().Major, Current().Minor)
	return err
}

// MigrationNumber reads the 1 of migrations/0001_records.sql.
func MigrationNumber(name string) (int, error) {
	digits, _, _ := strings.Cut(path.Base(name), "_")
	number, err := strconv.Atoi(digits)
	if err != nil {
		return 0, fmt.Errorf("migration %s has no number: %w", name, err)
	}
	return number, nil
}
