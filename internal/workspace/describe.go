package workspace

import (
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
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
	case view.Workspace != nil && view.Workspace.State == sandbox.WorkspaceProvisioning:
		return handle.StateProvisioning
	case view.Workspace != nil && view.Workspace.State == sandbox.WorkspaceError, view.Status == sandbox.StatusMissing:
		return handle.StateError
	case view.Status == backends.StatusRunning:
		return handle.StateReady
	}
	return handle.StateStopped
}
