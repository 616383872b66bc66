package sqlite

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// timeLayout is RFC 3339 with all nine digits, so that times sort as texts.
const timeLayout = "2006-01-02T15:04:05.000000000Z07:00"

// column is one column of the table records.
type column struct {
	name string
	// since is the minor schema version that added it. A read does not migrate, so it may meet a
	// store without the column and takes the fallback, an SQL literal, instead.
	since    int
	fallback string
}

// recordColumns stand in the order that scanRecord and recordValues use.
func recordColumns() []column {
	names := []string{
		"id", "kind", "backend", "binding", "owner", "name", "workspace_id", "generation",
		"spec", "committed", "attachment", "intent", "revision", "created_at", "updated_at",
	}
	columns := make([]column, len(names))
	for i, name := range names {
		columns[i] = column{name: name, since: 1}
	}
	return columns
}

// selectList names columns, or their fallbacks where the store is too old to have them.
func selectList(columns []column, minor int) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = c.name
		if c.since > minor {
			parts[i] = c.fallback + " AS " + c.name
		}
	}
	return strings.Join(parts, ", ")
}

func columnNames(columns []column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

func recordValues(r store.Record) []any {
	return []any{
		r.ID, r.Kind, r.Backend, r.Binding, r.Owner, r.Name, r.WorkspaceID, r.Generation,
		nullable(r.Spec), r.Committed, r.Attachment, nullable(r.Intent), r.Revision,
		r.CreatedAt.UTC().Format(timeLayout), r.UpdatedAt.UTC().Format(timeLayout),
	}
}

func scanRecord(scan func(...any) error) (store.Record, error) {
	var r store.Record
	var spec, intent sql.NullString
	var created, updated string
	err := scan(
		&r.ID, &r.Kind, &r.Backend, &r.Binding, &r.Owner, &r.Name, &r.WorkspaceID, &r.Generation,
		&spec, &r.Committed, &r.Attachment, &intent, &r.Revision, &created, &updated,
	)
	if err != nil {
		return store.Record{}, err
	}
	if r.CreatedAt, err = parseTime(created); err != nil {
		return store.Record{}, err
	}
	if r.UpdatedAt, err = parseTime(updated); err != nil {
		return store.Record{}, err
	}
	r.Spec, r.Intent = document(spec), document(intent)
	return r, nil
}

func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %q is not a time", store.ErrCorrupt, text)
	}
	return t.UTC(), nil
}

func nullable(raw json.RawMessage) sql.NullString {
	return sql.NullString{String: string(raw), Valid: raw != nil}
}

func document(text sql.NullString) json.RawMessage {
	if !text.Valid {
		return nil
	}
	return json.RawMessage(text.String)
}
