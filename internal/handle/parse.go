package handle

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MaxBytes is the largest record that [Parse] reads.
const MaxBytes = 1 << 20

// Parse reads a record of any shape and tells which one it is. Keys that are not known are ignored,
// those that came later may be absent, and null is the same as absent. It fails with [*RecordError]
// on a text that is no record and with [*KeyError] on a key that is wrong. Errors name keys, and
// values only where they say which shape was meant.
func Parse(text string) (Object, Shape, error) {
	if len(text) > MaxBytes {
		return Object{}, "", &RecordError{Problem: fmt.Sprintf("the record has %d bytes: allowed are at most %d", len(text), MaxBytes)}
	}
	values, err := decode(text)
	if err != nil {
		return Object{}, "", err
	}
	record := newFields(values)
	if record.shape, err = recognize(record); err != nil {
		return Object{}, "", err
	}
	object := parsers[record.shape](record)
	if record.err() != nil {
		return Object{}, record.shape, record.err()
	}
	return object, record.shape, nil
}

var parsers = map[Shape]func(*fields) Object{
	VercelPersistent:  parseVercelPersistent,
	VercelSession:     parseVercelSession,
	WorkspaceResource: parseResource,
	Spawnbox:          parseSpawnbox,
	Eve:               parseEve,
	AgentEnv:          parseAgentEnv,
}

func decode(text string) (map[string]json.RawMessage, error) {
	var values map[string]json.RawMessage
	err := json.Unmarshal([]byte(text), &values)
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType), err == nil && values == nil:
		return nil, &RecordError{Problem: "the record is not a JSON object"}
	case err != nil:
		// The decoder's own message would repeat a character of the record.
		return nil, &RecordError{Problem: "the record is not valid JSON"}
	}
	return values, nil
}

// recognize goes by the keys that only one shape has. A record without a kind is the oldest shape,
// from before there was more than one.
func recognize(record *fields) (Shape, error) {
	var kind string
	if record.has("kind") {
		if err := json.Unmarshal(record.values["kind"], &kind); err != nil {
			return "", &RecordError{Problem: "the key `kind` of the record is not a string"}
		}
	}
	switch {
	case kind == string(VercelPersistent), kind == string(VercelSession):
		return Shape(kind), nil
	case record.has("backendName"):
		return Eve, nil
	case record.has("spec"):
		return AgentEnv, nil
	case record.has("resourceKind"), record.has("handle"):
		return WorkspaceResource, nil
	case record.has("driver"):
		return Spawnbox, nil
	case kind != "":
		return "", &RecordError{Problem: fmt.Sprintf("the key `kind` of the record is %s: known are %q and %q", quote(kind), VercelPersistent, VercelSession)}
	case record.has("workspaceId"), record.has("sandboxId"):
		return VercelSession, nil
	}
	return "", &RecordError{Problem: "the record has none of the keys by which a shape is known: `kind`, `workspaceId`, `handle`, `driver`, `backendName`, `spec`"}
}
