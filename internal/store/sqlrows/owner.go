package sqlrows

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
)

const (
	ownerKey   = "owner"
	ownerBytes = 16
)

// Owner reads the owner id, "" when there is none.
func (r Rows) Owner(ctx context.Context) (owner string, err error) {
	err = r.engine.Read(ctx, "read the owner", func(ctx context.Context, from Reader, _ Version) (err error) {
		owner, err = r.readOwner(ctx, from)
		return err
	})
	return owner, err
}

// EnsureOwner makes the owner id, 128 random bits in hex, when there is none. Of several
// processes that do so at once, all get the id of the first.
func (r Rows) EnsureOwner(ctx context.Context) (string, error) {
	if owner, err := r.Owner(ctx); err != nil || owner != "" {
		return owner, err
	}
	owner := ""
	err := r.engine.Write(ctx, "make owner", ownerKey, func(ctx context.Context, tx Writer) (err error) {
		random := make([]byte, ownerBytes)
		if _, err := rand.Read(random); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, r.sql(`INSERT INTO {meta} (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING`),
			ownerKey, hex.EncodeToString(random))
		if err != nil {
			return err
		}
		owner, err = r.readOwner(ctx, tx)
		return err
	})
	return owner, err
}

func (r Rows) readOwner(ctx context.Context, from Reader) (owner string, err error) {
	err = from.QueryRowContext(ctx, r.sql(`SELECT value FROM {meta} WHERE key = ?`), ownerKey).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return owner, err
}
