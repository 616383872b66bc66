// Package sqlrows holds what the stores on SQL databases have in common: the columns, the
// statements and the fencing. An engine adds how it is opened, its transactions, its locks, its
// errors and its migrations.
package sqlrows

import (
	"context"
	"database/sql"
)

// Reader is what connections and transactions have in common.
type Reader interface {
	QueryRowContext(ctx context.Context, query string, arguments ...any) *sql.Row
	QueryContext(ctx context.Context, query string, arguments ...any) (*sql.Rows, error)
}

// Writer is a transaction that may write.
type Writer interface {
	Reader
	ExecContext(ctx context.Context, query string, arguments ...any) (sql.Result, error)
}

// Engine is the database underneath.
type Engine struct {
	Dialect Dialect
	// Made tells whether the store was ever made. It makes nothing.
	Made func(ctx context.Context) (bool, error)
	// Read calls step with the open store. It does not call it when there is no store yet.
	Read func(ctx context.Context, operation string, step func(context.Context, Reader, Version) error) error
	// Write runs step in one transaction, as one effect. It makes and migrates the store when needed.
	Write func(ctx context.Context, action, object string, step func(context.Context, Writer) error) error
}

// Rows is all of a [store.Store] but its locks and how it is closed.
type Rows struct{ engine Engine }

// New returns the rows of an engine, which it does not use yet.
func New(engine Engine) Rows { return Rows{engine: engine} }

func (r Rows) sql(statement string) string { return r.engine.Dialect.statement(statement) }
