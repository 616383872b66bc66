package basesnapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Delete lets go of a lane. Without purge its current entry is retired and everything else stays, to
// be taken up again by a later create. With purge the whole lane is taken out and deleted, unless
// retention or a workspace needs one of its snapshots: all of that is checked before the first
// deletion. A snapshot that another lane shares stays with that one. What was never committed is
// removed under either, and a state whose attachment is not the record's only forgets.
func (m *Manager) Delete(ctx context.Context, lane Lane, attachment sandbox.Attachment, purge bool, retention Retention) (outcome sandbox.Outcome, err error) {
	id := ID(m.backend().Name(), lane)
	// Before the lock, which is a file in the store's directory: that may be somebody else's.
	if err := m.Sandboxes.CheckBinding(ctx, id, attachment.Binding); err != nil {
		return "", err
	}
	ctx, unlock, err := m.lockLane(ctx, lane)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	record, err := m.Sandboxes.RecordByID(ctx, attachment.Record)
	if err != nil {
		return "", err
	}
	if record == nil {
		return m.deleteUnrecorded(ctx, lane, attachment, purge, retention)
	}
	if err := errors.Join(checkLane(*record, lane), m.Sandboxes.CheckBinding(ctx, id, record.Binding)); err != nil {
		return "", err
	}
	if record.Committed && attachment.Token != "" && record.Attachment != attachment.Token {
		return sandbox.Forgotten, nil
	}
	if err := m.cleanLane(ctx, placeOf(*record), record.ID, ""); err != nil {
		return "", err
	}
	switch {
	case !record.Committed:
		return m.purge(ctx, &removal{where: placeOf(*record), lane: lane, id: record.ID, record: record})
	case purge:
		return m.purge(ctx, &removal{where: placeOf(*record), lane: lane, id: record.ID, record: record, retention: retention})
	}
	return m.retire(ctx, *record)
}

// retire leaves a lane without a current entry and without a state.
func (m *Manager) retire(ctx context.Context, record store.Record) (sandbox.Outcome, error) {
	entries, err := m.laneEntries(ctx, record.ID)
	if err != nil {
		return "", err
	}
	if current := currentOf(entries); current != nil {
		if saved(*current) {
			current.Status, current.RetiredAt = store.SnapshotRetired, now()
			if _, err := m.store().UpdateSnapshot(ctx, *current); err != nil {
				return "", err
			}
		}
		if _, err := m.store().PromoteSnapshot(ctx, record.ID, store.Snapshot{}); err != nil {
			return "", err
		}
	}
	record.Attachment, record.Intent = "", nil
	if _, err := m.store().Update(ctx, record); err != nil {
		return "", err
	}
	return sandbox.Retained, nil
}

// deleteUnrecorded handles a lane whose record is lost. Its snapshots carry the record's id, which
// only this state knows.
func (m *Manager) deleteUnrecorded(ctx context.Context, lane Lane, attachment sandbox.Attachment, purge bool, retention Retention) (sandbox.Outcome, error) {
	switch {
	case !purge:
		return sandbox.Retained, nil
	case attachment.Record == "" || attachment.Binding == "":
		return "", &sandbox.Refusal{
			Code:   sandbox.CodeUnproven,
			Detail: fmt.Sprintf("Neither the state nor the store says which snapshots belong to %s, so that none is purged.", ID(m.backend().Name(), lane)),
			Remedy: "Import it, apply, then destroy it again; or let go of it with `terraform state rm`.",
		}
	}
	owner, err := m.Sandboxes.Owner(ctx)
	if err != nil {
		return "", err
	}
	where := place{backend: m.backend().Name(), binding: attachment.Binding, owner: owner}
	if err := m.cleanLane(ctx, where, attachment.Record, ""); err != nil {
		return "", err
	}
	return m.purge(ctx, &removal{where: where, lane: lane, id: attachment.Record, retention: retention})
}

// removal is a lane on its way out.
type removal struct {
	where place
	lane  Lane
	// id is that of the record, which is nil when it is lost.
	id        string
	record    *store.Record
	retention Retention
	// stray are snapshots that carry the record's id and that no entry stands for.
	stray []store.Snapshot
}

