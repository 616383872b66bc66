package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Answers are checked against the tag `wire`: "required" members must be there and not null, "id"
// members must not be empty either, "nullable" ones must be there. Unknown members are accepted,
// and null counts as absent for all others (section 5).

// decode reads an answer. Its errors name members, never values.
func decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		var wrong *json.UnmarshalTypeError
		switch {
		case errors.As(err, &wrong):
			return fmt.Errorf("its member %q is not of type %s", wrong.Field, wrong.Type)
		case errors.Is(err, errNumber):
			return err
		default:
			return errors.New("it is not the JSON that was expected")
		}
	}
	if isNull(data) {
		return errors.New("it is null")
	}
	if absent := missing(data, reflect.TypeOf(into), ""); len(absent) > 0 {
		slices.Sort(absent)
		return fmt.Errorf("it lacks %s", strings.Join(slices.Compact(absent), ", "))
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// missing returns the paths of required members that data lacks. data is valid for t already.
func missing(data json.RawMessage, t reflect.Type, path string) []string {
	if isNull(data) || (t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(unmarshaler)) {
		return nil
	}
	var absent []string
	switch t.Kind() {
	case reflect.Pointer:
		return missing(data, t.Elem(), path)
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(data, &items) == nil {
			for _, item := range items {
				absent = append(absent, missing(item, t.Elem(), path+"[]")...)
			}
		}
	case reflect.Struct:
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) == nil {
			for i := range t.NumField() {
				absent = append(absent, missingMember(members, t.Field(i), path)...)
			}
		}
	}
	return absent
}

func missingMember(members map[string]json.RawMessage, field reflect.StructField, path string) []string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	value, there := members[name]
	path = strings.TrimPrefix(path+"."+name, ".")
	switch rule := field.Tag.Get("wire"); {
	case rule == "nullable" && !there,
		rule == "required" && isNull(value),
		rule == "id" && (isNull(value) || string(value) == `""`):
		return []string{path}
	}
	return missing(value, field.Type, path)
}

func isNull(data json.RawMessage) bool {
	return len(data) == 0 || bytes.Equal(bytes.TrimSpace(data), []byte("null"))
}
