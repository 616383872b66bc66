package basesnapshot

import (
	"encoding/json"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// contents is what the Spec of a lane's record holds as JSON.
type contents struct {
	// Settings belong to the caller.
	Settings json.RawMessage `json:"settings,omitempty"`
	// Trigger is that of the last request that was carried out: another one asks for a new bake.
	Trigger string `json:"rebake_trigger,omitempty"`
}

// operation names what an intent announces.
type operation string

const (
	baking   operation = "bake"
	deleting operation = "delete"
)

// intent is what the Intent of a lane's record holds as JSON.
type intent struct {
	Operation operation `json:"operation"`
	// Attempt marks the entries that a bake makes. Whoever finishes what a killed one began goes on
	// with its attempt, so that it does not bake once more what was asked for once.
	Attempt string `json:"attempt,omitempty"`
	// Hash and Trigger say what the bake was asked for.
	Hash    string    `json:"manifest_hash,omitempty"`
	Trigger string    `json:"rebake_trigger,omitempty"`
	Since   time.Time `json:"since"`
}

func contentsOf(record store.Record) (contents, error) {
	var c contents
	err := record.Decode(record.Spec, "record", &c)
	return c, err
}

func intentOf(record store.Record) (intent, error) {
	var i intent
	err := record.Decode(record.Intent, "the intent of record", &i)
	return i, err
}

// asksAnew tells whether a request wants a new bake although there may be a snapshot that fits it.
func (c contents) asksAnew(request Request) bool {
	return request.RebakeTrigger != "" && request.RebakeTrigger != c.Trigger
}
