package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlrows"
)

// connection is exactly one SQLite connection. A pool would open and close connections when it
// likes, and the last one that is closed removes the -wal file.
type connection struct {
	db *sql.DB
	*sql.Conn
}

// connect opens the database at path with SQLite's own parameters (mode, immutable) and pragmas.
func connect(ctx context.Context, path string, parameters url.Values) (*connection, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	parameters.Set("_defensive", "1")
	parameters.Set("_dqs", "0")
	parameters.Set("_error_rc", "1")
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: parameters.Encode()}
	connector, err := driver.NewConnector(address.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &connection{db: db, Conn: conn}, nil
}

func (c *connection) close() error {
	return errors.Join(c.Conn.Close(), c.db.Close())
}

// reader is a connection for one read.
type reader struct {
	*connection
	version sqlrows.Version
}

// read calls step with the open store. It does not call it when there is no store yet, or one
// that was never completely made.
func (s *Store) read(ctx context.Context, operation string, step func(context.Context, reader) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if exists, err := s.exists(); err != nil || !exists {
		return err
	}
	guard, err := guardShared(ctx, s.guardPath())
	if err != nil {
		return s.fail(operation, reading, err)
	}
	if guard != nil {
		defer func() { err = errors.Join(err, guard.Unlock()) }()
	}
	opened, err := s.openReader(ctx, guard != nil)
	if err != nil {
		return s.fail(operation, reading, err)
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	if opened.version == (sqlrows.Version{}) {
		return nil
	}
	if err := step(ctx, opened); err != nil {
		return s.fail(operation, reading, err)
	}
	return nil
}

// openReader opens the database as the package documentation tells.
func (s *Store) openReader(ctx context.Context, guarded bool) (reader, error) {
	logged, err := s.hasLog()
	if err != nil {
		return reader{}, err
	}
	if guarded && !logged {
		return connectReader(ctx, s.databasePath(), "immutable", "1")
	}
	opened, err := connectReader(ctx, s.databasePath(), "mode", "ro")
	if err == nil || logged {
		return opened, err
	}
	switch codeOf(err) & 0xff {
	case lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY:
		// SQLite could not make its files, and no log holds newer data than the database.
		return connectReader(ctx, s.databasePath(), "immutable", "1")
	}
	return reader{}, err
}

// connectReader opens a connection and reads the version, which is when SQLite really opens
// the files.
func connectReader(ctx context.Context, path, parameter, value string) (reader, error) {
	conn, err := connect(ctx, path, url.Values{
		parameter: {value},
		"_pragma": {"busy_timeout(5000)", "query_only(1)", "trusted_schema(0)"},
	})
	if err != nil {
		return reader{}, err
	}
	found, err := readVersion(ctx, conn)
	if err == nil {
		err = found.Check()
	}
	if err != nil {
		return reader{}, errors.Join(err, conn.close())
	}
	return reader{connection: conn, version: found}, nil
}

// hasLog tells whether a -wal file exists.
func (s *Store) hasLog() (bool, error) {
	_, err := os.Stat(s.databasePath() + "-wal")
	if os.IsNotExist(err) {
		return false, nil
	}
	return err == nil, err
}
