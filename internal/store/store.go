// Package store keeps one record for each data holder: who owns it, where it lives, how it was
// made, what is being done to it and which Terraform state it is attached to. A record outlives
// a lost state file, a killed process and a destroy that retains.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Errors that callers act on.
var (
	// ErrNotFound: there is no such record, by a successful answer of the store.
	ErrNotFound = errors.New("no such record")
	// ErrConflict: the record changed since it was read, or its key is taken.
	ErrConflict = errors.New("the record was changed by somebody else")
	// ErrNewerSchema: the store was written by a newer version of the provider.
	ErrNewerSchema = errors.New("the store was written by a newer version of the provider")
	// ErrCorrupt: the store's file is damaged.
	ErrCorrupt = errors.New("the store is damaged")
	// ErrReadOnly: the store cannot be written.
	ErrReadOnly = errors.New("the store cannot be written")
	// ErrFull: there is no space left where the store lives.
	ErrFull = errors.New("no space left for the store")
	// ErrUnavailable: the store's server does not answer. What a write meant to do is then unknown.
	ErrUnavailable = errors.New("the store does not answer")
	// ErrLockLost: the lock under which a write was to happen is not held any more.
	ErrLockLost = errors.New("the lock was lost")
)

// Store is one place of records, shared by all applies that use it.
//
// Get, Find and Owner are reads: on a store that does not exist yet they answer ErrNotFound,
// nothing and "" and create no file. The first write makes the store and migrates it. Every
// write is fenced: it fails with ErrConflict when the record's revision is not the one that
// was read.
type Store interface {
	// Owner is the random owner id of this store, "" when none was made yet.
	Owner(ctx context.Context) (string, error)
	// EnsureOwner makes the owner id when there is none.
	EnsureOwner(ctx context.Context) (string, error)

	// Get reads one record by its id.
	Get(ctx context.Context, id string) (Record, error)
	// Find reads the records that match every member set in the query, ordered by name.
	Find(ctx context.Context, query Query) ([]Record, error)
	// Insert adds a record and returns it with its first revision and its times. A record of the
	// same Backend, Binding, Owner and Name is ErrConflict.
	Insert(ctx context.Context, record Record) (Record, error)
	// Update replaces a record and returns it with its next revision.
	Update(ctx context.Context, record Record) (Record, error)
	// Delete removes a record and notes who held it, for Deleted. An absent one is success.
	Delete(ctx context.Context, record Record) error
	// Deleted tells whether a record was deleted here within the last 90 days, and the attachment it
	// had then. A read.
	Deleted(ctx context.Context, id string) (attachment string, deleted bool, err error)

	// FindSnapshots reads the entries of the registry of base snapshots that match every member set
	// in the query, newest first.
	FindSnapshots(ctx context.Context, query SnapshotQuery) ([]Snapshot, error)
	// InsertSnapshot adds an entry and returns it with its first revision and its times. It is never
	// the current one.
	InsertSnapshot(ctx context.Context, snapshot Snapshot) (Snapshot, error)
	// UpdateSnapshot replaces an entry, all but whether it is the current one, and returns it with its
	// next revision.
	UpdateSnapshot(ctx context.Context, snapshot Snapshot) (Snapshot, error)
	// PromoteSnapshot replaces an entry and makes it the current one of its lane. The entry that was
	// current before is not any more; both change in one step. An empty Snapshot.ID leaves the lane
	// without a current entry.
	PromoteSnapshot(ctx context.Context, lane string, snapshot Snapshot) (Snapshot, error)
	// DeleteSnapshot removes an entry. An absent one is success.
	DeleteSnapshot(ctx context.Context, snapshot Snapshot) error

	// PutSecret keeps a sealed value of a record under a name, in place of an earlier one. It does not
	// change the record, but is fenced by its revision like any write. What is sealed, and with which
	// key, is the caller's affair: the store must never be given a value that is not.
	PutSecret(ctx context.Context, record Record, name string, sealed []byte) error
	// Secret reads a sealed value; [ErrNotFound] when there is none. Deleting the record removes it.
	Secret(ctx context.Context, record, name string) ([]byte, error)
	// DeleteSecret removes a sealed value. An absent one is success.
	DeleteSecret(ctx context.Context, record Record, name string) error

	// Lock waits for the exclusive lock of key, held across processes until it is released or the
	// process dies, however it dies.
	Lock(ctx context.Context, key string) (Lock, error)

	// Close releases what the store holds open. It may be used again after.
	Close() error
}

