package sqlrows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// secretsSince is the minor schema version that added secrets.
const secretsSince = 3

// PutSecret keeps a sealed value of a record that has the revision of record.
func (r Rows) PutSecret(ctx context.Context, record store.Record, name string, sealed []byte) error {
	if name == "" || len(sealed) == 0 {
		return fmt.Errorf("a secret of record %q has no name or no value", record.Name)
	}
	return r.engine.Write(ctx, "put secret", record.Name+"/"+name, func(ctx context.Context, tx Writer) error {
		if _, err := r.engine.Dialect.fence(ctx, tx, rowOf(record)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, r.sql(`INSERT INTO {secrets} (record, name, sealed, updated_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (record, name) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at`),
			record.ID, name, sealed, timeText(now()))
		return err
	})
}

// Secret reads a sealed value of the record with an id.
func (r Rows) Secret(ctx context.Context, record, name string) (sealed []byte, err error) {
	err = r.engine.Read(ctx, "read a secret of record "+record, func(ctx context.Context, from Reader, version Version) error {
		if version.Minor < secretsSince {
			return nil
		}
		query := r.sql("SELECT sealed FROM {secrets} WHERE record = ? AND name = ?")
		err := from.QueryRowContext(ctx, query, record, name).Scan(&sealed)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err == nil && sealed == nil {
		err = fmt.Errorf("secret %q of record %s: %w", name, record, store.ErrNotFound)
	}
	return sealed, err
}

// DeleteSecret removes a sealed value of a record that has the revision of record. It makes no store
// to find it absent.
func (r Rows) DeleteSecret(ctx context.Context, record store.Record, name string) error {
	if made, err := r.engine.Made(ctx); err != nil || !made {
		return err
	}
	return r.engine.Write(ctx, "delete secret", record.Name+"/"+name, func(ctx context.Context, tx Writer) error {
		_, err := r.engine.Dialect.fence(ctx, tx, rowOf(record))
		if errors.Is(err, store.ErrNotFound) {
			return nil // its secrets went with it
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, r.sql("DELETE FROM {secrets} WHERE record = ? AND name = ?"), record.ID, name)
		return err
	})
}
