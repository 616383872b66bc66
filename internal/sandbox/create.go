package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Create makes a sandbox or takes over the one that is already there: what a killed create left
// is removed and made anew, a retained or attached one of ours is re-attached with its data.
//
// A failed create has removed what it made; if that failed too the error is a *PartialError. A
// failed re-attach leaves record and data as they were.
func (m *Manager) Create(ctx context.Context, request Request) (result Result, err error) {
	request.Spec = sortedNames(request.Spec)
	request = m.nativeRetention(request)
	spec := creationSpec(request, "")
	gaps := append(m.Backend.Capabilities().Gaps(spec), backends.CheckSpec(m.Backend, request.Kind, spec)...)
	if err := backends.Refuse(m.Backend.Name(), "create sandbox", gaps); err != nil {
		return Result{}, err
	}
	before, err := m.beforeClaim(ctx, request)
	if err != nil {
		return Result{}, err
	}
	ctx, unlock, err := m.lock(ctx, request.Name)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	binding, err := m.Backend.Prepare(ctx)
	if err != nil {
		return Result{}, err
	}
	owner, err := m.EnsureOwner(ctx)
	if err != nil {
		return Result{}, err
	}
	record, err := m.findRecord(ctx, binding.ID, owner, request.Name)
	if err != nil {
		return Result{}, err
	}
	observed, err := m.get(ctx, request.Name)
	if err != nil {
		return Result{}, err
	}
	if err := m.checkTakeover(ctx, request, binding.ID, owner, record, observed); err != nil {
		return Result{}, err
	}
	if err := checkWaited(ID(m.Backend.Name(), request.Name), before, record); err != nil {
		return Result{}, err
	}

	if record != nil {
		pending, err := intentOf(*record)
		if err != nil {
			return Result{}, err
		}
		unfinished := pending != nil && (pending.Operation == creating || pending.Operation == deleting)
		if unfinished {
			if record, err = m.clearUnfinished(ctx, *record, *pending); err != nil {
				return Result{}, err
			}
			observed = nil
		}
	}
	if observed != nil && record == nil {
		if record, err = m.rebuildRecord(ctx, binding.ID, request, *observed); err != nil {
			return Result{}, err
		}
	}
	if record != nil {
		if err := m.settleCheckpoint(ctx, record, observed); err != nil {
			return Result{}, err
		}
	}
	if record != nil && m.sessionLost(*record, observed) {
		return m.restore(ctx, request, *record, "")
	}
	if observed != nil {
		return m.reattach(ctx, request, *record)
	}
	under := origin{binding: binding.ID, owner: owner, reuse: record}
	if record != nil {
		if under.restored, err = m.restoreSource(ctx, request, *record); err != nil {
			return Result{}, err
		}
	}
	return m.makeNew(ctx, request, under)
}

// origin is what a new object is made under.
type origin struct {
	binding, owner string
	// reuse is the record of a predecessor whose volumes or snapshots remain, or whose object is gone.
	reuse *store.Record
	// restored is the workspace snapshot that it is made from, "" for what the request says.
	restored string
	// attachment is the one to keep, "" for a new one.
	attachment string
}

// clearUnfinished removes what a killed create or delete left. It returns the record that is to be
// used again, nil when nothing of it remains.
func (m *Manager) clearUnfinished(ctx context.Context, record store.Record, pending intent) (*store.Record, error) {
	options := backends.DeleteOptions{Volumes: !pending.KeepVolumes, Snapshots: !pending.KeepSnapshots}
	if err := m.Backend.Delete(ctx, marksOf(record), options); err != nil {
		return nil, fmt.Errorf("remove what an interrupted %s left: %w", pending.Operation, err)
	}
	if pending.KeepVolumes || pending.KeepSnapshots {
		return &record, nil
	}
	return nil, m.Store.Delete(ctx, record)
}

// rebuildRecord makes a lost record from the marks on the object and on its checkpoints.
func (m *Manager) rebuildRecord(ctx context.Context, binding string, request Request, observed backends.Observed) (*store.Record, error) {
	kept := contents{Spec: observed.Spec}
	var err error
	if kept.Snapshot, err = m.newestSnapshot(ctx, observed.Marks.Record); err != nil {
		return nil, err
	}
	var workspace json.RawMessage
	if extension := request.Extension; extension != nil {
		kept.SnapshotTemplate = extension.KnownTemplateVersion
		if workspace, err = store.Encode(Workspace{
			State: WorkspaceReady, BaseSnapshotID: extension.BaseSnapshotID, BaseSnapshotVersion: extension.BaseSnapshotVersion,
			TemplateVersion: extension.KnownTemplateVersion,
		}); err != nil {
			return nil, err
		}
	}
	spec, err := store.Encode(kept)
	if err != nil {
		return nil, err
	}
	record, err := m.Store.Insert(ctx, store.Record{
		ID:          observed.Marks.Record,
		Kind:        string(observed.Marks.Kind),
		Backend:     m.Backend.Name(),
		Binding:     binding,
		Owner:       observed.Marks.Owner,
		Name:        observed.Name,
		WorkspaceID: request.WorkspaceID,
		Generation:  request.Generation,
		Spec:        spec,
		Workspace:   workspace,
		Committed:   true,
	})
	if err != nil {
		return nil, err
	}
	return &record, nil
}

