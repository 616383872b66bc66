package sqlrows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// row is one row that a fenced write is about.
type row struct {
	table    string
	id       string
	revision int64  // the one that the caller read
	title    string // for messages, like `record "name"`
}

// fence reads the row's revision and the time that it was created at, within the transaction that
// is about to write it, and holds the row against others.
func (d Dialect) fence(ctx context.Context, tx Writer, r row) (created time.Time, err error) {
	var stored int64
	var text string
	statement := d.statement("SELECT revision, created_at FROM " + r.table + " WHERE id = ?" + d.ForUpdate)
	err = tx.QueryRowContext(ctx, statement, r.id).Scan(&stored, &text)
	if errors.Is(err, sql.ErrNoRows) {
		// One that is gone counts as changed.
		return time.Time{}, fmt.Errorf("%s is gone: %w: %w", r.title, store.ErrConflict, store.ErrNotFound)
	}
	if err != nil {
		return time.Time{}, err
	}
	if created, err = parseTime(text); err != nil {
		return time.Time{}, err
	}
	if stored != r.revision {
		return time.Time{}, fmt.Errorf("%s has revision %d, not %d: %w", r.title, stored, r.revision, store.ErrConflict)
	}
	return created, nil
}

// remove deletes the row and tells whether it was there.
func (d Dialect) remove(ctx context.Context, tx Writer, r row) (bool, error) {
	_, err := d.fence(ctx, tx, r)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, d.statement("DELETE FROM "+r.table+" WHERE id = ?"), r.id)
	return err == nil, err
}

// conflictIfTaken tells a taken id or key from other failures.
func (d Dialect) conflictIfTaken(err error, title string) error {
	if err != nil && d.Taken(err) {
		return fmt.Errorf("%s is there already: %w", title, store.ErrConflict)
	}
	return err
}
