package workspace

import (
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// TestState: five states, told from the claim and from what stands, and none stands for another.
func TestState(t *testing.T) {
	t.Parallel()
	claim := func(state sandbox.WorkspaceState) *sandbox.Workspace { return &sandbox.Workspace{State: state} }
	there := backends.Observed{Name: "box"}
	for name, c := range map[string]struct {
		view sandbox.View
		want handle.State
	}{
		"claimed, and nothing stands":   {sandbox.View{Workspace: claim(sandbox.WorkspaceProvisioning), Status: sandbox.StatusMissing}, handle.StatePending},
		"claimed, and a sandbox runs":   {sandbox.View{Workspace: claim(sandbox.WorkspaceProvisioning), Observed: there, Status: backends.StatusRunning}, handle.StateProvisioning},
		"ready and running":             {sandbox.View{Workspace: claim(sandbox.WorkspaceReady), Observed: there, Status: backends.StatusRunning}, handle.StateReady},
		"ready and stopped":             {sandbox.View{Workspace: claim(sandbox.WorkspaceReady), Observed: there, Status: backends.StatusStopped}, handle.StateStopped},
		"ready and lost, to restore":    {sandbox.View{Workspace: claim(sandbox.WorkspaceReady), Status: backends.StatusLost}, handle.StateStopped},
		"ready once and gone":           {sandbox.View{Workspace: claim(sandbox.WorkspaceReady), Status: sandbox.StatusMissing}, handle.StateError},
		"failed, though a sandbox runs": {sandbox.View{Workspace: claim(sandbox.WorkspaceError), Observed: there, Status: backends.StatusRunning}, handle.StateError},
		"no workspace, running":         {sandbox.View{Observed: there, Status: backends.StatusRunning}, handle.StateReady},
		"no workspace, stopped":         {sandbox.View{Observed: there, Status: backends.StatusStopped}, handle.StateStopped},
	} {
		if got := State(c.view); got != c.want {
			t.Errorf("%s: it is %q, want %q", name, got, c.want)
		}
	}
}

// TestDescribeRecord: applications are told the name as the identity of what persists, the session as
// metadata, and where it came from as provenance.
func TestDescribeRecord(t *testing.T) {
	t.Parallel()
	made, changed := time.Date(2026, 4, 30, 1, 0, 0, 0, time.UTC), time.Date(2026, 4, 30, 2, 0, 0, 0, time.UTC)
	record := store.Record{
		ID: "record-1", Kind: "persistent", Backend: "docker", Owner: "team", Name: "sandlot-dev-ws-60c5590f72ee", WorkspaceID: " w1 ",
		Attachment: "token-1", CreatedAt: made, UpdatedAt: changed,
	}
	view := sandbox.View{
		Status:            backends.StatusRunning,
		Observed:          backends.Observed{Name: record.Name, SessionID: "session-1", Workspace: "/workspace", Status: backends.StatusRunning, CreatedAt: made.Add(time.Hour)},
		Workspace:         &sandbox.Workspace{State: sandbox.WorkspaceReady, BaseSnapshotID: "base-1", BaseSnapshotVersion: "v1", TemplateVersion: "7"},
		CurrentSnapshotID: "snapshot-1",
	}
	printed, err := handle.Print(handle.WorkspaceResource, DescribeRecord(record, view))
	const want = `{"workspaceId":"w1","provider":"docker","resourceKind":"sandbox","handleKind":"persistent-name","handle":"sandlot-dev-ws-60c5590f72ee",` +
		`"currentSessionId":"session-1","currentSnapshotId":"snapshot-1","baseSnapshotId":"base-1","baseSnapshotVersion":"v1","templateVersion":"7",` +
		`"state":"ready","status":"running","provisionLockToken":"token-1","createdAt":"2026-04-30T01:00:00.000Z","updatedAt":"2026-04-30T02:00:00.000Z"}`
	if err != nil || string(printed) != want {
		t.Errorf("got  %s, %v\nwant %s", printed, err, want)
	}
	record.Kind, view.Observed.SessionID = "session", "session-2"
	object := DescribeRecord(record, view)
	if object.HandleKind() != "session" || object.Handle() != record.Name || object.SessionID != "session-2" {
		t.Errorf("the session is told as %+v", object)
	}
}

// TestNoSnapshotUnasked: neither provisioning, nor an update, a stop, a start, a retaining destroy or a
// re-attachment takes a snapshot of what persists. Only a checkpoint does, when it is asked for.
func TestNoSnapshotUnasked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := persistent("w1").with(func(w *wish) { w.Base = p.base() })
	made := p.provision(w)
	taken := func() int {
		t.Helper()
		found, err := p.backend.ListSnapshots(t.Context(), made.Attachment.Record)
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	wants := func(after string, want int) {
		t.Helper()
		if got := taken(); got != want {
			t.Errorf("after %s there are %d snapshots, want %d", after, got, want)
		}
	}
	wants("provisioning", 0)
	p.update(made.Attachment, w.with(func(w *wish) { w.Request.Spec.Environment = map[string]string{"A": "1"} }))
	wants("an update", 0)
	p.update(made.Attachment, w.with(func(w *wish) { w.Request.DesiredState = sandbox.DesiredStopped }))
	wants("a stop", 0)
	p.update(made.Attachment, w.with(func(w *wish) { w.Request.DesiredState = sandbox.DesiredRunning }))
	wants("a start", 0)
	p.delete(w, made.Attachment, false, sandbox.Retained)
	wants("a destroy that retains", 0)
	again := p.provision(w)
	wants("a re-attachment", 0)
	p.update(again.Attachment, w.with(func(w *wish) { w.Request.CheckpointTrigger = "now" }))
	wants("a checkpoint", 1)

	// A session that runs is not saved either, until it has to stop.
	s := session("w2")
	made = p.provision(s)
	p.update(made.Attachment, s.with(func(w *wish) { w.Request.Spec.Environment = map[string]string{"A": "1"} }))
	wants("provisioning and an update of a session", 0)
}
