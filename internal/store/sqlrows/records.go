package sqlrows

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// recordColumns stand in the order that scanRecord and recordValues use.
func recordColumns() []column {
	return append(added(1,
		"id", "kind", "backend", "binding", "owner", "name", "workspace_id", "generation",
		"spec", "committed", "attachment", "intent", "revision", "created_at", "updated_at",
	),
		column{name: "workspace", since: 2, fallback: "NULL"},
		column{name: "base_snapshot", since: 2, fallback: "''"},
	)
}

func recordValues(r store.Record) []any {
	return []any{
		r.ID, r.Kind, r.Backend, r.Binding, r.Owner, r.Name, r.WorkspaceID, r.Generation,
		nullable(r.Spec), r.Committed, r.Attachment, nullable(r.Intent), r.Revision,
		timeText(r.CreatedAt), timeText(r.UpdatedAt), nullable(r.Workspace), r.BaseSnapshot,
	}
}

func scanRecord(scan func(...any) error) (store.Record, error) {
	var r store.Record
	var spec, intent, workspace sql.NullString
	created, updated := parsedTime{into: &r.CreatedAt}, parsedTime{into: &r.UpdatedAt}
	err := scan(
		&r.ID, &r.Kind, &r.Backend, &r.Binding, &r.Owner, &r.Name, &r.WorkspaceID, &r.Generation,
		&spec, &r.Committed, &r.Attachment, &intent, &r.Revision,
		&created.text, &updated.text, &workspace, &r.BaseSnapshot,
	)
	if err == nil {
		err = parseTimes(&created, &updated)
	}
	if err != nil {
		return store.Record{}, err
	}
	r.Spec, r.Intent, r.Workspace = document(spec), document(intent), document(workspace)
	return r, nil
}

func rowOf(record store.Record) row {
	return row{table: "{records}", id: record.ID, revision: record.Revision, title: fmt.Sprintf("record %q", record.Name)}
}

// Get reads one record by its id.
func (r Rows) Get(ctx context.Context, id string) (store.Record, error) {
	record, found := store.Record{}, false
	err := r.engine.Read(ctx, "read record "+id, func(ctx context.Context, from Reader, version Version) (err error) {
		query := "SELECT " + selectList(recordColumns(), version.Minor) + " FROM {records} WHERE id = ?"
		record, err = scanRecord(from.QueryRowContext(ctx, r.sql(query), id).Scan)
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
func (r Rows) Find(ctx context.Context, query store.Query) ([]store.Record, error) {
	var records []store.Record
	err := r.engine.Read(ctx, "read records", func(ctx context.Context, from Reader, version Version) (err error) {
		clause, arguments := where(recordColumns(), version.Minor,
			member{"backend", query.Backend},
			member{"binding", query.Binding},
			member{"owner", query.Owner},
			member{"name", query.Name},
			member{"kind", query.Kind},
			member{"workspace_id", query.WorkspaceID},
			member{"base_snapshot", query.BaseSnapshot},
		)
		records, err = collect(ctx, from, scanRecord, r.sql("SELECT "+selectList(recordColumns(), version.Minor)+
			" FROM {records}"+clause+" ORDER BY name, backend, binding, owner"), arguments)
		return err
	})
	return records, err
}

// collect scans every row that a query finds.
func collect[T any](
	ctx context.Context, from Reader, scan func(func(...any) error) (T, error), query string, arguments []any,
) (found []T, err error) {
	rows, err := from.QueryContext(ctx, query, arguments...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		one, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

// Insert adds a record.
func (r Rows) Insert(ctx context.Context, record store.Record) (store.Record, error) {
	if err := checkRecord(record); err != nil {
		return store.Record{}, err
	}
	record.Revision = 1
	record.CreatedAt = now()
	record.UpdatedAt = record.CreatedAt
	err := r.engine.Write(ctx, "insert record", record.Name, func(ctx context.Context, tx Writer) error {
		_, err := tx.ExecContext(ctx, r.sql(insertStatement("{records}", recordColumns())), recordValues(record)...)
		return r.engine.Dialect.conflictIfTaken(err, rowOf(record).title)
	})
	if err != nil {
		return store.Record{}, err
	}
	return record, nil
}

// Update replaces a record that has the revision of record. One that is gone counts as changed:
// the error is both [store.ErrConflict] and [store.ErrNotFound].
func (r Rows) Update(ctx context.Context, record store.Record) (store.Record, error) {
	if err := checkRecord(record); err != nil {
		return store.Record{}, err
	}
	updated := record
	err := r.engine.Write(ctx, "update record", record.Name, func(ctx context.Context, tx Writer) error {
		created, err := r.engine.Dialect.fence(ctx, tx, rowOf(record))
		if err != nil {
			return err
		}
		updated.Revision, updated.CreatedAt, updated.UpdatedAt = record.Revision+1, created, now()
		_, err = tx.ExecContext(ctx, r.sql(updateStatement("{records}", recordColumns())), append(recordValues(updated), record.ID)...)
		return r.engine.Dialect.conflictIfTaken(err, rowOf(record).title)
	})
	if err != nil {
		return store.Record{}, err
	}
	return updated, nil
}

// Delete removes a record that has the revision of record. It makes no store to find it absent.
func (r Rows) Delete(ctx context.Context, record store.Record) error {
	if made, err := r.engine.Made(ctx); err != nil || !made {
		return err
	}
	return r.engine.Write(ctx, "delete record", record.Name, func(ctx context.Context, tx Writer) error {
		removed, err := r.engine.Dialect.remove(ctx, tx, rowOf(record))
		if err != nil || !removed {
			return err
		}
		return r.noteDeletion(ctx, tx, record)
	})
}

// checkRecord refuses what could never be read back.
func checkRecord(record store.Record) error {
	if record.ID == "" {
		return fmt.Errorf("record %q has no id", record.Name)
	}
	for member, raw := range map[string]json.RawMessage{
		"spec": record.Spec, "intent": record.Intent, "workspace": record.Workspace,
	} {
		if raw != nil && !json.Valid(raw) {
			return fmt.Errorf("record %q: %s is not JSON", record.Name, member)
		}
	}
	return nil
}
