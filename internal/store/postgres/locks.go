package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

const (
	// firstPoll is how soon a lock that was held is tried again; the pauses double up to lastPoll.
	firstPoll = 25 * time.Millisecond
	lastPoll  = 400 * time.Millisecond
)

// lockID is the number of a lock. Advisory locks have nothing but a number, and the database may be
// shared with other programs.
func lockID(kind, key string) int64 {
	sum := sha256.Sum256([]byte("terraform-provider-sandlot\x00" + kind + "\x00" + key))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// Lock waits for the lock of key.
func (s *Store) Lock(ctx context.Context, key string) (store.Lock, error) {
	operation := fmt.Sprintf("wait for the lock of %q", key)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	leave := s.enter()
	if err := s.ready(ctx); err != nil {
		leave()
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	var held *lock
	err := s.observer.Do(ctx, s.effect("lock", key), func() (err error) {
		held, err = s.lock(ctx, operation, key)
		return err
	})
	if err != nil {
		leave()
		return nil, err
	}
	held.leave = append(held.leave, leave)
	return held, nil
}

func (s *Store) lock(ctx context.Context, operation, key string) (_ *lock, err error) {
	endTurn, err := s.queue.enter(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("%s: another operation of this process holds it: %w", operation, err)
	}
	held := &lock{store: s, key: key, id: lockID("lock", key), leave: []func(){endTurn}}
	if held.conn, err = s.dial(ctx); err != nil {
		endTurn()
		return nil, s.fail(ctx, operation, writing, err)
	}
	holder, err := held.wait(ctx)
	if err == nil {
		err = held.claim(ctx)
	}
	if err == nil {
		return held, nil
	}
	_ = held.Unlock()
	if end := ended(ctx); holder != "" && end != nil {
		return nil, fmt.Errorf("%s: %s: %w", operation, holder, end)
	}
	return nil, s.fail(ctx, operation, writing, err)
}

// wait tries until it has the lock, in a transaction that it then leaves open. The holder that it
// saw last comes with an error.
func (l *lock) wait(ctx context.Context) (holder string, err error) {
	for interval := firstPoll; ; interval = min(2*interval, lastPoll) {
		got, seen, err := l.try(ctx)
		if err != nil {
			return holder, err
		}
		if got {
			return "", l.settle(ctx)
		}
		holder = seen
		// The pauses differ, so that many who wait do not ask all at once.
		if err := pause(ctx, interval/2+rand.N(interval)); err != nil { //nolint:gosec // not a secret
			return holder, err
		}
	}
}

// try begins a transaction and keeps it open when it got the lock.
func (l *lock) try(ctx context.Context) (got bool, holder string, err error) {
	if _, err := l.conn.Exec(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED"); err != nil {
		return false, "", err
	}
	row := l.conn.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1),
		coalesce((SELECT holder || ' holds it since ' || since FROM sandlot.claims WHERE id = $1), 'another process holds it')`, l.id)
	if err := row.Scan(&got, &holder); err != nil || got {
		return got, "", err
	}
	_, err = l.conn.Exec(ctx, "ROLLBACK")
	return false, holder, err
}

// settle makes the transaction outlast the settings that would end it while it is idle, and makes
// the server notice soon when this machine is gone. Settings that the server does not know are left
// out.
func (l *lock) settle(ctx context.Context) error {
	_, err := l.conn.Exec(ctx, `SELECT set_config(name, value, true) FROM (VALUES
		('idle_in_transaction_session_timeout', '0'),
		('transaction_timeout', '0'),
		('statement_timeout', '0'),
		('tcp_keepalives_idle', '30'),
		('tcp_keepalives_interval', '10'),
		('tcp_keepalives_count', '3')
	) AS wanted (name, value) WHERE current_setting(name, true) IS NOT NULL`)
	return err
}

// errReleased: the lock was given back.
var errReleased = errors.New("it was released")

// closeQuietly ends a connection without waiting for a server that may be gone.
func closeQuietly(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), rollbackLimit)
	defer cancel()
	_ = conn.Close(ctx)
}