// newestSnapshot is the newest checkpoint that carries the mark of a record, "" when there is none.
func (m *Manager) newestSnapshot(ctx context.Context, record string) (string, error) {
	snapshotter, ok := m.Backend.(backends.Snapshotter)
	if !ok || !m.Backend.Capabilities().Snapshot {
		return "", nil
	}
	snapshots, err := snapshotter.ListSnapshots(ctx, record)
	if err != nil || len(snapshots) == 0 {
		return "", err
	}
	newest := slices.MaxFunc(snapshots, func(a, b backends.Snapshot) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return newest.ID, nil
}

// makeNew makes the object under a record that was written first.
func (m *Manager) makeNew(ctx context.Context, request Request, under origin) (Result, error) {
	record, pending, err := m.announceCreate(ctx, request, under)
	if err != nil {
		return Result{}, err
	}
	observed, err := m.build(ctx, request, record, under.restored)
	if err != nil {
		return Result{}, m.undoCreate(ctx, record, pending, err)
	}
	if err := m.complete(ctx, request, &record, observed, under.restored == ""); err != nil {
		return Result{}, m.keepFailed(ctx, record, observed, err)
	}
	finished := record
	finished.Committed, finished.Intent = true, nil
	if err := m.write(ctx, &finished); err != nil {
		return Result{}, m.undoCreate(ctx, record, pending, err)
	}
	record = finished
	if request.Extension != nil && request.DesiredState == DesiredStopped {
		return m.stopNew(ctx, record, observed, request.Retention)
	}
	return resultOf(record, observed)
}

// stopNew stops a new workspace that has to be stopped. Only a complete one can be released.
func (m *Manager) stopNew(ctx context.Context, record store.Record, observed backends.Observed, retention Retention) (Result, error) {
	record, cause := m.release(ctx, record, observed, retention)
	if cause == nil {
		record.Intent = nil
		cause = m.write(ctx, &record)
	}
	if cause == nil {
		observed, cause = m.Backend.Get(ctx, record.Name)
	}
	result, err := resultOf(record, observed)
	if cause = errors.Join(cause, err); cause != nil {
		return Result{}, &PartialError{Result: result, Err: cause}
	}
	return result, nil
}

func (m *Manager) announceCreate(ctx context.Context, request Request, under origin) (store.Record, intent, error) {
	reuse := under.reuse
	pending := intent{Operation: creating, KeepVolumes: reuse != nil, KeepSnapshots: reuse != nil, Since: time.Now().UTC()}
	record := store.Record{
		ID:      NewToken(),
		Kind:    string(request.Kind),
		Backend: m.Backend.Name(),
		Binding: under.binding,
		Owner:   under.owner,
		Name:    request.Name,
	}
	kept := contents{}
	if reuse != nil {
		record = *reuse
		var err error
		if kept, err = contentsOf(*reuse); err != nil {
			return record, pending, err
		}
	}
	record.WorkspaceID, record.Generation = request.WorkspaceID, request.Generation
	record.Committed, record.Attachment = false, under.attachment
	if record.Attachment == "" {
		record.Attachment = NewToken()
	}
	var err error
	if record.Spec, err = store.Encode(kept.renewed(request, request.Spec)); err != nil {
		return record, pending, err
	}
	if record.Intent, err = store.Encode(pending); err != nil {
		return record, pending, err
	}
	if err = claimWorkspace(&record, request, under.restored, kept.SnapshotTemplate); err != nil {
		return record, pending, err
	}
	if reuse != nil {
		record, err = m.Store.Update(ctx, record)
	} else {
		record, err = m.Store.Insert(ctx, record)
	}
	return record, pending, err
}

// AttachmentOf is what a state remembers of a record.
func AttachmentOf(record store.Record) Attachment {
	return Attachment{Record: record.ID, Token: record.Attachment, Binding: record.Binding}
}

// build makes the object, runs the setup and brings it to the run state that was asked for. What is
// restored was set up when it was made first.
func (m *Manager) build(ctx context.Context, request Request, record store.Record, restored string) (backends.Observed, error) {
	observed, err := m.Backend.Create(ctx, marksOf(record), creationSpec(request, restored))
	if err != nil {
		return observed, err
	}
	if restored == "" {
		if err := m.runSetup(ctx, request); err != nil {
			return observed, err
		}
	}
	if request.DesiredState == DesiredStopped && request.Extension == nil {
		if err := m.Backend.Stop(ctx, request.Name); err != nil {
			return observed, err
		}
	}
	return m.arrived(ctx, request)
}

// undoCreate removes what a failed create made, also when ctx was canceled.
func (m *Manager) undoCreate(ctx context.Context, record store.Record, pending intent, cause error) error {
	ctx, cancel := Detached(ctx)
	defer cancel()
	_, err := m.clearUnfinished(ctx, record, pending)
	if err == nil {
		return m.settleUndone(ctx, record, pending, cause)
	}
	result, resultErr := resultOf(record, backends.Observed{Name: record.Name, Marks: marksOf(record)})
	return &PartialError{Result: result, Err: errors.Join(cause, fmt.Errorf("clean up after the failed create: %w", err), resultErr)}
}

// settleUndone puts the record of a predecessor back to what it was: detached, nothing under way.
func (m *Manager) settleUndone(ctx context.Context, record store.Record, pending intent, cause error) error {
	if !pending.KeepVolumes && !pending.KeepSnapshots {
		return cause
	}
	record.Committed, record.Intent, record.Attachment = true, nil, ""
	if _, err := m.Store.Update(ctx, record); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

func resultOf(record store.Record, observed backends.Observed) (Result, error) {
	kept, err := contentsOf(record)
	if err != nil {
		return Result{}, err
	}
	workspace, err := workspaceOf(record)
	return Result{Attachment: AttachmentOf(record), Observed: observed, CurrentSnapshotID: kept.Snapshot, Workspace: workspace}, err
}
