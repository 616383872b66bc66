package sqlrows

import (
	"strconv"
	"strings"
)

// Dialect is how the statements of an engine differ from those of SQLite.
type Dialect struct {
	// Numbered parameters are $1, $2 and so on; others are question marks.
	Numbered bool
	// ForUpdate ends a read of rows that the same transaction is about to write, where transactions
	// run side by side.
	ForUpdate string
	// Taken tells whether a statement failed because a key or an id is there already.
	Taken func(error) bool
}

// statement replaces the question marks. No statement here has one for another reason.
func (d Dialect) statement(text string) string {
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
