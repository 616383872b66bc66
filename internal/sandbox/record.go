package sandbox

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
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
	// Saves are the ids of those before Snapshot, oldest first, where nothing else tells whose they are.
	Saves []string `json:"saves,omitempty"`
	// Retention is for the snapshots of a session that is saved where no request says it.
	Retention Retention `json:"retention,omitzero"`
}

// renewed is what the record holds once a request was carried out: its specification and settings, beside
// the checkpoint that there is.
func (c contents) renewed(request Request, spec backends.Spec) contents {
	c.Spec, c.Settings, c.Trigger, c.Retention = spec, request.Settings, request.CheckpointTrigger, request.Retention
	return c
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
	Snapshot string `json:"snapshot,omitempty"`
	// Ran is true when the sandbox ran before a checkpoint that ends its session: it has to run after it.
	Ran   bool      `json:"ran,omitempty"`
	Since time.Time `json:"since"`
}

// NewToken returns 128 random bits in hex: the id of a record, or an attachment.
func NewToken() string {
	var raw [16]byte
	// rand.Read never returns an error since Go 1.24; it ends the process instead.
	_, _ = rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}

func contentsOf(record store.Record) (contents, error) {
	var c contents
	err := record.Decode(record.Spec, "record", &c)
	return c, err
}

func intentOf(record store.Record) (*intent, error) {
	if len(record.Intent) == 0 {
		return nil, nil
	}
	var i intent
	err := record.Decode(record.Intent, "the intent of record", &i)
	return &i, err
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
