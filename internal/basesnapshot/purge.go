package basesnapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// guard decides which of a lane's snapshots may be deleted.
type guard struct {
	*Manager
	lane      Lane
	retention Retention
	former    []store.Snapshot
	at        time.Time
}

func (m *Manager) guardOf(lane Lane, entries []store.Snapshot, retention Retention) (*guard, error) {
	former, err := formerOf(entries)
	return &guard{Manager: m, lane: lane, retention: retention, former: former, at: now()}, err
}

// one returns why a single snapshot of a lane that goes on has to stay: as the current one, to go back
// to, because it is too young or because a workspace was made from it. It returns a *sandbox.Refusal
// for each reason, joined.
func (g *guard) one(ctx context.Context, entry store.Snapshot) error {
	var reasons []error
	if entry.Current {
		reasons = append(reasons, &sandbox.Refusal{
			Code:   CodeCurrent,
			Detail: fmt.Sprintf("%s is what new workspaces of %s start from.", label(entry), g.lane),
			Remedy: "It can go once another one has taken its place.",
		})
	}
	referenced, err := g.references(ctx, entry)
	return errors.Join(append(reasons, g.rollback(entry), g.young(entry), referenced, err)...)
}

// whole returns why a snapshot keeps its whole lane from being taken out. A lane without a minimum
// age is disposable: only workspaces keep it then.
func (g *guard) whole(ctx context.Context, entry store.Snapshot) error {
	lost, err := g.lostWith(ctx, entry)
	if err != nil || !lost {
		return err
	}
	referenced, err := g.references(ctx, entry)
	return errors.Join(g.kept(entry), referenced, err)
}

// kept are the reasons that time and the configuration alone decide.
func (g *guard) kept(entry store.Snapshot) error {
	if g.retention.MinAge == 0 {
		return nil
	}
	return errors.Join(g.rollback(entry), g.young(entry))
}

// lostWith tells whether deleting an entry deletes a snapshot: it is still there, and no other entry
// stands for it too.
func (g *guard) lostWith(ctx context.Context, entry store.Snapshot) (bool, error) {
	if !saved(entry) {
		return false, nil
	}
	others, err := g.sharers(ctx, entry)
	if err != nil || slices.ContainsFunc(others, func(other store.Snapshot) bool { return other.Lane != entry.Lane }) {
		return false, err
	}
	return g.present(ctx, entry)
}

func (g *guard) rollback(entry store.Snapshot) error {
	place := slices.IndexFunc(g.former, func(former store.Snapshot) bool { return former.ID == entry.ID })
	if place < 0 || int64(place) >= g.retention.KeepPrevious {
		return nil
	}
	return &sandbox.Refusal{
		Code:   CodeRollbackCandidate,
		Detail: fmt.Sprintf("%s is kept so that %s can go back to it: `retention.keep_previous` is %d.", label(entry), g.lane, g.retention.KeepPrevious),
		Remedy: "Lower `keep_previous`, or set `min_age = \"0s\"` to say that the lane is disposable. Apply that, then try again.",
	}
}

func (g *guard) young(entry store.Snapshot) error {
	age := g.at.Sub(entry.ReadyAt)
	if !saved(entry) || age >= g.retention.MinAge {
		return nil
	}
	return &sandbox.Refusal{
		Code: CodeTooYoung,
		Detail: fmt.Sprintf("%s of %s is %s old, and `retention.min_age` is %s: it may be deleted from %s on.",
			label(entry), g.lane, age.Truncate(time.Second), g.retention.MinAge, entry.ReadyAt.Add(g.retention.MinAge).Format(time.RFC3339)),
		Remedy: "Wait until then, or lower `min_age` and apply that first.",
	}
}

// references names the workspaces that were made from a snapshot.
func (m *Manager) references(ctx context.Context, entry store.Snapshot) (refusal, err error) {
	if entry.SnapshotID == "" {
		return nil, nil
	}
	records, err := m.store().Find(ctx, store.Query{Backend: entry.Backend, Binding: entry.Binding, BaseSnapshot: entry.SnapshotID})
	if err != nil || len(records) == 0 {
		return nil, err
	}
	var names []string
	for _, record := range records {
		name := sandbox.ID(record.Backend, record.Name)
		if record.WorkspaceID != "" {
			name = fmt.Sprintf("%s (%s)", record.WorkspaceID, name)
		}
		names = append(names, name)
	}
	return &sandbox.Refusal{
		Code:   CodeReferenced,
		Detail: fmt.Sprintf("%s is what these workspaces were made from: %s.", label(entry), strings.Join(names, ", ")),
		Remedy: "Purge them first, or keep the snapshot.",
	}, nil
}

// sharers are the other entries that stand for the same snapshot.
func (m *Manager) sharers(ctx context.Context, entry store.Snapshot) ([]store.Snapshot, error) {
	found, err := m.store().FindSnapshots(ctx, store.SnapshotQuery{Backend: entry.Backend, Binding: entry.Binding, SnapshotID: entry.SnapshotID})
	return slices.DeleteFunc(found, func(other store.Snapshot) bool { return other.ID == entry.ID || !saved(other) }), err
}

// discard deletes an entry, and its snapshot unless another entry stands for it too. The lock of the
// manifest is held, so that no lane begins to share it meanwhile. The snapshot goes first: an entry
// leads a repeated deletion to it.
func (m *Manager) discard(ctx context.Context, entry store.Snapshot) error {
	others, err := m.sharers(ctx, entry)
	if err != nil {
		return err
	}
	if entry.SnapshotID != "" && len(others) == 0 {
		if referenced, err := m.references(ctx, entry); referenced != nil || err != nil {
			return errors.Join(referenced, err)
		}
		if err := m.deleteSnapshot(ctx, entry.Owner, entry.SnapshotID); err != nil {
			return err
		}
	}
	return m.store().DeleteSnapshot(ctx, entry)
}

func (m *Manager) deleteSnapshot(ctx context.Context, owner, id string) error {
	snapshotter, err := m.snapshotter()
	if err != nil {
		return err
	}
	return snapshotter.DeleteSnapshot(ctx, backends.Marks{Owner: owner}, id)
}

// label names a snapshot for people.
func label(entry store.Snapshot) string {
	if entry.Version == "" {
		return "The snapshot " + entry.SnapshotID
	}
	return fmt.Sprintf("The snapshot %s (%s)", entry.Version, entry.SnapshotID)
}
