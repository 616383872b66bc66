package vercel

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// decodeBody reads a JSON object into target. Keys that begin with two underscores are private to the
// vendor and ignored; other unknown ones are refused, and so are nulls, but for those in nullable.
// An empty body is an empty object.
func decodeBody(body []byte, target any, nullable ...string) error {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(body, &keys); err != nil || keys == nil {
		return badRequest("the body should be a JSON object")
	}
	for name, value := range keys {
		if strings.HasPrefix(name, "__") {
			delete(keys, name)
			continue
		}
		if string(value) == "null" && !slices.Contains(nullable, name) {
			return badRequest("`%s` should not be null", name)
		}
	}
	cleaned, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	return decodeStrictly(cleaned, target, "")
}

// decodeStrictly refuses unknown properties and wrong types. at is the path of the content, for the
// message.
func decodeStrictly(content []byte, target any, at string) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(target)
	if err == nil {
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return badRequest("the body should be one JSON value")
		}
		return nil
	}
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return badRequest("`%s` should not be %s", strings.Trim(at+"."+mistyped.Field, "."), mistyped.Value)
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return badRequest("should NOT have additional property %s", name)
	}
	return badRequest("the body cannot be decoded: %v", err)
}
