package sqlrows

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
func (r Rows) noteDeletion(ctx context.Context, tx Writer, record store.Record) error {
	moment := now()
	_, err := tx.ExecContext(ctx, r.sql("DELETE FROM {deletions} WHERE deleted_at < ?"), timeText(moment.Add(-rememberDeletions)))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, r.sql(`INSERT INTO {deletions} (record, attachment, deleted_at) VALUES (?, ?, ?)
		ON CONFLICT (record) DO UPDATE SET attachment = excluded.attachment, deleted_at = excluded.deleted_at`),
		record.ID, record.Attachment, timeText(moment))
	return err
}

// Deleted tells who held a record when it was deleted.
func (r Rows) Deleted(ctx context.Context, id string) (attachment string, deleted bool, err error) {
	err = r.engine.Read(ctx, "read deletions", func(ctx context.Context, from Reader, _ Version) error {
		err := from.QueryRowContext(ctx, r.sql("SELECT attachment FROM {deletions} WHERE record = ?"), id).Scan(&attachment)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		deleted = err == nil
		return err
	})
	return attachment, deleted, err
}
