package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

func snapshotID(name string) string { return name + "-" + NewToken()[:12] }

// nextCheckpoint is what a checkpoint is announced by: an id of its own, or the session that it saves
// where the platform chooses the ids.
func (m *Manager) nextCheckpoint(observed backends.Observed) string {
	if m.Backend.Capabilities().AssignedSnapshotIDs {
		return observed.SessionID
	}
	return snapshotID(observed.Name)
}

// save takes the checkpoint that was announced. A session that ended before it was saved is past
// saving: then the present one is what was asked for.
func (m *Manager) save(ctx context.Context, snapshotter backends.Snapshotter, record store.Record, announced string) (backends.Snapshot, error) {
	made, err := snapshotter.CreateSnapshot(ctx, marksOf(record), announced)
	if backends.KindOf(err) != backends.Conflict || !m.Backend.Capabilities().AssignedSnapshotIDs {
		return made, err
	}
	observed, readErr := m.Backend.Get(ctx, record.Name)
	if readErr != nil || observed.SessionID == announced {
		return made, errors.Join(err, readErr)
	}
	return snapshotter.CreateSnapshot(ctx, marksOf(record), observed.SessionID)
}

// checkpoint takes the checkpoint that was announced and then removes the older ones that retention
// does not keep. The new one, whose id it returns, is never removed.
func (m *Manager) checkpoint(ctx context.Context, record store.Record, announced string, retention Retention) (string, error) {
	snapshotter, ok := m.Backend.(backends.Snapshotter)
	if !ok || !m.Backend.Capabilities().Snapshot {
		return "", &backends.Error{Kind: backends.Unsupported, Backend: m.Backend.Name(), Operation: "snapshot", Object: record.Name}
	}
	made, err := m.save(ctx, snapshotter, record, announced)
	if err != nil {
		return "", err
	}
	return made.ID, m.prune(ctx, record, made.ID, retention)
}

// prune removes the checkpoints besides current that retention does not keep, unless the platform does.
func (m *Manager) prune(ctx context.Context, record store.Record, current string, retention Retention) error {
	snapshotter, ok := m.Backend.(backends.Snapshotter)
	if !ok || retention == (Retention{}) || m.Backend.Capabilities().NativeRetention {
		return nil
	}
	snapshots, err := snapshotter.ListSnapshots(ctx, record.ID)
	if err != nil {
		return err
	}
	for _, old := range surplus(snapshots, current, retention, time.Now()) {
		if err := snapshotter.DeleteSnapshot(ctx, marksOf(record), old.ID); err != nil {
			return fmt.Errorf("remove the checkpoint %s, which snapshot_retention does not keep: %w", old.ID, err)
		}
	}
	return nil
}

// takeCheckpoint takes the checkpoint of an update and notes it. ended is true when that was the end of a
// session that ran, which cannot be started again: it has to be restored.
func (m *Manager) takeCheckpoint(ctx context.Context, request Request, record *store.Record, pending intent) (ended bool, err error) {
	ends := m.Backend.Capabilities().SnapshotEndsSession && record.Kind == string(backends.Session)
	if ends {
		// Once the session has ended nothing tells any more what was done in it.
		if err := m.write(ctx, record); err != nil {
			return false, err
		}
	}
	saved, err := m.checkpoint(ctx, *record, pending.Snapshot, request.Retention)
	if err != nil {
		return false, err
	}
	if ends {
		return pending.Ran, m.noteSaved(ctx, record, saved, request.Retention)
	}
	kept, err := contentsOf(*record)
	if err != nil {
		return false, err
	}
	if err := kept.noteSnapshot(saved, *record); err != nil {
		return false, err
	}
	record.Spec, err = store.Encode(kept)
	return false, err
}

// settleCheckpoint notes what a killed run announced and saved, where saving it ended the session: the
// files are nowhere else then. A session that ended without it has nothing to note.
func (m *Manager) settleCheckpoint(ctx context.Context, record *store.Record, observed *backends.Observed) error {
	pending, err := intentOf(*record)
	if err != nil || pending == nil || pending.Operation != changing || pending.Snapshot == "" || observed == nil ||
		!m.Backend.Capabilities().SnapshotEndsSession || !m.sessionLost(*record, observed) {
		return err
	}
	snapshotter, ok := m.Backend.(backends.Snapshotter)
	if !ok {
		return nil
	}
	made, err := snapshotter.CreateSnapshot(ctx, marksOf(*record), pending.Snapshot)
	switch backends.KindOf(err) {
	case backends.Expired, backends.Conflict:
		return nil
	}
	if err != nil {
		return err
	}
	kept, err := contentsOf(*record)
	if err != nil {
		return err
	}
	return m.noteSaved(ctx, record, made.ID, kept.Retention)
}

// noteSaved writes down what a workspace's session was saved to. Where snapshots carry no marks, the record
// goes on naming those before it, and retention counts them here: each belongs to a sandbox that is gone.
func (m *Manager) noteSaved(ctx context.Context, record *store.Record, saved string, retention Retention) error {
	kept, err := contentsOf(*record)
	if err != nil {
		return err
	}
	if m.Backend.Capabilities().UnmarkedSnapshots && kept.Snapshot != "" && kept.Snapshot != saved {
		kept.Saves = append(kept.Saves, kept.Snapshot)
	}
	if err := kept.noteSnapshot(saved, *record); err != nil {
		return err
	}
	if record.Spec, err = store.Encode(kept); err != nil {
		return err
	}
	if err := m.write(ctx, record); err != nil || retention.KeepLast == 0 {
		return err
	}
	for int64(len(kept.Saves)) >= retention.KeepLast {
		err := m.forgetSnapshot(ctx, *record, kept.Saves[0])
		// One that another sandbox would be resumed from stays named, and goes with a later save.
		if backends.KindOf(err) == backends.Conflict {
			break
		}
		if err != nil {
			return err
		}
		kept.Saves = kept.Saves[1:]
	}
	record.Spec, err = store.Encode(kept)
	return err
}

// surplus returns the snapshots besides current that retention lets go, oldest first.
func surplus(snapshots []backends.Snapshot, current string, retention Retention, now time.Time) []backends.Snapshot {
	older := slices.DeleteFunc(slices.Clone(snapshots), func(s backends.Snapshot) bool { return s.ID == current })
	slices.SortFunc(older, func(a, b backends.Snapshot) int { return a.CreatedAt.Compare(b.CreatedAt) })
	var gone []backends.Snapshot
	for i, snapshot := range older {
		newer := int64(len(older) - i) // those after it, and the current one
		expired := retention.Expiration > 0 && now.Sub(snapshot.CreatedAt) >= retention.Expiration
		crowded := retention.KeepLast > 0 && newer >= retention.KeepLast
		if expired || crowded {
			gone = append(gone, snapshot)
		}
	}
	return gone
}

// noteSnapshot notes a checkpoint that was just taken of a record's sandbox as it is.
func (c *contents) noteSnapshot(id string, record store.Record) error {
	workspace, err := workspaceOf(record)
	if err != nil {
		return err
	}
	c.Snapshot, c.SnapshotTemplate = id, ""
	if workspace != nil {
		c.SnapshotTemplate = workspace.TemplateVersion
	}
	return nil
}