// purge takes a lane out. One that was begun is finished: what it asked for was allowed then.
func (m *Manager) purge(ctx context.Context, r *removal) (sandbox.Outcome, error) {
	entries, err := m.laneEntries(ctx, r.id)
	if err != nil {
		return "", err
	}
	if err := m.checkPurge(ctx, r, entries); err != nil {
		return "", err
	}
	if r.record != nil {
		if r.record.Intent, err = store.Encode(intent{Operation: deleting, Since: now()}); err != nil {
			return "", err
		}
		if *r.record, err = m.store().Update(ctx, *r.record); err != nil {
			return "", err
		}
	}
	for _, hash := range hashes(entries) {
		err := m.underManifest(ctx, r.where, hash, func(ctx context.Context) error { return m.discardAll(ctx, r, hash) })
		if err != nil {
			return "", err
		}
	}
	for _, stray := range r.stray {
		if err := m.deleteSnapshot(ctx, r.where.owner, stray.SnapshotID); err != nil {
			return "", err
		}
	}
	if r.record != nil {
		if err := m.store().Delete(ctx, *r.record); err != nil {
			return "", err
		}
	}
	return sandbox.Removed, nil
}

// checkPurge returns all reasons for which a lane may not be taken out.
func (m *Manager) checkPurge(ctx context.Context, r *removal, entries []store.Snapshot) error {
	if r.record != nil {
		begun, err := intentOf(*r.record)
		if err != nil {
			return err
		}
		if begun.Operation == deleting {
			r.retention = Retention{}
		}
	}
	guard, err := m.guardOf(r.lane, entries, r.retention)
	if err != nil {
		return err
	}
	if r.stray, err = m.strays(ctx, r); err != nil {
		return err
	}
	var reasons []error
	for _, entry := range slices.Concat(entries, r.stray) {
		reasons = append(reasons, guard.whole(ctx, entry))
	}
	return errors.Join(reasons...)
}

// strays finds the snapshots of a lane that the registry has lost.
func (m *Manager) strays(ctx context.Context, r *removal) ([]store.Snapshot, error) {
	snapshotter, err := m.snapshotter()
	if err != nil {
		return nil, err
	}
	found, err := snapshotter.ListSnapshots(ctx, r.id)
	if err != nil {
		return nil, err
	}
	var lost []store.Snapshot
	for _, snapshot := range found {
		known, err := m.store().FindSnapshots(ctx, store.SnapshotQuery{Backend: r.where.backend, Binding: r.where.binding, SnapshotID: snapshot.ID})
		if err != nil {
			return nil, err
		}
		if len(known) == 0 && snapshot.Marks.Owner == r.where.owner {
			lost = append(lost, store.Snapshot{
				Lane: r.id, Backend: r.where.backend, Binding: r.where.binding, Owner: r.where.owner,
				SnapshotID: snapshot.ID, Status: store.SnapshotReady, ReadyAt: snapshot.CreatedAt,
			})
		}
	}
	return lost, nil
}

// discardAll deletes the entries of a lane that were baked from one manifest.
func (m *Manager) discardAll(ctx context.Context, r *removal, hash string) error {
	entries, err := m.store().FindSnapshots(ctx, store.SnapshotQuery{Lane: r.id, ManifestHash: hash})
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := m.discard(ctx, entry); err != nil {
			return err
		}
	}
	return nil
}

// CheckDelete tells a plan why a lane may not be purged now: because a snapshot is too young, or is
// kept to go back to. The workspaces that were made from one are not asked for, since the same apply
// may destroy them first. It only reads the store.
func (m *Manager) CheckDelete(ctx context.Context, lane Lane, attachment sandbox.Attachment, retention Retention) error {
	record, err := m.Sandboxes.RecordByID(ctx, attachment.Record)
	if err != nil || record == nil {
		return err
	}
	begun, err := intentOf(*record)
	if err != nil || !record.Committed || begun.Operation == deleting || attachment.Token != "" && record.Attachment != attachment.Token {
		return err
	}
	entries, err := m.laneEntries(ctx, record.ID)
	if err != nil {
		return err
	}
	guard, err := m.guardOf(lane, entries, retention)
	if err != nil {
		return err
	}
	var reasons []error
	for _, entry := range entries {
		others, err := m.sharers(ctx, entry)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(others, func(other store.Snapshot) bool { return other.Lane != entry.Lane }) {
			reasons = append(reasons, guard.kept(entry))
		}
	}
	return errors.Join(reasons...)
}
