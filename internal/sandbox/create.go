package sandbox

import (
	"context"
	"errors"
	"fmt"
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
	if err := backends.Refuse(m.Backend.Name(), "create sandbox", m.Backend.Capabilities().Gaps(request.Spec)); err != nil {
		return Result{}, err
	}
	unlock, err := m.lock(ctx, request.Name)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	binding, err := m.Backend.Prepare(ctx)
	if err != nil {
		return Result{}, err
	}
	owner, err := m.ensureOwner(ctx)
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
	if observed != nil {
		if record == nil {
			record, err = m.rebuildRecord(ctx, binding.ID, request, *observed)
			if err != nil {
				return Result{}, err
			}
		}
		return m.reattach(ctx, request, *record)
	}
	return m.makeNew(ctx, request, binding.ID, owner, record)
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

// rebuildRecord makes a lost record from the marks on the object.
func (m *Manager) rebuildRecord(ctx context.Context, binding string, request Request, observed backends.Observed) (*store.Record, error) {
	spec, err := encode(contents{Spec: observed.Spec})
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
		Committed:   true,
	})
	if err != nil {
		return nil, err
	}
	return &record, nil
}

// makeNew makes the object under a record that was written first. reuse is the record of a
// predecessor whose volumes or snapshots remain, or whose object is gone.
func (m *Manager) makeNew(ctx context.Context, request Request, binding, owner string, reuse *store.Record) (Result, error) {
	record, pending, err := m.announceCreate(ctx, request, binding, owner, reuse)
	if err != nil {
		return Result{}, err
	}
	observed, err := m.build(ctx, request, record)
	if err != nil {
		return Result{}, m.undoCreate(ctx, record, pending, err)
	}
	record.Committed, record.Intent = true, nil
	record, err = m.Store.Update(ctx, record)
	if err != nil {
		return Result{}, m.undoCreate(ctx, record, pending, err)
	}
	return resultOf(record, observed)
}

func (m *Manager) announceCreate(ctx context.Context, request Request, binding, owner string, reuse *store.Record) (store.Record, intent, error) {
	pending := intent{Operation: creating, KeepVolumes: reuse != nil, KeepSnapshots: reuse != nil, Since: time.Now().UTC()}
	record := store.Record{
		ID:      newToken(),
		Kind:    string(request.Kind),
		Backend: m.Backend.Name(),
		Binding: binding,
		Owner:   owner,
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
	record.Committed, record.Attachment = false, newToken()
	var err error
	if record.Spec, err = encode(contents{Spec: request.Spec, Settings: request.Settings, Snapshot: kept.Snapshot, Trigger: request.CheckpointTrigger}); err != nil {
		return record, pending, err
	}
	if record.Intent, err = encode(pending); err != nil {
		return record, pending, err
	}
	if reuse != nil {
		record, err = m.Store.Update(ctx, record)
	} else {
		record, err = m.Store.Insert(ctx, record)
	}
	return record, pending, err
}

// attachmentOf is what a state remembers of a record.
func attachmentOf(record store.Record) Attachment {
	return Attachment{Record: record.ID, Token: record.Attachment, Binding: record.Binding}
}

// build makes the object, runs the setup and brings it to the run state that was asked for.
func (m *Manager) build(ctx context.Context, request Request, record store.Record) (backends.Observed, error) {
	observed, err := m.Backend.Create(ctx, marksOf(record), request.Spec)
	if err != nil {
		return observed, err
	}
	if err := m.runSetup(ctx, request); err != nil {
		return observed, err
	}
	if request.DesiredState == DesiredStopped {
		if err := m.Backend.Stop(ctx, request.Name); err != nil {
			return observed, err
		}
	}
	return m.arrived(ctx, request)
}

// undoCreate removes what a failed create made, also when ctx was canceled.
func (m *Manager) undoCreate(ctx context.Context, record store.Record, pending intent, cause error) error {
	ctx, cancel := detached(ctx)
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
	return Result{Attachment: attachmentOf(record), Observed: observed, CurrentSnapshotID: kept.Snapshot}, err
}
