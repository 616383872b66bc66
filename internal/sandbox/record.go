package sandbox

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Attachment ties a Terraform state to a record. It is kept in private state.
type Attachment struct {
	Record  string `json:"record"`
	Token   string `json:"token"`
	Binding string `json:"binding"`
}

// contents is what Record.Spec holds as JSON.
type contents struct {
	Spec backends.Spec `json:"spec"`
	// Settings belong to the caller: what the configuration said that no backend can tell.
	Settings json.RawMessage `json:"settings,omitempty"`
	// Snapshot is the id of the newest checkpoint, Trigger the text that asked for it.
	Snapshot string `json:"snapshot,omitempty"`
	Trigger  string `json:"trigger,omitempty"`
	// SnapshotTemplate is the version of the template that a workspace had when that was taken.
	SnapshotTemplate string `json:"snapshot_template,omitempty"`
}

// operation names what an intent announces.
type operation string

const (
	creating operation = "create"
	changing operation = "change"
	deleting operation = "delete"
)

// intent is what Record.Intent holds as JSON: written before the first step of an operation and
// removed after its last, so that a killed run is seen and finished by the next.
type intent struct {
	Operation operation `json:"operation"`
	// KeepVolumes and KeepSnapshots: they existed before this operation, so that undoing it
	// leaves them alone.
	KeepVolumes   bool `json:"keep_volumes,omitempty"`
	KeepSnapshots bool `json:"keep_snapshots,omitempty"`
	// Purge tells a delete that removes everything from one that retains.
	Purge bool `json:"purge,omitempty"`
	// Snapshot is the id of a checkpoint under way.
	Snapshot string    `json:"snapshot,omitempty"`
	Since    time.Time `json:"since"`
}

// NewToken returns 128 random bits in hex: the id of a record, or an attachment.
func NewToken() string {
	var raw [16]byte
	// rand.Read never returns an error since Go 1.24; it ends the process instead.
	_, _ = rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
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

func intentOf(record store.Record) (*intent, error) {
	if len(record.Intent) == 0 {
		return nil, nil
	}
	var i intent
	if err := json.Unmarshal(record.Intent, &i); err != nil {
		return nil, fmt.Errorf("the intent of record %s of %s/%s cannot be read: %w", record.ID, record.Backend, record.Name, err)
	}
	return &i, nil
}

func marksOf(record store.Record) backends.Marks {
	marks := backends.Marks{
		Owner:  record.Owner,
		Name:   record.Name,
		Kind:   backends.Kind(record.Kind),
		Record: record.ID,
	}
	if record.WorkspaceID != "" {
		marks.Workspace = WorkspaceHash(record.WorkspaceID)
	}
	return marks
}