// Lock is a held lock.
type Lock interface {
	// Context returns a context for what happens under the lock. A write with it, or with a context
	// made from it, fails with [ErrLockLost] when the lock is not held any more: a server drops the
	// locks of a connection that breaks.
	Context(ctx context.Context) context.Context
	Unlock() error
}

// Record is what the store knows of one data holder.
type Record struct {
	// ID is random and never changes; it also stands among the object's marks.
	ID string
	// Kind is the backends.Kind of the object, as an open string.
	Kind    string
	Backend string
	Binding string // backends.Binding.ID
	Owner   string
	Name    string
	// WorkspaceID is trimmed; "" when the object was named explicitly.
	WorkspaceID string
	Generation  int64
	// Spec is the creation specification as JSON, without secret values.
	Spec json.RawMessage
	// Committed is false from before the first allocation until the object is complete.
	Committed bool
	// Attachment is the token of the Terraform state that owns the object now; "" when detached.
	Attachment string
	// Intent says which operation is under way, as JSON; nil when none.
	Intent json.RawMessage
	// Workspace is what only a workspace runtime has, as JSON; nil for any other data holder.
	Workspace json.RawMessage
	// BaseSnapshot is the id of the snapshot that a workspace runtime was made from, "" when none. It
	// keeps that snapshot from being purged.
	BaseSnapshot string
	// Revision is set by the store.
	Revision  int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Query selects records; a zero member matches all.
type Query struct {
	Backend     string
	Binding     string
	Owner       string
	Name        string
	Kind        string
	WorkspaceID string
	// BaseSnapshot finds the workspaces that were made from a snapshot.
	BaseSnapshot string
}

// The statuses of an entry of the registry.
const (
	SnapshotBaking  = "baking"
	SnapshotReady   = "ready"
	SnapshotFailed  = "failed"
	SnapshotRetired = "retired"
)

// Snapshot is one entry of the registry of base snapshots: one bake of a lane. A lane is a record
// of its own; lanes with equal manifests share the snapshot itself, each by an entry.
type Snapshot struct {
	// ID is random and never changes.
	ID string
	// Lane is the id of the lane's record.
	Lane         string
	Backend      string
	Binding      string // backends.Binding.ID
	Owner        string
	ManifestHash string // lower-case hex
	Version      string
	// SnapshotID is the backend's own; "" until it was made.
	SnapshotID string
	// Status is one of the constants above.
	Status string
	// Current is true for at most one entry of a lane: the one that new workspaces start from.
	Current bool
	// Seed is the name of the sandbox it was, or is being, baked in.
	Seed string
	// Manifest is what was baked, as JSON, without the content of files.
	Manifest json.RawMessage
	// SourceDigest is what the source meant when it was baked, as the backend tells it.
	SourceDigest string
	SizeBytes    int64
	// LastError says why a bake failed.
	LastError string
	// Zero times mean: not yet, or never.
	ReadyAt   time.Time
	RetiredAt time.Time
	ExpiresAt time.Time
	// Revision is set by the store.
	Revision  int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// SnapshotQuery selects entries of the registry; a zero member matches all.
type SnapshotQuery struct {
	Lane         string
	Backend      string
	Binding      string
	Owner        string
	ManifestHash string
	SnapshotID   string
}
