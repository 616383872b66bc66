package store

import (
	"encoding/json"
	"fmt"
)

// Encode writes a document of a record.
func Encode(value any) (json.RawMessage, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return raw, nil
}

// Decode reads a document of a record, which name calls in errors. An absent one leaves into as it is.
func (r Record) Decode(document json.RawMessage, name string, into any) error {
	if len(document) == 0 {
		return nil
	}
	if err := json.Unmarshal(document, into); err != nil {
		return fmt.Errorf("%s %s of %s/%s cannot be read: %w", name, r.ID, r.Backend, r.Name, err)
	}
	return nil
}
