package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlrows"
)

// proofLimit is how long the connection of a lock may take to answer before the lock counts as lost.
const proofLimit = 10 * time.Second

// shownKey is how much of a key stands in the table claims, for people.
const shownKey = 200

// lock is a held lock: a connection with an open transaction that holds the advisory lock, and the
// token of its claim.
type lock struct {
	store *Store
	key   string
	id    int64
	token string
	leave []func() // what ends with the lock

	mu   sync.Mutex // guards what follows; one statement at a time
	conn *pgx.Conn
	gone error // why the lock is not held any more
}

type locksKey struct{}

// Context returns ctx with the lock added to those that it carries already.
func (l *lock) Context(ctx context.Context) context.Context {
	carried, _ := ctx.Value(locksKey{}).([]*lock)
	return context.WithValue(ctx, locksKey{}, append(carried[:len(carried):len(carried)], l))
}

// locksOf are the locks of s that ctx carries.
func locksOf(ctx context.Context, s *Store) []*lock {
	carried, _ := ctx.Value(locksKey{}).([]*lock)
	var locks []*lock
	for _, held := range carried {
		if held.store == s {
			locks = append(locks, held)
		}
	}
	return locks
}

// claim writes a new token, from another connection than the lock's: the lock's own transaction
// commits only when it ends.
func (l *lock) claim(ctx context.Context) error {
	l.token = rand.Text()
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	shown := strconv.QuoteToASCII(l.key)
	shown = shown[:min(len(shown), shownKey)]
	return l.store.transact(ctx, nil, func(ctx context.Context, tx sqlrows.Writer) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO sandlot.claims (id, key, token, holder, since) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (id) DO UPDATE SET key = excluded.key, token = excluded.token, holder = excluded.holder, since = excluded.since`,
			l.id, shown, l.token, fmt.Sprintf("%s pid %d", host, os.Getpid()), time.Now().UTC().Format(time.RFC3339))
		return err
	})
}

// prove asks the connection of the lock for an answer. It does so apart from ctx, since a canceled
// statement would end the connection and with it the lock, which cleaning up still needs.
func (l *lock) prove(ctx context.Context) error {
	answer := make(chan error, 1)
	go func() { answer <- l.ping() }()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *lock) ping() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone == nil {
		ctx, cancel := context.WithTimeout(context.Background(), proofLimit)
		defer cancel()
		if _, err := l.conn.Exec(ctx, "SELECT 1"); err != nil {
			l.gone = errors.New(text(err))
			closeQuietly(l.conn)
		}
	}
	if l.gone != nil {
		return l.lost(l.gone)
	}
	return nil
}

// checkClaim makes sure that the claim is still this lock's, and that it stays so until tx ends.
func (l *lock) checkClaim(ctx context.Context, tx sqlrows.Writer) error {
	var token string
	err := tx.QueryRowContext(ctx, "SELECT token FROM sandlot.claims WHERE id = $1 FOR SHARE", l.id).Scan(&token)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if token != l.token {
		return l.lost(errors.New("another operation took it since"))
	}
	return nil
}

func (l *lock) lost(why error) error {
	return fmt.Errorf("%w: that of %q: %w", store.ErrLockLost, l.key, why)
}

// Unlock ends the claim and the lock in one step. It does not fail: when the connection is broken,
// the server has freed the lock or is about to, and whatever was written under it was checked then.
func (l *lock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(l.gone, errReleased) {
		return nil
	}
	if l.gone == nil {
		ctx, cancel := context.WithTimeout(context.Background(), rollbackLimit)
		defer cancel()
		if l.token != "" {
			if _, err := l.conn.Exec(ctx, "DELETE FROM sandlot.claims WHERE id = $1 AND token = $2", l.id, l.token); err == nil {
				_, _ = l.conn.Exec(ctx, "COMMIT")
			}
		}
		closeQuietly(l.conn)
	}
	l.gone = errReleased
	for _, leave := range l.leave {
		leave()
	}
	return nil
}
