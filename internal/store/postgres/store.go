package postgres

import (
	"context"
	"database/sql"
	"sync"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlrows"
)

var _ store.Store = (*Store)(nil)

// schemaName is where all tables live.
const schemaName = "sandlot"

// Config says which database holds the store and who is told of its writes.
type Config struct {
	// URL is like postgres://user:password@host:port/database?sslmode=verify-full. What it leaves out
	// comes from the PG* environment variables.
	URL string
	// Observer is told of every write. It may be nil.
	Observer effects.Observer
}

// Store is a [store.Store] in one database. It is safe for concurrent use, also by other processes.
type Store struct {
	sqlrows.Rows

	observer effects.Observer
	target   func() (target, error)
	queue    queue

	mu      sync.Mutex
	pool    *sql.DB         // nil while nothing is open
	users   int             // operations and locks that are at work
	version sqlrows.Version // the database's, once it is known to be up to date
}

// New returns the store at config.URL. It contacts nothing and reads no file; that happens on first
// use, as do complaints about the URL.
func New(config Config) *Store {
	s := &Store{
		observer: config.Observer,
		target:   sync.OnceValues(func() (target, error) { return parse(config.URL) }),
	}
	s.Rows = s.rows()
	return s
}

// Close closes the working connection. While another operation or a lock is at work it stays: it
// ends when it was idle for a while. Held locks stay held until they are unlocked.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == nil || s.users > 0 {
		return nil
	}
	pool := s.pool
	s.pool, s.version = nil, sqlrows.Version{}
	return pool.Close()
}

// enter keeps the store open until the returned function is called.
func (s *Store) enter() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.users--
	})
}

func (s *Store) knownVersion() sqlrows.Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// noteVersion remembers a version that this program need not migrate; others may change soon.
func (s *Store) noteVersion(found sqlrows.Version) {
	if found.Minor >= sqlrows.Current().Minor {
		s.setVersion(found)
	}
}

func (s *Store) setVersion(version sqlrows.Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

func (s *Store) effect(action, object string) effects.Effect {
	return effects.Effect{System: "store", Action: action, Object: object, Write: true}
}

func (s *Store) rows() sqlrows.Rows {
	return sqlrows.New(sqlrows.Engine{
		Dialect: dialect(),
		Made: func(ctx context.Context) (made bool, err error) {
			err = s.read(ctx, "look for the store", func(context.Context, sqlrows.Reader, sqlrows.Version) error {
				made = true
				return nil
			})
			return made, err
		},
		Read:  s.read,
		Write: s.write,
	})
}
