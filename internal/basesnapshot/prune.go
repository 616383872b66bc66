package basesnapshot

import (
	"context"
	"fmt"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// prune deletes the entries of a lane that retention does not keep, and those of failed bakes. What
// has to stay is skipped; what could not be deleted is told. The lock of the lane is held, that of no
// manifest.
func (m *Manager) prune(ctx context.Context, record store.Record, retention Retention) (warnings []string) {
	if !retention.Purge {
		return nil
	}
	warn := func(err error) {
		warnings = append(warnings, fmt.Sprintf("An old snapshot of %s could not be deleted: %v", ID(record.Backend, laneOf(record.Name)), err))
	}
	entries, err := m.laneEntries(ctx, record.ID)
	if err != nil {
		warn(err)
		return warnings
	}
	guard, err := m.guardOf(laneOf(record.Name), entries, retention)
	if err != nil {
		warn(err)
		return warnings
	}
	for _, entry := range entries {
		if entry.Current || unfinished(entry) || guard.one(ctx, entry) != nil {
			continue
		}
		err := m.underManifest(ctx, placeOf(record), entry.ManifestHash, func(ctx context.Context) error {
			return m.discardSame(ctx, entry)
		})
		if err != nil {
			warn(err)
		}
	}
	return warnings
}

// discardSame deletes an entry if it is still what it was before its manifest was locked.
func (m *Manager) discardSame(ctx context.Context, entry store.Snapshot) error {
	entries, err := m.laneEntries(ctx, entry.Lane)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(entries, func(now store.Snapshot) bool { return now.ID == entry.ID && now.Revision == entry.Revision })
	if i < 0 {
		return nil
	}
	return m.discard(ctx, entry)
}
