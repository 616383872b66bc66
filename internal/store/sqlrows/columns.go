package sqlrows

import "strings"

// column is one column of a table.
type column struct {
	name string
	// since is the minor schema version that added it. A read does not migrate, so it may meet a
	// store without the column and takes the fallback, an SQL literal, instead.
	since    int
	fallback string
}

// added names columns that came with one version and need no fallback of their own: with the
// first, or together with their table.
func added(since int, names ...string) []column {
	columns := make([]column, len(names))
	for i, name := range names {
		columns[i] = column{name: name, since: since}
	}
	return columns
}

// expression is the column, or its fallback where the store is too old to have it.
func (c column) expression(minor int) string {
	if c.since > minor {
		return c.fallback
	}
	return c.name
}

// selectList names columns, or their fallbacks.
func selectList(columns []column, minor int) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = c.expression(minor)
		if parts[i] != c.name {
			parts[i] += " AS " + c.name
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

// insertStatement takes the values of all columns.
func insertStatement(table string, columns []column) string {
	names := columnNames(columns)
	return "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")"
}

// updateStatement takes the values of all columns, then the id of the row.
func updateStatement(table string, columns []column) string {
	return "UPDATE " + table + " SET " + strings.Join(columnNames(columns), " = ?, ") + " = ? WHERE id = ?"
}

// member is one member of a query and the column that it selects by.
type member struct{ column, value string }

// where turns the members that are set into a WHERE clause.
func where(columns []column, minor int, members ...member) (clause string, arguments []any) {
	expressions := map[string]string{}
	for _, c := range columns {
		expressions[c.name] = c.expression(minor)
	}
	var parts []string
	for _, m := range members {
		if m.value != "" {
			parts = append(parts, expressions[m.column]+" = ?")
			arguments = append(arguments, m.value)
		}
	}
	if len(parts) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(parts, " AND "), arguments
}
