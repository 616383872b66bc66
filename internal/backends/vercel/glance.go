package vercel

import (
	"context"
	"sync"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// patchedAfter is how much younger than its last change of status a sandbox's last update may be to
// belong to that change.
const patchedAfter = 2 * time.Second

// listing is one listing of all sandboxes, which whoever needs it first makes for all.
type listing struct {
	mu    sync.Mutex
	known map[string]api.Sandbox
	// snapshots are the ids of the usable ones, nil until somebody needs them.
	snapshots map[string]bool
}

// find returns a sandbox of the listing.
func (l *listing) find(ctx context.Context, client *api.Client, name string) (api.Sandbox, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		all, err := listed(ctx, client, api.SandboxFilter{})
		if err != nil {
			return api.Sandbox{}, false, err
		}
		l.known = map[string]api.Sandbox{}
		for _, sandbox := range all {
			l.known[sandbox.Name] = sandbox
		}
	}
	found, ok := l.known[name]
	return found, ok, nil
}

// usable tells whether a snapshot can be started from, by a listing of all snapshots.
func (l *listing) usable(ctx context.Context, client *api.Client, id string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.snapshots == nil {
		all := map[string]bool{}
		for snapshot, err := range client.ListSnapshots(ctx, api.ListFilter{}) {
			if err != nil {
				return false, err
			}
			all[snapshot.ID] = snapshot.Status == api.SnapshotCreated
		}
		l.snapshots = all
	}
	return l.snapshots[id], nil
}

// drop forgets the listing: something has changed, or may have.
func (l *listing) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.snapshots = nil, nil
}

// Glance implements [backends.Glancer]. A listing tells no ports, so a sandbox that has some, or that was
// updated since its status last changed, is read singly, and so is what is not listed: only that
// proves that it is gone.
func (b *Backend) Glance(ctx context.Context, name string, spec backends.Spec) (backends.Observed, error) {
	if len(spec.Ports) > 0 {
		return b.Get(ctx, name)
	}
	client, err := b.connect()
	if err != nil {
		return backends.Observed{}, err
	}
	found, ok, err := b.listing.find(ctx, client, name)
	if err != nil {
		return backends.Observed{}, err
	}
	patched := found.UpdatedAt.Sub(found.StatusUpdatedAt.Time) > patchedAfter
	if !ok || found.Cwd == "" || found.StatusUpdatedAt.IsZero() || patched {
		return b.Get(ctx, name)
	}
	seen := observed(api.SandboxState{
		Sandbox: found, Session: api.Session{ID: found.CurrentSessionID, Status: found.Status, Cwd: found.Cwd},
	})
	if id := needed(seen); id != "" {
		usable, err := b.listing.usable(ctx, client, id)
		if err != nil {
			return backends.Observed{}, err
		}
		if !usable {
			return b.Get(ctx, name) // only a single read proves that it is gone
		}
	}
	return seen, nil
}
