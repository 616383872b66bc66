package sqlrows

import (
	"slices"
	"testing"
)

func TestSelectList(t *testing.T) {
	columns := append(added(1, "id"), column{name: "later", since: 2, fallback: "'[]'"})
	if got, want := selectList(columns, 1), "id, '[]' AS later"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := selectList(columns, 2), "id, later"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	clause, arguments := where(columns, 1, member{"id", "a"}, member{"later", "b"})
	if want := " WHERE id = ? AND '[]' = ?"; clause != want || !slices.Equal(arguments, []any{"a", "b"}) {
		t.Errorf("got %s with %v, want %s", clause, arguments, want)
	}
}

func TestColumnsOfLaterVersionsHaveFallbacks(t *testing.T) {
	for _, c := range recordColumns() {
		if c.since > Current().Minor || c.since > 1 && c.fallback == "" {
			t.Errorf("column %+v", c)
		}
	}
}

func TestStatement(t *testing.T) {
	text := "SELECT a FROM {b} WHERE c = ? AND d = ?"
	for want, dialect := range map[string]Dialect{
		"SELECT a FROM b WHERE c = ? AND d = ?":     {},
		"SELECT a FROM s.b WHERE c = $1 AND d = $2": {Numbered: true, Schema: "s."},
	} {
		if got := dialect.statement(text); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestMigrationNumber(t *testing.T) {
	if number, err := MigrationNumber("migrations/0012_more.sql"); err != nil || number != 12 {
		t.Error(number, err)
	}
	if _, err := MigrationNumber("migrations/records.sql"); err == nil {
		t.Error("a migration without a number is accepted")
	}
}
