package sandbox

import (
	"context"
	"fmt"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// sessionLost tells whether the files of a workspace's session are gone: with the session itself, or
// by a stop that empties it.
func (m *Manager) sessionLost(record store.Record, observed *backends.Observed) bool {
	if len(record.Workspace) == 0 || record.Kind != string(backends.Session) || !record.Committed {
		return false
	}
	return observed == nil || observed.Status == backends.StatusStopped && m.Backend.Capabilities().StopEmptiesSession
}

// restorable returns the workspace snapshot that a lost session can be made from again, "" when
// there is none. It only reads.
func (m *Manager) restorable(ctx context.Context, record store.Record) (string, error) {
	kept, err := contentsOf(record)
	if err != nil || kept.Snapshot == "" {
		return "", err
	}
	snapshotter, ok := m.Backend.(backends.Snapshotter)
	if !ok {
		return "", nil
	}
	_, err = snapshotter.GetSnapshot(ctx, kept.Snapshot)
	if isMissing(err) || backends.KindOf(err) == backends.Expired {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return kept.Snapshot, nil
}

// restoreSource decides what the compute of a workspace is made from. A workspace that was ready once
// is made from its own snapshot or not at all: neither empty, nor from the base.
func (m *Manager) restoreSource(ctx context.Context, request Request, record store.Record) (string, error) {
	if request.Extension == nil {
		return "", nil
	}
	snapshot, err := m.restorable(ctx, record)
	if err != nil || snapshot != "" {
		return snapshot, err
	}
	kept, err := contentsOf(record)
	if err != nil {
		return "", err
	}
	lost := "it has no snapshot of its own"
	if kept.Snapshot != "" {
		lost = fmt.Sprintf("its snapshot %s is gone or has expired", kept.Snapshot)
	}
	id := ID(m.Backend.Name(), record.Name)
	return "", &Refusal{
		Code:   CodeWorkspaceLost,
		Detail: fmt.Sprintf("%s is gone, and %s. It is made anew neither empty nor from the base snapshot, since its data would be missing unseen.", id, lost),
		Remedy: fmt.Sprintf("To start over beside it, raise `generation` to %d.", record.Generation+1),
	}
}

// creationSpec is the specification that the backend makes the object from: a snapshot takes the
// place of the source.
func creationSpec(request Request, restored string) backends.Spec {
	spec := request.Spec
	switch {
	case restored != "":
		spec.Source = backends.Source{SnapshotID: restored}
	case request.Extension != nil && request.Extension.BaseSnapshotID != "":
		spec.Source = backends.Source{SnapshotID: request.Extension.BaseSnapshotID}
	}
	return spec
}

// restore makes a lost session of a workspace again, from its own snapshot. attachment is the one that
// an update keeps, "" for a new one.
func (m *Manager) restore(ctx context.Context, request Request, record store.Record, attachment string) (Result, error) {
	// Whether there is something to restore from is known before the rest of the compute goes.
	restored, err := m.restoreSource(ctx, request, record)
	if err != nil {
		return Result{}, err
	}
	if err := m.Backend.Delete(ctx, marksOf(record), backends.DeleteOptions{}); err != nil {
		return Result{}, err
	}
	result, err := m.makeNew(ctx, request, origin{binding: record.Binding, owner: record.Owner, reuse: &record, restored: restored, attachment: attachment})
	if err != nil {
		return result, fmt.Errorf("restore %s: %w", ID(m.Backend.Name(), record.Name), err)
	}
	return result, nil
}

// release lets go of a workspace's compute and keeps its data: a session whose files a stop would
// empty is saved first. retention is for the snapshots of such saves.
func (m *Manager) release(ctx context.Context, record store.Record, observed backends.Observed, retention Retention) (store.Record, error) {
	if err := m.settleCheckpoint(ctx, &record, &observed); err != nil {
		return record, err
	}
	if record.Kind == string(backends.Session) && observed.Running() && m.Backend.Capabilities().StopEmptiesSession {
		var err error
		if record, err = m.saveSession(ctx, record, observed, retention); err != nil {
			return record, err
		}
	}
	if err := m.Backend.Stop(ctx, record.Name); err != nil && !isMissing(err) {
		return record, err
	}
	return record, nil
}

// saveSession takes a snapshot and notes it. It is always a new one: what a killed run saved may be
// older than the files are now.
func (m *Manager) saveSession(ctx context.Context, record store.Record, observed backends.Observed, retention Retention) (store.Record, error) {
	pending := intent{Operation: changing, Snapshot: m.nextCheckpoint(observed), Since: time.Now().UTC()}
	var err error
	if record.Intent, err = store.Encode(pending); err != nil {
		return record, err
	}
	if err := m.write(ctx, &record); err != nil {
		return record, err
	}
	saved, err := m.checkpoint(ctx, record, pending.Snapshot, Retention{})
	if err != nil {
		return record, err
	}
	pending.Snapshot = ""
	if record.Intent, err = store.Encode(pending); err != nil {
		return record, err
	}
	if err := m.noteSaved(ctx, &record, saved, retention); err != nil {
		return record, err
	}
	return record, m.prune(ctx, record, saved, retention)
}

// forgetSnapshot deletes a snapshot that only the record knew, where snapshots carry no marks to find
// them by later.
func (m *Manager) forgetSnapshot(ctx context.Context, record store.Record, id string) error {
	snapshotter, ok := m.Backend.(backends.Snapshotter)
	if !ok || id == "" || !m.Backend.Capabilities().UnmarkedSnapshots {
		return nil
	}
	return snapshotter.DeleteSnapshot(ctx, marksOf(record), id)
}

// updateLost updates a workspace whose session is lost, or whose restoration was cut short: it is
// restored, or only its record is changed when it has to be stopped. done is false for any other.
func (m *Manager) updateLost(ctx context.Context, request Request, record *store.Record, observed *backends.Observed, attachment string) (done bool, result Result, err error) {
	pending, err := intentOf(*record)
	if err != nil {
		return false, Result{}, err
	}
	unfinished := pending != nil && pending.Operation == creating
	if unfinished {
		cleared, err := m.clearUnfinished(ctx, *record, *pending)
		if err != nil {
			return true, Result{}, err
		}
		if cleared == nil {
			result, err = m.makeNew(ctx, request, origin{binding: record.Binding, owner: record.Owner, attachment: attachment})
			return true, result, err
		}
		*record = *cleared
	}
	switch {
	case !unfinished && !m.sessionLost(*record, observed):
		return false, Result{}, nil
	case request.DesiredState == DesiredRunning, request.DesiredState == "" && (observed == nil || pending != nil && pending.Ran), unfinished:
		result, err = m.restore(ctx, request, *record, attachment)
		return true, result, err
	case observed != nil:
		return false, Result{}, nil
	}
	kept, err := contentsOf(*record)
	if err != nil {
		return true, Result{}, err
	}
	if record.Spec, err = store.Encode(kept.renewed(request, request.Spec)); err != nil {
		return true, Result{}, err
	}
	record.Intent = nil
	if err := m.write(ctx, record); err != nil {
		return true, Result{}, err
	}
	result, err = resultOf(*record, backends.Observed{Name: record.Name, Marks: marksOf(*record), Status: backends.StatusStopped})
	return true, result, err
}
