package vercel

import (
	"context"
	"errors"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// Get implements [backends.Backend]. It resumes nothing.
func (b *Backend) Get(ctx context.Context, name string) (backends.Observed, error) {
	client, err := b.connect()
	if err != nil {
		return backends.Observed{}, err
	}
	return read(ctx, client, name)
}

// read is a single read of a sandbox and, when it is stopped, of the snapshot it would be resumed from.
func read(ctx context.Context, client *api.Client, name string) (backends.Observed, error) {
	state, err := client.GetSandbox(ctx, name)
	if err != nil {
		return backends.Observed{}, err
	}
	seen := observed(state)
	if id := needed(seen); id != "" {
		snapshot, err := client.GetSnapshot(ctx, id)
		seen.Unresumable = errors.Is(err, backends.NotFound) || err == nil && snapshot.Status != api.SnapshotCreated
		if err := ignoring(err, backends.NotFound); err != nil {
			return backends.Observed{}, err
		}
	}
	return seen, nil
}

// needed is the snapshot that decides whether a sandbox can be resumed, "" when none does.
func needed(seen backends.Observed) string {
	if seen.Running() || seen.Unresumable {
		return ""
	}
	return seen.CurrentSnapshotID
}

// List implements [backends.Backend]. A listing tells neither ports nor working directories, so each
// sandbox of ours is read singly.
func (b *Backend) List(ctx context.Context) ([]backends.Observed, error) {
	client, err := b.connect()
	if err != nil {
		return nil, err
	}
	found, err := listed(ctx, client, api.SandboxFilter{})
	if err != nil {
		return nil, err
	}
	var all []backends.Observed
	for _, sandbox := range found {
		if sandbox.Tags[ownerTag] == "" {
			continue
		}
		seen, err := read(ctx, client, sandbox.Name)
		if errors.Is(err, backends.NotFound) {
			continue // it went meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, seen)
	}
	return all, nil
}

// listed reads all pages of a listing of sandboxes. How large a page may be is not known (section 14), so
// the API decides.
func listed(ctx context.Context, client *api.Client, filter api.SandboxFilter) ([]api.Sandbox, error) {
	var all []api.Sandbox
	for sandbox, err := range client.ListSandboxes(ctx, filter) {
		if err != nil {
			return nil, err
		}
		all = append(all, sandbox)
	}
	return all, nil
}
