package vercel

import (
	"context"
	"errors"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// deleteBudget bounds how long a deleted sandbox may still be told.
const deleteBudget = time.Minute

// Delete implements [backends.Backend]. Snapshots belong to the sandbox when one of its own sessions
// was saved to them: those of an earlier sandbox of its name are left alone, and once the sandbox is
// gone nothing tells its snapshots from theirs.
func (b *Backend) Delete(ctx context.Context, marks backends.Marks, options backends.DeleteOptions) error {
	const operation = "delete sandbox"
	defer b.listing.drop()
	client, err := b.connect()
	if err != nil {
		return err
	}
	state, err := client.GetSandbox(ctx, marks.Name)
	if errors.Is(err, backends.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := checkOurs(operation, state.Sandbox, marks); err != nil {
		return err
	}
	var own []api.Snapshot
	if options.Snapshots {
		if own, err = ownSnapshots(ctx, client, marks.Name); err != nil {
			return err
		}
		if err := checkUnused(ctx, client, operation, marks.Name, own...); err != nil {
			return err
		}
	}
	// With the flag, snapshots go even when this run dies now.
	if _, err := client.DeleteSandbox(ctx, marks.Name, options.Snapshots); err != nil && !errors.Is(err, backends.NotFound) {
		return err
	}
	if err := awaitGone(ctx, client, marks); err != nil {
		return err
	}
	for _, snapshot := range own {
		if err := discard(ctx, client, snapshot.ID); err != nil {
			return err
		}
	}
	return nil
}

// awaitGone verifies a deletion: the API says that there is no such sandbox, or another one bears the
// name by now.
func awaitGone(ctx context.Context, client *api.Client, marks backends.Marks) error {
	ctx, cancel := context.WithTimeout(ctx, deleteBudget)
	defer cancel()
	_, err := client.WaitSandbox(ctx, marks.Name, func(s api.SandboxState) bool {
		return s.Sandbox.Tags[recordTag] != marks.Record
	})
	if errors.Is(err, backends.NotFound) {
		return nil
	}
	return err
}

// discard deletes a snapshot and verifies that. An absent one is success.
func discard(ctx context.Context, client *api.Client, id string) error {
	if _, err := client.DeleteSnapshot(ctx, id); err != nil && !errors.Is(err, backends.NotFound) && !errors.Is(err, backends.Expired) {
		return err
	}
	left, err := client.GetSnapshot(ctx, id)
	switch {
	case errors.Is(err, backends.NotFound), errors.Is(err, backends.Expired):
		return nil
	case err == nil && left.Status == api.SnapshotCreated:
		return failure(backends.Failed, "delete snapshot", id, "It is still there after its deletion.")
	}
	return err
}
