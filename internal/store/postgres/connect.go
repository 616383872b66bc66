package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// idleLimit is how long an unused working connection stays open.
	idleLimit = 2 * time.Second
	// slotLimit is how long connecting waits for a server whose connections are all taken.
	slotLimit = 10 * time.Second
	slotPoll  = 200 * time.Millisecond
)

// connection waits for the one working connection.
func (s *Store) connection(ctx context.Context) (*sql.Conn, error) {
	pool, err := s.open()
	if err != nil {
		return nil, err
	}
	var conn *sql.Conn
	err = waitForSlot(ctx, func() (err error) {
		conn, err = pool.Conn(ctx)
		return err
	})
	return conn, err
}

// open makes the pool, which connects later.
func (s *Store) open() (*sql.DB, error) {
	to, err := s.target()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == nil {
		s.pool = stdlib.OpenDB(*to.config)
		s.pool.SetMaxOpenConns(1)
		s.pool.SetConnMaxIdleTime(idleLimit)
	}
	return s.pool, nil
}

// dial makes a connection of its own, for a lock.
func (s *Store) dial(ctx context.Context) (*pgx.Conn, error) {
	to, err := s.target()
	if err != nil {
		return nil, err
	}
	var conn *pgx.Conn
	err = waitForSlot(ctx, func() (err error) {
		conn, err = pgx.ConnectConfig(ctx, to.config.Copy())
		return err
	})
	return conn, err
}

// waitForSlot repeats connect while the server has no connection left for it.
func waitForSlot(ctx context.Context, connect func() error) error {
	deadline := time.Now().Add(slotLimit)
	for {
		err := connect()
		if stateOf(err) != stateTooManyConnections || time.Now().After(deadline) {
			return err
		}
		if pause(ctx, slotPoll) != nil {
			return err
		}
	}
}

// pause waits unless ctx ends.
func pause(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// discard closes a connection instead of keeping it for the next one.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
}
