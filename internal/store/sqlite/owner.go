package sqlite

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
func (s *Store) Owner(ctx context.Context) (owner string, err error) {
	err = s.read(ctx, "read the owner", func(ctx context.Context, from reader) error {
		owner, err = readOwner(ctx, from)
		return err
	})
	return owner, err
}

// EnsureOwner makes the owner id, 128 random bits in hex, when there is none. Of several
// processes that do so at once, all get the id of the first.
func (s *Store) EnsureOwner(ctx context.Context) (string, error) {
	if owner, err := s.Owner(ctx); err != nil || owner != "" {
		return owner, err
	}
	owner := ""
	err := s.write(ctx, "make owner", ownerKey, func(ctx context.Context, tx *sql.Tx) (err error) {
		random := make([]byte, ownerBytes)
		if _, err := rand.Read(random); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING`,
			ownerKey, hex.EncodeToString(random))
		if err != nil {
			return err
		}
		owner, err = readOwner(ctx, tx)
		return err
	})
	return owner, err
}

func readOwner(ctx context.Context, from querier) (owner string, err error) {
	err = from.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, ownerKey).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return owner, err
}
