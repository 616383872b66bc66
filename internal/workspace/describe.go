package workspace

import (
	"context"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Subject is who a description is about.
type Subject struct {
	Backend     string
	Name        string
	Kind        backends.Kind
	WorkspaceID string
	Owner       string
}

// Describe returns what applications are told of a sandbox, whether it is that of a workspace or not.
func Describe(subject Subject, view sandbox.View) handle.Object {
	described := handle.Object{
		WorkspaceID: sandbox.NormalizeWorkspaceID(subject.WorkspaceID),
		Backend:     subject.Backend,
		Kind:        string(subject.Kind),
		Name:        subject.Name,
		Owner:       subject.Owner,
		SessionID:   view.Observed.SessionID,
		SnapshotID:  view.CurrentSnapshotID,
		State:       State(view),
		Status:      string(view.Status),
		Workspace:   view.Observed.Workspace,
		User:        view.Observed.Spec.User,
		CreatedAt:   view.Observed.CreatedAt,
	}
	if kept := view.Workspace; kept != nil {
		described.BaseSnapshotID, described.BaseSnapshotVersion = kept.BaseSnapshotID, kept.BaseSnapshotVersion
		described.TemplateVersion = kept.TemplateVersion
	}
	return described
}

// State is how far a workspace runtime is, from its record and its sandbox.
func State(view sandbox.View) handle.State {
	switch {
	case view.Workspace != nil && view.Workspace.State == sandbox.WorkspaceProvisioning && view.Observed.Name == "":
		return handle.StatePending // claimed, and nothing stands yet
	case view.Workspace != nil && view.Workspace.State == sandbox.WorkspaceProvisioning:
		return handle.StateProvisioning
	case view.Workspace != nil && view.Workspace.State == sandbox.WorkspaceError, view.Status == sandbox.StatusMissing:
		return handle.StateError
	case view.Status == backends.StatusRunning:
		return handle.StateReady
	}
	return handle.StateStopped
}

// DescribeRecord is [Describe] for a record.
func DescribeRecord(record store.Record, view sandbox.View) handle.Object {
	// Applications know backends, and reach one on a cloud host by ways of their own.
	backend, _ := sandbox.CutHost(record.Backend)
	described := Describe(Subject{
		Backend: backend, Name: record.Name, Kind: backends.Kind(record.Kind), WorkspaceID: record.WorkspaceID, Owner: record.Owner,
	}, view)
	described.CreatedAt, described.UpdatedAt = record.CreatedAt, record.UpdatedAt
	described.ProvisionLockToken = record.Attachment
	return described
}

// Find returns the record of a workspace's runtime, nil when it has none. Generation 0 means the newest.
// It only reads the store.
func Find(ctx context.Context, manager *sandbox.Manager, workspaceID string, generation int64) (*store.Record, error) {
	records, err := manager.Records(ctx, store.Query{WorkspaceID: sandbox.NormalizeWorkspaceID(workspaceID)})
	if err != nil {
		return nil, err
	}
	var found *store.Record
	for i, record := range records {
		if len(record.Workspace) == 0 || generation != 0 && record.Generation != generation {
			continue
		}
		if found == nil || record.Generation > found.Generation {
			found = &records[i]
		}
	}
	return found, nil
}
