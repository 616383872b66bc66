package hetzner

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// decodeBody reads a JSON object into target. An empty body is an empty object. The removed field
// datacenter is ignored or refused; other unknown fields are refused, so that a misspelled one shows.
func (c *call) decodeBody(target any) error {
	if len(bytes.TrimSpace(c.body)) == 0 {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(c.body, &fields); err != nil {
		return invalidAlone("the body is not a JSON object")
	}
	if _, given := fields["datacenter"]; given {
		if c.settings.RefuseDatacenter {
			return invalid("datacenter", "Unknown field.")
		}
		delete(fields, "datacenter")
	}
	content, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(target)
	var mistyped *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &mistyped):
		return invalid(mistyped.Field, "Not a valid %s.", mistyped.Type)
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return invalid(strings.Trim(name, `"`), "Unknown field.")
	}
	return invalidAlone("the body cannot be decoded: %v", err)
}

// reference is the id or the name of an object: a JSON number or string. A string of digits is an id.
type reference string

func (r *reference) UnmarshalJSON(content []byte) error {
	var text string
	if json.Unmarshal(content, &text) == nil {
		*r = reference(text)
		return nil
	}
	var number int64
	if err := json.Unmarshal(content, &number); err != nil {
		return err
	}
	*r = reference(strconv.FormatInt(number, 10))
	return nil
}
