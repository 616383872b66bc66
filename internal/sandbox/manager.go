package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// cleanupTimeout bounds the removal of what a failed or canceled operation made.
const cleanupTimeout = 2 * time.Minute

// Statuses that the lifecycle adds to those of the backends.
const (
	// StatusMissing: a successful answer says that the sandbox is gone.
	StatusMissing backends.Status = "missing"
	// StatusInterrupted: a change was cut short; the next update finishes it.
	StatusInterrupted backends.Status = "interrupted"
	// StatusDeleting: a delete was cut short; the next delete finishes it.
	StatusDeleting backends.Status = "deleting"
)

// The values of DesiredState. The empty string leaves the run state alone.
const (
	DesiredRunning = "running"
	DesiredStopped = "stopped"
)

// Manager carries sandboxes of one backend through their lives. It keeps three things in step: the
// record in the store, the object at the backend and the attachment in a Terraform state.
type Manager struct {
	Backend backends.Backend
	Store   store.Store
	// ExplicitOwner is the configured owner; empty means the store's own.
	ExplicitOwner string
}

// Request is what a create or update asks for.
type Request struct {
	Name        string
	Kind        backends.Kind
	WorkspaceID string // trimmed; empty when named explicitly
	Generation  int64
	Spec        backends.Spec
	// Setup runs once, in order, when the sandbox is made.
	Setup        []backends.Command
	DesiredState string
	// Settings are kept in the record and returned by reads, so that an import knows them.
	Settings json.RawMessage
	// CheckpointTrigger asks an update for a new snapshot when it is neither empty nor the one that
	// the record holds. A create only notes it.
	CheckpointTrigger string
	Retention         Retention
	// Extension makes the sandbox that of a workspace runtime; nil for any other.
	Extension *Extension `json:"-"`
}

// Retention says which checkpoints are kept when a new one is taken.
type Retention struct {
	// KeepLast is how many stay, the new one included; 0 keeps all.
	KeepLast int64 `json:"keep_last,omitempty"`
	// Expiration is the age from which older ones go; 0 means never.
	Expiration time.Duration `json:"expiration,omitempty"`
}

// Result is how a sandbox stands after a create or update.
type Result struct {
	Attachment Attachment
	Observed   backends.Observed
	// CurrentSnapshotID is the newest checkpoint, if any.
	CurrentSnapshotID string
	// Reattached is true when a create found the object and took it over.
	Reattached bool
	// Workspace is what the record keeps of a workspace runtime, nil for any other sandbox.
	Workspace *Workspace
}

func lockKey(backend, name string) string { return "sandbox/" + backend + "/" + name }

// lock serializes everything that changes one sandbox, across processes.
func (m *Manager) lock(ctx context.Context, name string) (context.Context, func() error, error) {
	return m.Lock(ctx, lockKey(m.Backend.Name(), name), ID(m.Backend.Name(), name))
}

// Lock is [Records.Lock].
func (m *Manager) Lock(ctx context.Context, key, what string) (context.Context, func() error, error) {
	return m.records().Lock(ctx, key, what)
}

// Owner is [Records.Owner].
func (m *Manager) Owner(ctx context.Context) (string, error) { return m.records().Owner(ctx) }

// EnsureOwner is [Records.EnsureOwner].
func (m *Manager) EnsureOwner(ctx context.Context) (string, error) {
	return m.records().EnsureOwner(ctx)
}

func (m *Manager) records() Records { return Records{Store: m.Store, ExplicitOwner: m.ExplicitOwner} }

// Records returns the records of ours on this backend that match a query, none where this store has made
// nothing yet. It only reads the store.
func (m *Manager) Records(ctx context.Context, query store.Query) ([]store.Record, error) {
	owner, err := m.Owner(ctx)
	if err != nil || owner == "" {
		return nil, err
	}
	query.Backend, query.Owner = m.Backend.Name(), owner
	return m.Store.Find(ctx, query)
}

// write is [Records.Write].
func (m *Manager) write(ctx context.Context, record *store.Record) error {
	return m.records().Write(ctx, record)
}

// findRecord returns our record of a name in a binding, nil when there is none.
func (m *Manager) findRecord(ctx context.Context, binding, owner, name string) (*store.Record, error) {
	records, err := m.Store.Find(ctx, store.Query{Backend: m.Backend.Name(), Binding: binding, Owner: owner, Name: name})
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, nil
	}
	return &records[0], nil
}

// RecordByID is [Records.ByID].
func (m *Manager) RecordByID(ctx context.Context, id string) (*store.Record, error) {
	return m.records().ByID(ctx, id)
}

// get reads the object; nil without an error means a proven absence.
func (m *Manager) get(ctx context.Context, name string) (*backends.Observed, error) {
	observed, err := m.Backend.Get(ctx, name)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &observed, nil
}

// checkBinding is CheckBinding for a sandbox.
func (m *Manager) checkBinding(ctx context.Context, name, bound string) error {
	return m.CheckBinding(ctx, ID(m.Backend.Name(), name), bound)
}

// CheckBinding refuses every access when the configured place is not the one that the object of an
// id is bound to. It only looks.
func (m *Manager) CheckBinding(ctx context.Context, id, bound string) error {
	if bound == "" {
		return nil
	}
	here, err := m.location(ctx)
	switch {
	case isMissing(err):
		here = backends.Binding{ID: "none", Description: "a place that was never used"}
	case err != nil:
		return err
	case here.ID == bound:
		return nil
	}
	return &Refusal{
		Code:   CodeOtherBinding,
		Detail: fmt.Sprintf("%s is bound to %s, but the configuration now points at %s (%s).", id, bound, here.ID, here.Description),
		Remedy: "Nothing was accessed and nothing left the state. Point the provider back at the place where the object lives, or let go of it with `terraform state rm`.",
	}
}

// location is where the configuration points, without asking there if that can be told without.
func (m *Manager) location(ctx context.Context) (backends.Binding, error) {
	if locator, ok := m.Backend.(backends.Locator); ok {
		return locator.Location()
	}
	return m.Backend.Binding(ctx)
}

// Detached returns a context for clean-up work that a cancellation must not cut short.
func Detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
}

func sortedNames(spec backends.Spec) backends.Spec {
	spec.SecretNames = spec.SortedSecretNames()
	return spec
}
