package basesnapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// unfinished tells whether something of a bake may still be there. Nobody works on it while the
// lock of its manifest is held by somebody else.
func unfinished(entry store.Snapshot) bool {
	known, err := detailsOf(entry)
	return entry.Status == store.SnapshotBaking || err == nil && known.Leftover
}

// clean removes what killed bakes of a manifest left, whichever lane they were for. The lock of the
// manifest is held.
func (m *Manager) clean(ctx context.Context, where place, hash string) error {
	entries, err := m.entries(ctx, where, hash)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !unfinished(entry) {
			continue
		}
		if left, err := m.sweep(ctx, entry); err != nil {
			return fmt.Errorf("remove what an interrupted bake left (%s): %w", left, err)
		}
		if _, err := m.fail(ctx, entry, "The bake was interrupted.", false); err != nil {
			return err
		}
	}
	return nil
}

// cleanLane removes what killed bakes of a lane left, of any manifest.
func (m *Manager) cleanLane(ctx context.Context, where place, lane string, except string) error {
	entries, err := m.laneEntries(ctx, lane)
	if err != nil {
		return err
	}
	open := slices.DeleteFunc(entries, func(entry store.Snapshot) bool { return !unfinished(entry) || entry.ManifestHash == except })
	var failures []error
	for _, hash := range hashes(open) {
		failures = append(failures, m.underManifest(ctx, where, hash, func(ctx context.Context) error {
			return m.clean(ctx, where, hash)
		}))
	}
	return errors.Join(failures...)
}

// cleanOthers cleans after the bakes of other manifests of the lane, which does not keep this one from
// being baked.
func (m *Manager) cleanOthers(ctx context.Context, work *job) []string {
	if err := m.cleanLane(ctx, work.where, work.lane, work.hash); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// fail marks an entry whose bake came to nothing. reason is kept when there is none yet. leftover says
// that something of the bake may be there still, for the next one to remove.
func (m *Manager) fail(ctx context.Context, entry store.Snapshot, reason string, leftover bool) (store.Snapshot, error) {
	known, err := detailsOf(entry)
	if err != nil {
		return entry, err
	}
	known.Leftover = leftover
	if entry.Manifest, err = store.Encode(known); err != nil {
		return entry, err
	}
	if entry.Status = store.SnapshotFailed; entry.LastError == "" {
		entry.LastError = shortened(reason)
	}
	if !leftover {
		entry.SnapshotID = ""
	}
	return m.store().UpdateSnapshot(ctx, entry)
}

// sweep removes everything that an unfinished bake may have made, and names what it could not remove.
func (m *Manager) sweep(ctx context.Context, entry store.Snapshot) (left []string, err error) {
	snapshotter, err := m.snapshotter()
	if err != nil {
		return nil, err
	}
	var failures []error
	removed := func(what string, err error) {
		if err != nil {
			left = append(left, what)
			failures = append(failures, err)
		}
	}
	for _, marks := range []backends.Marks{verifyMarks(entry), seedMarks(entry)} {
		// What carries no marks of the lane is found by its seed alone, and nothing else hangs on that.
		removed("sandbox "+marks.Name, m.removeBoxAnd(ctx, marks, m.backend().Capabilities().UnmarkedSnapshots))
	}
	if entry.SnapshotID != "" {
		removed("snapshot "+entry.SnapshotID, snapshotter.DeleteSnapshot(ctx, seedMarks(entry), entry.SnapshotID))
	}
	return left, errors.Join(failures...)
}

// removeBox removes a sandbox of a bake, but not the snapshots of its lane. One that bears the name
// and is not from this bake is left alone.
func (m *Manager) removeBox(ctx context.Context, marks backends.Marks) error {
	return m.removeBoxAnd(ctx, marks, false)
}

func (m *Manager) removeBoxAnd(ctx context.Context, marks backends.Marks, snapshots bool) error {
	err := m.backend().Delete(ctx, marks, backends.DeleteOptions{Volumes: true, Snapshots: snapshots})
	if errors.Is(err, backends.NotOurs) {
		return nil
	}
	return err
}
