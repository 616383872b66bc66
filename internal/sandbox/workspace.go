package sandbox

import (
	"context"
	"fmt"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// WorkspaceState is how far a workspace runtime is.
type WorkspaceState string

// The states of a workspace runtime that a record can have.
const (
	// WorkspaceProvisioning: claimed, and not usable yet.
	WorkspaceProvisioning WorkspaceState = "provisioning"
	// WorkspaceReady: usable.
	WorkspaceReady WorkspaceState = "ready"
	// WorkspaceError: its sandbox stands, but could not be completed.
	WorkspaceError WorkspaceState = "error"
)

// Workspace is what a record keeps of a workspace runtime beside its sandbox.
type Workspace struct {
	State     WorkspaceState `json:"state"`
	LastError string         `json:"last_error,omitempty"`
	// The base snapshot that the workspace was first made from. Provenance only: it is no source of
	// recovery.
	BaseSnapshotID      string `json:"base_snapshot_id,omitempty"`
	BaseSnapshotVersion string `json:"base_snapshot_version,omitempty"`
	// TemplateVersion is the version of the template that was applied, or migrated to, last.
	TemplateVersion string `json:"template_version,omitempty"`
	// RestoredFrom is the workspace snapshot that the present session was made from.
	RestoredFrom string    `json:"restored_from,omitempty"`
	ReadyAt      time.Time `json:"ready_at,omitzero"`
}

// Extension is what a workspace runtime adds to the requests about its sandbox. Package workspace
// fills it in.
type Extension struct {
	// BaseSnapshotID and BaseSnapshotVersion say what a new workspace starts from; empty: from the
	// source. An existing workspace is never made from them.
	BaseSnapshotID      string
	BaseSnapshotVersion string
	// KnownTemplateVersion is the version of the template that the caller knows to be applied. It
	// counts where the record is lost.
	KnownTemplateVersion string
	// Complete carries a sandbox that stands to a workspace that is ready. It returns what the record
	// keeps, also beside an error.
	Complete func(ctx context.Context, stage Stage) (Workspace, error)
}

// Stage is where a workspace stands when its Complete is called.
type Stage struct {
	Observed  backends.Observed
	Workspace Workspace
	// Fresh is true for a workspace that no Complete ever finished.
	Fresh bool
	// Exec runs a command inside. A stopped sandbox is started for it and stopped again.
	Exec func(ctx context.Context, command backends.Command) (backends.ExecResult, error)
	// Secrets are those that output must not show, as far as they are at hand.
	Secrets map[string]string
}

// workspaceOf reads what a record keeps of a workspace runtime, nil when it is none.
func workspaceOf(record store.Record) (*Workspace, error) {
	if len(record.Workspace) == 0 {
		return nil, nil
	}
	var kept Workspace
	err := record.Decode(record.Workspace, "the workspace in record", &kept)
	return &kept, err
}

// claimWorkspace notes in a record that is about to be written that a workspace is being made.
//
// What is restored has the template that its snapshot was taken with.
func claimWorkspace(record *store.Record, request Request, restored, snapshotTemplate string) error {
	if request.Extension == nil {
		return nil
	}
	before, err := workspaceOf(*record)
	if err != nil {
		return err
	}
	claimed := Workspace{BaseSnapshotID: request.Extension.BaseSnapshotID, BaseSnapshotVersion: request.Extension.BaseSnapshotVersion}
	if before != nil && restored != "" {
		claimed = *before
		claimed.TemplateVersion = snapshotTemplate
	}
	claimed.State, claimed.LastError, claimed.RestoredFrom = WorkspaceProvisioning, "", restored
	record.BaseSnapshot = claimed.BaseSnapshotID
	record.Workspace, err = store.Encode(claimed)
	return err
}

// complete runs the extension of a request on a sandbox that stands, and writes into the record what
// it returns. The record is not stored.
func (m *Manager) complete(ctx context.Context, request Request, record *store.Record, observed backends.Observed, fresh bool) error {
	if request.Extension == nil {
		return nil
	}
	before, err := workspaceOf(*record)
	if err != nil {
		return err
	}
	if before == nil {
		before = &Workspace{}
	}
	kept, err := contentsOf(*record)
	if err != nil {
		return err
	}
	var after Workspace
	work := func(ctx context.Context, observed backends.Observed) (err error) {
		after, err = request.Extension.Complete(ctx, Stage{
			Observed: observed, Workspace: *before, Fresh: fresh, Secrets: request.Spec.Secrets,
			Exec: func(ctx context.Context, command backends.Command) (result backends.ExecResult, err error) {
				command.SecretNames = kept.Spec.SecretNames
				err = m.woken(ctx, observed, func(ctx context.Context) error {
					result, err = m.Backend.Exec(ctx, observed.Name, command)
					return err
				})
				return result, err
			},
		})
		return err
	}
	var cause error
	if before.State != WorkspaceReady && m.Backend.Capabilities().FilesNeedCompute && observed.Status == backends.StatusStopped {
		after = *before
		cause = m.woken(ctx, observed, func(ctx context.Context) error {
			observed.Status = backends.StatusRunning
			return work(ctx, observed)
		})
	} else {
		cause = work(ctx, observed)
	}
	raw, err := store.Encode(after)
	if err != nil {
		return err
	}
	record.Workspace, record.BaseSnapshot = raw, after.BaseSnapshotID
	return cause
}

// keepFailed stores a new workspace that could not be completed. Its record stays uncommitted: the
// next create, and any delete, removes what stands.
func (m *Manager) keepFailed(ctx context.Context, record store.Record, observed backends.Observed, cause error) error {
	ctx, cancel := Detached(ctx)
	defer cancel()
	if err := m.write(ctx, &record); err != nil {
		cause = fmt.Errorf("%w; and the store did not take it: %w", cause, err)
	}
	result, err := resultOf(record, observed)
	if err != nil {
		cause = fmt.Errorf("%w; %w", cause, err)
	}
	return &PartialError{Result: result, Err: cause}
}

// checkWaited reports the failure of the run that this one waited for. before is the record as it was
// before the lock was asked for. Whoever did not wait takes over instead.
func checkWaited(id string, before, after *store.Record) error {
	if before == nil || after == nil || after.Committed {
		return nil
	}
	was, err := workspaceOf(*before)
	if err != nil {
		return err
	}
	is, err := workspaceOf(*after)
	if err != nil {
		return err
	}
	if was == nil || is == nil || was.State != WorkspaceProvisioning || is.State != WorkspaceError {
		return nil
	}
	return &Refusal{
		Code:   CodeProvisionFailed,
		Detail: fmt.Sprintf("Another run was provisioning %s, and it failed: %s", id, is.LastError),
		Remedy: "Mend the cause and apply again: what it left is removed then, and the workspace is made anew.",
	}
}

// beforeClaim returns the record of a workspace as it is before its lock is asked for, nil when there
// is none or the request is for no workspace.
func (m *Manager) beforeClaim(ctx context.Context, request Request) (*store.Record, error) {
	if request.Extension == nil {
		return nil, nil
	}
	binding, err := m.Backend.Binding(ctx)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	records, err := m.Records(ctx, store.Query{Binding: binding.ID, Name: request.Name})
	if err != nil || len(records) == 0 {
		return nil, err
	}
	return &records[0], nil
}
