package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// rememberDeletions is how long the store knows who held a deleted record. A state that was not
// refreshed for longer finds its sandbox missing.
const rememberDeletions = 90 * 24 * time.Hour

// noteDeletion remembers a deleted record, and forgets those that are long gone.
func noteDeletion(ctx context.Context, tx *sql.Tx, record store.Record) error {
	moment := now()
	_, err := tx.ExecContext(ctx, "DELETE FROM deletions WHERE deleted_at < ?", moment.Add(-rememberDeletions).Format(timeLayout))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO deletions (record, attachment, deleted_at) VALUES (?, ?, ?)",
		record.ID, record.Attachment, moment.Format(timeLayout))
	return err
}

// Deleted tells who held a record when it was deleted.
func (s *Store) Deleted(ctx context.Context, id string) (attachment string, deleted bool, err error) {
	err = s.read(ctx, "read deletions", func(ctx context.Context, from reader) error {
		err := from.QueryRowContext(ctx, "SELECT attachment FROM deletions WHERE record = ?", id).Scan(&attachment)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		deleted = err == nil
		return err
	})
	return attachment, deleted, err
}
