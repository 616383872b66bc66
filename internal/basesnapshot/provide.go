package basesnapshot

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// stands tells whether the lane points already at what the job asks for, and brings the time at which
// it expires to the request.
func (m *Manager) stands(ctx context.Context, work *job) (bool, error) {
	entries, err := m.laneEntries(ctx, work.lane)
	if err != nil {
		return false, err
	}
	current := currentOf(entries)
	if current == nil || current.Status != store.SnapshotReady {
		return false, nil
	}
	if fits, err := work.fits(*current); err != nil || !fits {
		return false, err
	}
	if there, err := m.present(ctx, *current); err != nil || !there {
		return false, err
	}
	if wanted := expiry(current.ReadyAt, work.request.Expiration); !current.ExpiresAt.Equal(wanted) {
		current.ExpiresAt = wanted
		if _, err := m.store().UpdateSnapshot(ctx, *current); err != nil {
			return false, err
		}
	}
	return true, nil
}

// fits tells whether an entry is what the job asks for, as far as the registry knows. It has to have
// passed the very smoke checks of the request, so that changed ones are tried on a new bake.
func (j *job) fits(entry store.Snapshot) (bool, error) {
	if entry.ManifestHash != j.hash || !usable(entry, j.request.Expiration, now()) {
		return false, nil
	}
	known, err := detailsOf(entry)
	if err != nil {
		return false, err
	}
	if j.anew && (entry.Lane != j.lane || known.Attempt != j.attempt) {
		return false, nil
	}
	return slices.EqualFunc(known.Checks, j.request.Checks, SmokeCheck.same), nil
}

// provide makes the lane point at a usable snapshot: one that is there already, or a new one. Any
// number of lanes that ask for the same manifest at the same time get the same snapshot.
func (m *Manager) provide(ctx context.Context, work *job) (baked bool, err error) {
	err = m.underManifest(ctx, work.where, work.hash, func(ctx context.Context) error {
		if err := m.clean(ctx, work.where, work.hash); err != nil {
			return err
		}
		entry, err := m.reusable(ctx, work)
		if err != nil {
			return err
		}
		if entry != nil {
			return m.promote(ctx, work, *entry)
		}
		baked = true
		return m.bake(ctx, work)
	})
	return baked && err == nil, err
}

// reusable finds a finished snapshot that will do: one of this lane before one of another, which this
// lane gets an entry of its own for. An entry of this lane whose snapshot is gone is marked.
func (m *Manager) reusable(ctx context.Context, work *job) (*store.Snapshot, error) {
	entries, err := m.entries(ctx, work.where, work.hash)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(entries, func(a, b store.Snapshot) int { return work.preference(a) - work.preference(b) })
	for _, entry := range entries {
		fits, err := work.fits(entry)
		if err != nil {
			return nil, err
		}
		if !fits {
			continue
		}
		there, err := m.present(ctx, entry)
		switch {
		case err != nil:
			return nil, err
		case there && entry.Lane == work.lane:
			return &entry, nil
		case there:
			return m.share(ctx, work, entry)
		case entry.Lane == work.lane:
			if err := m.markGone(ctx, entry); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// markGone notes that the snapshot of an entry is gone. Half of it may be there still, when a purge was
// cut short.
func (m *Manager) markGone(ctx context.Context, entry store.Snapshot) error {
	if err := m.deleteSnapshot(ctx, entry.Owner, entry.SnapshotID); err != nil && !errors.Is(err, backends.NotOurs) {
		return err
	}
	entry.Status, entry.LastError = store.SnapshotFailed, "The snapshot was deleted outside of Terraform."
	_, err := m.store().UpdateSnapshot(ctx, entry)
	return err
}

// preference orders what could be reused.
func (j *job) preference(entry store.Snapshot) int {
	switch {
	case entry.Lane == j.lane && entry.Current:
		return 0
	case entry.Lane == j.lane:
		return 1
	}
	return 2
}

// share enters the snapshot of another lane into this one.
func (m *Manager) share(ctx context.Context, work *job, other store.Snapshot) (*store.Snapshot, error) {
	known, err := detailsOf(other)
	if err != nil {
		return nil, err
	}
	known.Attempt, known.Previous = work.attempt, ""
	own := other
	own.ID, own.Lane, own.Status, own.RetiredAt = sandbox.NewToken(), work.lane, store.SnapshotReady, time.Time{}
	if own.Manifest, err = store.Encode(known); err != nil {
		return nil, err
	}
	own, err = m.store().InsertSnapshot(ctx, own)
	return &own, err
}

// promote makes an entry the current one of the lane. It remembers which one was current before, if
// one can go back to that.
func (m *Manager) promote(ctx context.Context, work *job, entry store.Snapshot) error {
	entries, err := m.laneEntries(ctx, work.lane)
	if err != nil {
		return err
	}
	known, err := detailsOf(entry)
	if err != nil {
		return err
	}
	if current := currentOf(entries); current != nil && current.ID != entry.ID {
		if known.Previous, err = m.wayBack(ctx, *current, entry.ID); err != nil {
			return err
		}
	}
	if entry.Manifest, err = store.Encode(known); err != nil {
		return err
	}
	entry.Status, entry.LastError = store.SnapshotReady, ""
	entry.RetiredAt, entry.ExpiresAt = time.Time{}, expiry(entry.ReadyAt, work.request.Expiration)
	_, err = m.store().PromoteSnapshot(ctx, work.lane, entry)
	return err
}

// wayBack is the entry to go back to from the one that replaces current: current itself, or what was
// before it when that is gone.
func (m *Manager) wayBack(ctx context.Context, current store.Snapshot, replacing string) (string, error) {
	there, err := m.present(ctx, current)
	// A backend that does not answer proves nothing.
	if gone := err == nil && !there; saved(current) && !gone {
		return current.ID, nil
	}
	known, err := detailsOf(current)
	if err != nil || known.Previous == replacing {
		return "", err
	}
	return known.Previous, nil
}
