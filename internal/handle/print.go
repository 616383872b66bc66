package handle

import (
	"bytes"
	"encoding/json"
	"time"
)

// Print writes the record of an object in one shape. The order of the keys is fixed and what is not
// known is left out, so that equal objects give equal bytes. It fails with [*MismatchError] when the
// shape cannot describe the object, and with [*KeyError] when the object lacks what the shape needs.
func Print(shape Shape, object Object) (json.RawMessage, error) {
	var record any
	var err error
	switch shape {
	case VercelPersistent:
		record, err = printVercelPersistent(object)
	case VercelSession:
		record, err = printVercelSession(object)
	case WorkspaceResource:
		record, err = printResource(object)
	case Spawnbox:
		record, err = printSpawnbox(object)
	case Eve:
		record, err = printEve(object)
	case AgentEnv:
		record, err = printAgentEnv(object)
	default:
		return nil, &RecordError{Problem: quote(string(shape)) + " is no shape of a record"}
	}
	if err != nil {
		return nil, err
	}
	return encode(record)
}

// Convert reads a record and prints it in another shape. What the other shape has no key for is
// lost.
func Convert(text string, to Shape) (json.RawMessage, error) {
	object, _, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return Print(to, object)
}

// encode writes as JSON.stringify does: no spaces and no escapes for HTML.
func encode(record any) (json.RawMessage, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(record); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// timeLayout is that of Date.toISOString in JavaScript, which all the shapes use.
const timeLayout = "2006-01-02T15:04:05.000Z"

// FormatTime writes a time as the records do, in UTC and to the millisecond. The zero time is "".
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeLayout)
}

// required is one key that a shape cannot do without.
type required struct{ key, value string }

// need fails on the first key without a value.
func need(shape Shape, keys ...required) error {
	for _, k := range keys {
		if k.value == "" {
			return &KeyError{Shape: shape, Key: k.key, Problem: "has no value in this object"}
		}
	}
	return nil
}
