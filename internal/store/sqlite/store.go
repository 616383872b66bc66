package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlrows"
)

var _ store.Store = (*Store)(nil)

const (
	databaseName = "sandlot.db"
	guardName    = "sandlot.db.guard"
	locksFolder  = "locks"

	folderMode = 0o700
	fileMode   = 0o600

	// closeWait is how long Close waits for readers, so that it can remove the -wal file. Closing
	// without that is safe too, only less tidy.
	closeWait = 2 * time.Second
)

// Config says where the store lives and who is told of its writes.
type Config struct {
	// Dir is the folder of the store. The first write makes it when it is absent.
	Dir string
	// Observer is told of every write. It may be nil.
	Observer effects.Observer
}

// Store is a [store.Store] in one folder. It is safe for concurrent use, also by other processes.
type Store struct {
	sqlrows.Rows

	dir      string
	observer effects.Observer

	// turn holds one token. Whoever took it may use writer, which is nil while the database is
	// not open for writing. A channel and not a mutex, so that waiting ends with the context.
	turn   chan struct{}
	writer *writer
}

// New returns the store in config.Dir. It touches nothing; the store is opened on first use.
func New(config Config) *Store {
	s := &Store{dir: config.Dir, observer: config.Observer, turn: make(chan struct{}, 1)}
	s.Rows = s.rows()
	return s
}

// Close closes the database. The store opens it again when it is used after.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.writer == nil {
		return nil
	}
	writer := s.writer
	s.writer = nil
	return writer.close(ctx, s.guardPath())
}

func (s *Store) databasePath() string { return filepath.Join(s.dir, databaseName) }
func (s *Store) guardPath() string    { return filepath.Join(s.dir, guardName) }

// exists tells whether there is a database. Only a clear answer of the file system counts.
func (s *Store) exists() (bool, error) {
	_, err := os.Stat(s.databasePath())
	if err == nil {
		return true, nil
	}
	if os.IsNotExist(err) {
		return false, nil
	}
	return false, s.fail("look for the store", reading, err)
}

func (s *Store) effect(action, object string) effects.Effect {
	return effects.Effect{System: "store", Action: action, Object: object, Write: true}
}
