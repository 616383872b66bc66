package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Get reads one record by its id.
func (s *Store) Get(ctx context.Context, id string) (store.Record, error) {
	record, found := store.Record{}, false
	err := s.read(ctx, "read record "+id, func(ctx context.Context, from reader) (err error) {
		query := "SELECT " + selectList(recordColumns(), from.version.minor) + " FROM records WHERE id = ?"
		record, err = scanRecord(from.QueryRowContext(ctx, query, id).Scan)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		found = err == nil
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("record %s: %w", id, store.ErrNotFound)
	}
	return record, err
}

// Find reads the records that match query, ordered by name.
func (s *Store) Find(ctx context.Context, query store.Query) ([]store.Record, error) {
	var records []store.Record
	err := s.read(ctx, "read records", func(ctx context.Context, from reader) (err error) {
		where, arguments := conditions(query)
		rows, err := from.QueryContext(ctx, "SELECT "+selectList(recordColumns(), from.version.minor)+
			" FROM records"+where+" ORDER BY name, backend, binding, owner", arguments...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		for rows.Next() {
			record, err := scanRecord(rows.Scan)
			if err != nil {
				return err
			}
			records = append(records, record)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

// conditions turns the members that are set into a WHERE clause.
func conditions(query store.Query) (string, []any) {
	var parts []string
	var arguments []any
	for _, member := range []struct{ column, value string }{
		{"backend", query.Backend},
		{"binding", query.Binding},
		{"owner", query.Owner},
		{"name", query.Name},
		{"kind", query.Kind},
		{"workspace_id", query.WorkspaceID},
	} {
		if member.value != "" {
			parts = append(parts, member.column+" = ?")
			arguments = append(arguments, member.value)
		}
	}
	if len(parts) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(parts, " AND "), arguments
}

// Insert adds a record.
func (s *Store) Insert(ctx context.Context, record store.Record) (store.Record, error) {
	if err := checkRecord(record); err != nil {
		return store.Record{}, err
	}
	record.Revision = 1
	record.CreatedAt = now()
	record.UpdatedAt = record.CreatedAt
	err := s.write(ctx, "insert record", record.Name, func(ctx context.Context, tx *sql.Tx) error {
		names := columnNames(recordColumns())
		statement := "INSERT INTO records (" + strings.Join(names, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")"
		_, err := tx.ExecContext(ctx, statement, recordValues(record)...)
		return conflictIfTaken(err, record.Name)
	})
	if err != nil {
		return store.Record{}, err
	}
	return record, nil
}

// Update replaces a record that has the revision of record. One that is gone counts as changed:
// the error is both [store.ErrConflict] and [store.ErrNotFound].
func (s *Store) Update(ctx context.Context, record store.Record) (store.Record, error) {
	if err := checkRecord(record); err != nil {
		return store.Record{}, err
	}
	updated := record
	err := s.write(ctx, "update record", record.Name, func(ctx context.Context, tx *sql.Tx) error {
		stored, created, err := revisionOf(ctx, tx, record.ID)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("record %q is gone: %w: %w", record.Name, store.ErrConflict, store.ErrNotFound)
		}
		if err != nil {
			return err
		}
		if stored != record.Revision {
			return stale(record, stored)
		}
		updated.Revision, updated.CreatedAt, updated.UpdatedAt = stored+1, created, now()
		statement := "UPDATE records SET " + strings.Join(columnNames(recordColumns()), " = ?, ") + " = ? WHERE id = ?"
		_, err = tx.ExecContext(ctx, statement, append(recordValues(updated), record.ID)...)
		return conflictIfTaken(err, record.Name)
	})
	if err != nil {
		return store.Record{}, err
	}
	return updated, nil
}

// Delete removes a record that has the revision of record. It makes no store to find it absent.
func (s *Store) Delete(ctx context.Context, record store.Record) error {
	if exists, err := s.exists(); err != nil || !exists {
		return errors.Join(err, ctx.Err())
	}
	return s.write(ctx, "delete record", record.Name, func(ctx context.Context, tx *sql.Tx) error {
		stored, _, err := revisionOf(ctx, tx, record.ID)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if stored != record.Revision {
			return stale(record, stored)
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM records WHERE id = ?", record.ID); err != nil {
			return err
		}
		return noteDeletion(ctx, tx, record)
	})
}

// revisionOf reads what fences a write, within its transaction.
func revisionOf(ctx context.Context, tx *sql.Tx, id string) (revision int64, created time.Time, err error) {
	var text string
	err = tx.QueryRowContext(ctx, "SELECT revision, created_at FROM records WHERE id = ?", id).Scan(&revision, &text)
	if err != nil {
		return 0, time.Time{}, err
	}
	created, err = parseTime(text)
	return revision, created, err
}

func stale(record store.Record, stored int64) error {
	return fmt.Errorf("record %q has revision %d, not %d: %w", record.Name, stored, record.Revision, store.ErrConflict)
}

// conflictIfTaken tells a taken id or key from other failures.
func conflictIfTaken(err error, name string) error {
	switch codeOf(err) {
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY:
		return fmt.Errorf("record %q is there already: %w", name, store.ErrConflict)
	}
	return err
}

// checkRecord refuses what could never be read back.
func checkRecord(record store.Record) error {
	if record.ID == "" {
		return fmt.Errorf("record %q has no id", record.Name)
	}
	for member, raw := range map[string]json.RawMessage{"spec": record.Spec, "intent": record.Intent} {
		if raw != nil && !json.Valid(raw) {
			return fmt.Errorf("record %q: %s is not JSON", record.Name, member)
		}
	}
	return nil
}

// now has no monotonic part, so that it equals the time that is read back.
func now() time.Time { return time.Now().UTC().Round(0) }
