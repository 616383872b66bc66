package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// View is what a read found, by reads only.
type View struct {
	// Status is the backend's, or StatusMissing, StatusInterrupted or StatusDeleting.
	Status backends.Status
	// Observed is the zero value when the sandbox is missing.
	Observed backends.Observed
	// Deleted is true when this state's own delete was completed, but the answer never reached it.
	Deleted bool
	// Replaced is true when the name now belongs to an object that is not the one in the state.
	Replaced bool
	// TakenOver is true when another Terraform state has attached the object since.
	TakenOver bool
	// Attachment is what the record says; empty when the record is lost.
	Attachment Attachment
	// What the record keeps of the configuration. Empty when the record is lost.
	Recorded          bool
	WorkspaceID       string
	Generation        int64
	Source            backends.Source
	Settings          json.RawMessage
	CurrentSnapshotID string
	// Workspace is what the record keeps of a workspace runtime, nil for any other sandbox.
	Workspace *Workspace
	// SessionLost is true when the files of a workspace's session are gone, and RestoreFrom is the
	// workspace snapshot that it can be made from again, "" when there is none.
	SessionLost bool
	RestoreFrom string
	// LostSecrets are the names of secrets that were handed in and are not there any more.
	LostSecrets []string
}

// Read looks at a sandbox that attachment ties to a state. A failing backend, store or binding is
// an error, never absence.
func (m *Manager) Read(ctx context.Context, name string, attachment Attachment) (View, error) {
	if err := m.checkBinding(ctx, name, attachment.Binding); err != nil {
		return View{}, err
	}
	record, err := m.RecordByID(ctx, attachment.Record)
	if err != nil {
		return View{}, err
	}
	if record != nil {
		// The private state can be lost: core drops it when the plugin dies in an update.
		if err := m.checkBinding(ctx, name, record.Binding); err != nil {
			return View{}, err
		}
	}
	return m.view(ctx, name, attachment, record)
}

// Import looks at a sandbox of ours that no state of the caller holds.
func (m *Manager) Import(ctx context.Context, name string) (View, error) {
	id := ID(m.Backend.Name(), name)
	binding, err := m.Backend.Binding(ctx)
	if isMissing(err) {
		return View{}, &Refusal{Code: CodeMissing, Detail: fmt.Sprintf("There is no %s: nothing was ever made there.", id)}
	}
	if err != nil {
		return View{}, err
	}
	observed, err := m.get(ctx, name)
	if err != nil {
		return View{}, err
	}
	if observed == nil {
		return View{}, &Refusal{Code: CodeMissing, Detail: fmt.Sprintf("There is no %s.", id)}
	}
	owner, err := m.Owner(ctx)
	if err != nil {
		return View{}, err
	}
	if observed.Marks.Owner == "" || observed.Marks.Owner != owner {
		return View{}, notOurs(id, observed.Marks.Owner)
	}
	record, err := m.findRecord(ctx, binding.ID, owner, name)
	if err != nil {
		return View{}, err
	}
	attachment := Attachment{Record: observed.Marks.Record, Binding: binding.ID}
	if record != nil {
		attachment = AttachmentOf(*record)
	}
	view, err := m.view(ctx, name, attachment, record)
	view.Attachment = attachment
	return view, err
}

// Look reads the sandbox of a record as it stands. A failing backend or another binding is an error,
// never absence.
func (m *Manager) Look(ctx context.Context, record store.Record) (View, error) {
	if err := m.checkBinding(ctx, record.Name, record.Binding); err != nil {
		return View{}, err
	}
	return m.view(ctx, record.Name, AttachmentOf(record), &record)
}

func (m *Manager) view(ctx context.Context, name string, attachment Attachment, record *store.Record) (View, error) {
	var view View
	observed, err := m.glance(ctx, name, record)
	if err != nil {
		return view, err
	}
	if observed != nil && attachment.Record != "" && observed.Marks.Record != attachment.Record {
		view.Replaced = true
		observed = nil
	}
	if observed == nil {
		view.Status = StatusMissing
	} else {
		view.Observed, view.Status = *observed, observed.Status
	}
	if record == nil {
		return m.viewUnrecorded(ctx, view, attachment)
	}
	kept, err := contentsOf(*record)
	if err != nil {
		return view, err
	}
	pending, err := intentOf(*record)
	if err != nil {
		return view, err
	}
	view.Recorded = true
	view.Attachment = AttachmentOf(*record)
	view.WorkspaceID, view.Generation = record.WorkspaceID, record.Generation
	view.Source, view.Settings, view.CurrentSnapshotID = kept.Spec.Source, kept.Settings, kept.Snapshot
	if observed != nil {
		// Until its first save a platform's sandbox names what it was made from, which holds none of its data.
		if id := observed.CurrentSnapshotID; id != "" && id != record.BaseSnapshot && id != kept.Spec.Source.SnapshotID {
			view.CurrentSnapshotID = id
		}
	}
	switch {
	case observed == nil || observed.Status == backends.StatusLost:
	case m.Backend.Capabilities().EnvironmentUnreadable:
		view.Observed.Spec.Environment, view.Observed.Spec.SecretNames = kept.Spec.Environment, kept.Spec.SecretNames
	default:
		view.LostSecrets = without(kept.Spec.SecretNames, observed.Spec.SecretNames)
	}
	view.TakenOver = attachment.Token != "" && record.Attachment != "" && record.Attachment != attachment.Token
	if err := m.viewWorkspace(ctx, &view, *record, observed); err != nil {
		return view, err
	}
	switch {
	case pending == nil:
	case pending.Operation == deleting:
		view.Status = StatusDeleting
	case observed != nil, view.Workspace != nil && pending.Operation == creating:
		// The compute of a workspace can be gone in the middle of a restoration.
		view.Status = StatusInterrupted
	}
	return view, nil
}

// glance is get for a sandbox that is only looked at, with its record if there is one.
func (m *Manager) glance(ctx context.Context, name string, record *store.Record) (*backends.Observed, error) {
	glancer, ok := m.Backend.(backends.Glancer)
	if !ok || record == nil {
		return m.get(ctx, name)
	}
	kept, err := contentsOf(*record)
	if err != nil {
		return nil, err
	}
	observed, err := glancer.Glance(ctx, name, kept.Spec)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &observed, nil
}

// viewWorkspace adds what the record keeps of a workspace runtime.
func (m *Manager) viewWorkspace(ctx context.Context, view *View, record store.Record, observed *backends.Observed) (err error) {
	if view.Workspace, err = workspaceOf(record); err != nil || view.Workspace == nil {
		return err
	}
	if view.SessionLost = m.sessionLost(record, observed); view.SessionLost {
		view.RestoreFrom, err = m.restorable(ctx, record)
	}
	if observed == nil && view.RestoreFrom != "" {
		view.Status = backends.StatusLost
	}
	return err
}

// viewUnrecorded tells a lost record from a deleted one. Only what this state's own attachment
// deleted is done with; what another state deleted is missing here.
func (m *Manager) viewUnrecorded(ctx context.Context, view View, attachment Attachment) (View, error) {
	if view.Status != StatusMissing || attachment.Token == "" {
		return view, nil
	}
	holder, deleted, err := m.Store.Deleted(ctx, attachment.Record)
	view.Deleted = deleted && holder == attachment.Token
	return view, err
}

// without returns the values that are not among others.
func without(values, others []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool { return slices.Contains(others, value) })
}
