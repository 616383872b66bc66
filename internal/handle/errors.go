package handle

import (
	"fmt"
	"strings"
)

// MismatchError says that a shape cannot describe an object.
type MismatchError struct {
	Shape   Shape
	Backend string // of the object; "" when unknown
	Kind    string // of the object; "" when unknown
	// Wants is what the shape describes, and Remedy what to do instead, each a sentence without its
	// full stop.
	Wants  string
	Remedy string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("the shape %s does not fit an object of the kind %s on the backend %s. %s. %s",
		e.Shape, known(e.Kind), known(e.Backend), e.Wants, e.Remedy)
}

func known(value string) string {
	if value == "" {
		return "(unknown)"
	}
	return quote(value)
}

// KeyError says what is wrong with one key of a record, read or to be printed.
type KeyError struct {
	Shape Shape
	// Key is the path of the key, joined by dots.
	Key     string
	Problem string // for example "is missing"
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("the key `%s` of the shape %s %s", e.Key, e.Shape, e.Problem)
}

// RecordError says why a text is no record of any shape.
type RecordError struct{ Problem string }

func (e *RecordError) Error() string { return e.Problem }

const longestQuote = 64 // bytes

// quote keeps messages short, whatever the record holds.
func quote(text string) string {
	if len(text) > longestQuote {
		text = strings.ToValidUTF8(text[:longestQuote], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}

// EnvironmentError says which variable cannot be told.
type EnvironmentError struct{ Variable, Problem string }

func (e *EnvironmentError) Error() string {
	return fmt.Sprintf("the variable %s %s", e.Variable, e.Problem)
}
