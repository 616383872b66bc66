package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Outcome tells what a delete did.
type Outcome string

// The outcomes of a delete.
const (
	// Removed: compute and data are gone.
	Removed Outcome = "removed"
	// Retained: the data is kept and can be re-attached.
	Retained Outcome = "retained"
	// Forgotten: nothing was touched, because another state holds the object now.
	Forgotten Outcome = "forgotten"
)

// Delete lets go of a sandbox. With purge it removes all its data; otherwise a persistent one is
// stopped and detached, and a session one loses its compute and its own workspace but keeps its
// named volumes. What was never committed is removed under either. A state whose attachment is
// not the record's only forgets.
func (m *Manager) Delete(ctx context.Context, name string, kind backends.Kind, attachment Attachment, purge bool) (outcome Outcome, err error) {
	// Before the lock, which is a file in the store's directory: that may be somebody else's.
	if err := m.checkBinding(ctx, name, attachment.Binding); errors.Is(err, backends.HostSleeping) && !purge {
		return m.detachAsleep(ctx, name, attachment, err)
	} else if err != nil {
		return "", err
	}
	ctx, unlock, err := m.lock(ctx, name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	record, err := m.RecordByID(ctx, attachment.Record)
	if err != nil {
		return "", err
	}
	observed, err := m.get(ctx, name)
	if err != nil {
		return "", err
	}
	if record == nil {
		return m.deleteUnrecorded(ctx, name, kind, attachment, purge, observed)
	}
	if err := m.checkBinding(ctx, name, record.Binding); err != nil {
		return "", err
	}
	if observed != nil && observed.Marks.Record != record.ID {
		// Ours is gone, and the name belongs to another object now. That is left alone.
		return m.forgetReplaced(ctx, *record, attachment)
	}
	pending, err := intentOf(*record)
	if err != nil {
		return "", err
	}
	if !record.Committed {
		keep := intent{Operation: deleting, Purge: true}
		if pending != nil {
			keep.KeepVolumes, keep.KeepSnapshots = pending.KeepVolumes, pending.KeepSnapshots
		}
		return m.remove(ctx, *record, keep)
	}
	if attachment.Token != "" && record.Attachment != attachment.Token {
		return Forgotten, nil
	}
	return m.deleteRecorded(ctx, *record, purge, observed)
}

func (m *Manager) deleteRecorded(ctx context.Context, record store.Record, purge bool, observed *backends.Observed) (Outcome, error) {
	if purge {
		return m.remove(ctx, record, intent{Operation: deleting, Purge: true})
	}
	gone := observed == nil
	workspace := len(record.Workspace) > 0
	if gone && workspace {
		snapshot, err := m.restorable(ctx, record)
		if err != nil {
			return "", err
		}
		gone = snapshot == "" // a lost session that can be restored is still there
	}
	if gone || record.Kind == string(backends.Session) && !workspace {
		kept, err := contentsOf(record)
		if err != nil {
			return "", err
		}
		return m.remove(ctx, record, intent{Operation: deleting, KeepVolumes: len(kept.Spec.Volumes) > 0, KeepSnapshots: kept.Snapshot != ""})
	}
	if workspace && observed != nil {
		kept, err := contentsOf(record)
		if err != nil {
			return "", err
		}
		if record, err = m.release(ctx, record, *observed, kept.Retention); err != nil {
			return "", err
		}
	} else if err := m.Backend.Stop(ctx, record.Name); err != nil && !isMissing(err) {
		return "", err
	}
	record.Attachment, record.Intent = "", nil
	if _, err := m.Store.Update(ctx, record); err != nil {
		return "", err
	}
	return Retained, nil
}

// remove deletes the object behind an announced intent, then the record, unless volumes or
// snapshots stay that the record must go on naming.
func (m *Manager) remove(ctx context.Context, record store.Record, pending intent) (Outcome, error) {
	pending.Since = time.Now().UTC()
	raw, err := store.Encode(pending)
	if err != nil {
		return "", err
	}
	record.Intent = raw
	if record, err = m.Store.Update(ctx, record); err != nil {
		return "", err
	}
	options := backends.DeleteOptions{Volumes: !pending.KeepVolumes, Snapshots: !pending.KeepSnapshots}
	if err := m.Backend.Delete(ctx, marksOf(record), options); err != nil {
		return "", err
	}
	if !pending.KeepSnapshots {
		kept, err := contentsOf(record)
		if err != nil {
			return "", err
		}
		for _, id := range append(kept.Saves, kept.Snapshot) {
			if err := m.forgetSnapshot(ctx, record, id); err != nil {
				return "", err
			}
		}
	}
	if pending.KeepVolumes || pending.KeepSnapshots {
		record.Attachment, record.Intent, record.Committed = "", nil, true
		if _, err := m.Store.Update(ctx, record); err != nil {
			return "", err
		}
		return Retained, nil
	}
	if err := m.Store.Delete(ctx, record); err != nil {
		return "", err
	}
	return Removed, nil
}

// deleteUnrecorded handles a lost record. What the state and the marks on the object agree on is
// proof enough; with neither private state nor record nothing is purged.
func (m *Manager) deleteUnrecorded(ctx context.Context, name string, kind backends.Kind, attachment Attachment, purge bool, observed *backends.Observed) (Outcome, error) {
	if observed == nil {
		return Removed, nil
	}
	if attachment.Record == "" || attachment.Binding == "" {
		if !purge {
			return Forgotten, nil
		}
		return "", &Refusal{
			Code:   CodeUnproven,
			Detail: fmt.Sprintf("Neither the state nor the store says that %s is this resource's, so it is not purged.", ID(m.Backend.Name(), name)),
			Remedy: "Import it, apply, then destroy it again; or let go of it with `terraform state rm`.",
		}
	}
	if observed.Marks.Record != attachment.Record {
		return Forgotten, nil
	}
	if purge || kind == backends.Session {
		if err := m.Backend.Delete(ctx, observed.Marks, backends.DeleteOptions{Volumes: purge, Snapshots: purge}); err != nil {
			return "", err
		}
		return Removed, nil
	}
	if err := m.Backend.Stop(ctx, name); err != nil && !isMissing(err) {
		return "", err
	}
	return Retained, nil
}

// forgetReplaced lets go of a record whose object is gone while another one has its name: no call
// of the backend by that name would be about ours.
func (m *Manager) forgetReplaced(ctx context.Context, record store.Record, attachment Attachment) (Outcome, error) {
	if attachment.Token != "" && record.Attachment != attachment.Token {
		return Forgotten, nil
	}
	return Removed, m.Store.Delete(ctx, record)
}
