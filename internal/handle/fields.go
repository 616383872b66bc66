package handle

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// fields are the keys of one JSON object. They are matched exactly, unlike the tags of a struct,
// and keys that nobody asks for are ignored: shapes only ever gain keys. The first problem is kept;
// after it every value is zero.
type fields struct {
	shape  Shape
	path   string
	values map[string]json.RawMessage
	failed *error
}

func newFields(values map[string]json.RawMessage) *fields {
	return &fields{values: values, failed: new(error)}
}

func (f *fields) err() error { return *f.failed }

func (f *fields) fail(key, problem string) {
	if *f.failed == nil {
		*f.failed = &KeyError{Shape: f.shape, Key: f.path + key, Problem: problem}
	}
}

// has tells whether a key is there and not null: what absent columns become in a record.
func (f *fields) has(key string) bool {
	value, ok := f.values[key]
	return ok && !bytes.Equal(value, []byte("null"))
}

func (f *fields) read(key, kind string, into any) bool {
	if *f.failed != nil || !f.has(key) {
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(f.values[key]))
	decoder.UseNumber() // large numbers in metadata keep all their digits
	if err := decoder.Decode(into); err != nil {
		f.fail(key, "is not "+kind)
		return false
	}
	return true
}

func (f *fields) text(key string) string {
	var value string
	f.read(key, "a string", &value)
	return value
}

func (f *fields) needText(key string) string {
	value := f.text(key)
	if value == "" {
		f.fail(key, "is missing")
	}
	return value
}

func (f *fields) flag(key string) *bool {
	var value bool
	if !f.read(key, "true or false", &value) {
		return nil
	}
	return &value
}

func (f *fields) number(key string) int64 {
	var value int64
	f.read(key, "a whole number", &value)
	return value
}

// earliest is a bound that no record can be older than. It keeps out the zero time.
const earliest, latest = 1970, 9999

func (f *fields) time(key string) time.Time {
	text := f.text(key)
	if text == "" {
		return time.Time{}
	}
	value, err := time.Parse(time.RFC3339, text)
	value = value.UTC()
	if err != nil || value.Year() < earliest || value.Year() > latest {
		f.fail(key, "is not a time in RFC 3339 form")
		return time.Time{}
	}
	return value
}

func (f *fields) needTime(key string) time.Time {
	value := f.time(key)
	if value.IsZero() {
		f.fail(key, "is missing")
	}
	return value
}

// object returns the keys of a nested object, without any when it is absent.
func (f *fields) object(key string) *fields {
	nested := &fields{shape: f.shape, path: f.path + key + ".", failed: f.failed}
	f.read(key, "an object", &nested.values)
	return nested
}

func (f *fields) needObject(key string) *fields {
	if !f.has(key) {
		f.fail(key, "is missing")
	}
	return f.object(key)
}

func (f *fields) texts(key string) map[string]string {
	nested := f.object(key)
	if len(nested.values) == 0 {
		return nil
	}
	values := make(map[string]string, len(nested.values))
	for _, name := range nested.names() {
		values[name] = nested.text(name)
	}
	return values
}

// names are sorted, so that of several problems the same one is told each time.
func (f *fields) names() []string { return slices.Sorted(maps.Keys(f.values)) }
