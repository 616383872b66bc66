package basesnapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// contents is what the Spec of a lane's record holds as JSON.
type contents struct {
	// Settings belong to the caller.
	Settings json.RawMessage `json:"settings,omitempty"`
	// Trigger and Checks are those of the last request that was carried out: other ones ask for a new
	// bake.
	Trigger string `json:"rebake_trigger,omitempty"`
	Checks  string `json:"smoke_checks"`
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
	// Hash, Trigger and Checks say what the bake was asked for.
	Hash    string    `json:"manifest_hash,omitempty"`
	Trigger string    `json:"rebake_trigger,omitempty"`
	Checks  string    `json:"smoke_checks,omitempty"`
	Since   time.Time `json:"since"`
}

func encode(value any) (json.RawMessage, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return raw, nil
}

func contentsOf(record store.Record) (contents, error) {
	var c contents
	if len(record.Spec) == 0 {
		return c, nil
	}
	if err := json.Unmarshal(record.Spec, &c); err != nil {
		return c, fmt.Errorf("record %s of %s/%s cannot be read: %w", record.ID, record.Backend, record.Name, err)
	}
	return c, nil
}

func intentOf(record store.Record) (intent, error) {
	var i intent
	if len(record.Intent) == 0 {
		return i, nil
	}
	if err := json.Unmarshal(record.Intent, &i); err != nil {
		return i, fmt.Errorf("the intent of record %s of %s/%s cannot be read: %w", record.ID, record.Backend, record.Name, err)
	}
	return i, nil
}

func attachmentOf(record store.Record) sandbox.Attachment {
	return sandbox.Attachment{Record: record.ID, Token: record.Attachment, Binding: record.Binding}
}

// checksDigest stands for smoke checks where they are compared. It cannot fail: they are text.
func checksDigest(checks []SmokeCheck) string {
	raw, _ := json.Marshal(checks)
	if len(checks) == 0 {
		raw = nil
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// asksAnew tells whether a request wants a new bake although the manifest is the same.
func (c contents) asksAnew(request Request) bool {
	return request.RebakeTrigger != "" && request.RebakeTrigger != c.Trigger || checksDigest(request.Checks) != c.Checks
}
