package sqlrows

import (
	"strconv"
	"strings"
)

// Dialect is how the statements of an engine differ from those of SQLite.
type Dialect struct {
	// Schema is put before the name of each table, with its dot.
	Schema string
	// Numbered parameters are $1, $2 and so on; others are question marks.
	Numbered bool
	// ForUpdate ends a read of rows that the same transaction is about to write, where transactions
	// run side by side.
	ForUpdate string
	// Taken tells whether a statement failed because a key or an id is there already.
	Taken func(error) bool
}

// statement completes the text of a statement: tables stand in braces, parameters are question
// marks, and neither means anything else in any text here.
func (d Dialect) statement(text string) string {
	text = strings.NewReplacer("{", d.Schema, "}", "").Replace(text)
	if !d.Numbered {
		return text
	}
	parts := strings.Split(text, "?")
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}
