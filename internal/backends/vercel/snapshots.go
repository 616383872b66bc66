package vercel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

const (
	takenByHand    = "manual" // creationMethod of a snapshot that was asked for
	lostReplyPause = time.Second
)

func snapshotOf(found api.Snapshot) backends.Snapshot {
	return backends.Snapshot{
		ID: found.ID, SizeBytes: int64(found.SizeBytes), CreatedAt: found.CreatedAt.Time, ExpiresAt: found.ExpiresAt.Time,
	}
}

// CreateSnapshot implements [backends.Snapshotter]: it saves the session of that id, unless it was
// saved before. A snapshot ends its session (section 7.4); a persistent sandbox is resumed from it,
// without the processes that ran. One that is stopped has been saved by its stop.
func (b *Backend) CreateSnapshot(ctx context.Context, marks backends.Marks, sessionID string) (backends.Snapshot, error) {
	const operation = "take snapshot"
	client, err := b.connect()
	if err != nil {
		return backends.Snapshot{}, err
	}
	state, err := client.GetSandbox(ctx, marks.Name)
	if err != nil {
		return backends.Snapshot{}, err
	}
	if err := checkOurs(operation, state.Sandbox, marks); err != nil {
		return backends.Snapshot{}, err
	}
	if made, err := savedByHand(ctx, client, marks.Name, sessionID); err != nil {
		return backends.Snapshot{}, err
	} else if made != nil {
		return snapshotOf(*made), nil
	}
	if state.Sandbox.CurrentSessionID != sessionID {
		return backends.Snapshot{}, failure(backends.Conflict, operation, marks.Name, fmt.Sprintf("Its session is %s by now, and %s was not saved.", state.Sandbox.CurrentSessionID, sessionID))
	}
	if statusOf(state.Session.Status) != backends.StatusRunning {
		return savedByStop(ctx, client, state)
	}
	if err := awaitRunning(ctx, client, state.Session); err != nil {
		return backends.Snapshot{}, inSession(operation, marks.Name, err)
	}
	return b.takeSnapshot(ctx, client, state)
}

// takeSnapshot saves a running session and waits until the snapshot can be used.
func (b *Backend) takeSnapshot(ctx context.Context, client *api.Client, state api.SandboxState) (backends.Snapshot, error) {
	defer b.listing.drop()
	name, session := state.Sandbox.Name, state.Session.ID
	expiration := state.Sandbox.SnapshotExpiration
	if expiration == nil {
		expiration = api.Span(0)
	}
	result, err := client.TakeSnapshot(ctx, session, expiration)
	id := result.Snapshot.ID
	if api.Ambiguous(err) {
		id, err = lostReply(ctx, client, name, session, err)
	}
	if err != nil {
		return backends.Snapshot{}, inSession("take snapshot", name, err)
	}
	made, err := client.WaitSnapshot(ctx, id)
	if err != nil {
		return backends.Snapshot{}, err
	}
	ended, cancel := context.WithTimeout(ctx, settleBudget)
	defer cancel()
	_, err = client.WaitSandbox(ended, name, func(s api.SandboxState) bool {
		return s.Sandbox.CurrentSessionID != session || s.Session.Status.Terminal()
	})
	if err == nil && state.Sandbox.Persistent {
		err = b.Start(ctx, name)
	}
	if err != nil {
		return backends.Snapshot{}, err
	}
	return snapshotOf(made), nil
}

// lostReply looks for the snapshot of a request whose outcome is unknown.
func lostReply(ctx context.Context, client *api.Client, name, session string, cause error) (string, error) {
	for enough := time.Now().Add(client.SettleTime()); ; {
		made, err := savedByHand(ctx, client, name, session)
		if err != nil {
			return "", errors.Join(cause, err)
		}
		if made != nil {
			return made.ID, nil
		}
		if time.Now().After(enough) {
			return "", cause
		}
		select {
		case <-ctx.Done():
			return "", cause
		case <-time.After(lostReplyPause):
		}
	}
}

// savedByStop is the snapshot that the end of the present session was saved to.
func savedByStop(ctx context.Context, client *api.Client, state api.SandboxState) (backends.Snapshot, error) {
	const operation = "take snapshot"
	found := state.Sandbox
	if found.CurrentSnapshotID == "" {
		return backends.Snapshot{}, failure(backends.Expired, operation, found.Name, "It is stopped, and its stop saved nothing.")
	}
	made, err := client.GetSnapshot(ctx, found.CurrentSnapshotID)
	if err != nil {
		return backends.Snapshot{}, err
	}
	if made.Status != api.SnapshotCreated || made.SourceSessionID != state.Session.ID {
		return backends.Snapshot{}, failure(backends.Expired, operation, found.Name, "It is stopped, and what its stop saved is gone.")
	}
	return snapshotOf(made), nil
}

// savedByHand returns the snapshot that was asked for of a session, nil when there is none.
func savedByHand(ctx context.Context, client *api.Client, name, session string) (*api.Snapshot, error) {
	for found, err := range client.ListSnapshots(ctx, api.ListFilter{Sandbox: name}) {
		if err != nil {
			return nil, err
		}
		if found.SourceSessionID == session && found.CreationMethod == takenByHand && found.Status == api.SnapshotCreated {
			return &found, nil
		}
	}
	return nil, nil
}

// ownSnapshots are the usable snapshots of the sessions of a sandbox that exists. The filter by name
// alone also finds those of earlier sandboxes of that name.
func ownSnapshots(ctx context.Context, client *api.Client, name string) ([]api.Snapshot, error) {
	sessions := map[string]bool{}
	for session, err := range client.ListSessions(ctx, api.ListFilter{Sandbox: name}) {
		if err != nil {
			return nil, err
		}
		sessions[session.ID] = true
	}
	var own []api.Snapshot
	for found, err := range client.ListSnapshots(ctx, api.ListFilter{Sandbox: name}) {
		if err != nil {
			return nil, err
		}
		if sessions[found.SourceSessionID] && found.Status == api.SnapshotCreated {
			own = append(own, found)
		}
	}
	return own, nil
}

// GetSnapshot implements [backends.Snapshotter].
func (b *Backend) GetSnapshot(ctx context.Context, id string) (backends.Snapshot, error) {
	client, err := b.connect()
	if err != nil {
		return backends.Snapshot{}, err
	}
	found, err := client.GetSnapshot(ctx, id)
	if err != nil {
		return backends.Snapshot{}, err
	}
	if found.Status != api.SnapshotCreated {
		return backends.Snapshot{}, failure(backends.NotFound, "read snapshot", id, "It was deleted, has expired or could not be made.")
	}
	return snapshotOf(found), nil
}

// ListSnapshots implements [backends.Snapshotter]. It finds nothing once the sandbox is gone.
func (b *Backend) ListSnapshots(ctx context.Context, record string) ([]backends.Snapshot, error) {
	client, err := b.connect()
	if err != nil {
		return nil, err
	}
	boxes, err := listed(ctx, client, api.SandboxFilter{Tag: recordTag, TagValue: record})
	if err != nil {
		return nil, err
	}
	var all []backends.Snapshot
	for _, box := range boxes {
		own, err := ownSnapshots(ctx, client, box.Name)
		if err != nil {
			return nil, err
		}
		for _, snapshot := range own {
			all = append(all, snapshotOf(snapshot))
		}
	}
	return all, nil
}

// DeleteSnapshot implements [backends.Snapshotter]. A snapshot tells its owner by its sandbox only:
// when that is gone, whoever has the id may delete it.
func (b *Backend) DeleteSnapshot(ctx context.Context, marks backends.Marks, id string) error {
	const operation = "delete snapshot"
	client, err := b.connect()
	if err != nil {
		return err
	}
	found, err := client.GetSnapshot(ctx, id)
	switch {
	case errors.Is(err, backends.NotFound), err == nil && found.Status != api.SnapshotCreated:
		return nil
	case err != nil:
		return err
	}
	owner, err := ownerOf(ctx, client, found)
	if err != nil {
		return err
	}
	if owner != nil && owner.Tags[ownerTag] != marks.Owner {
		return failure(backends.NotOurs, operation, id, fmt.Sprintf("It was taken of %s, which carries other tags than ours.", owner.Name))
	}
	if err := checkUnused(ctx, client, operation, "", found); err != nil {
		return err
	}
	return discard(ctx, client, id)
}

// ownerOf returns the sandbox that a snapshot was taken of, nil when it is gone or not told.
func ownerOf(ctx context.Context, client *api.Client, snapshot api.Snapshot) (*api.Sandbox, error) {
	session, err := client.GetSession(ctx, snapshot.SourceSessionID)
	if err != nil || session.Session.SourceSandboxName == "" {
		return nil, ignoring(err, backends.NotFound, backends.NotRunning)
	}
	state, err := client.GetSandbox(ctx, session.Session.SourceSandboxName)
	if err != nil {
		return nil, ignoring(err, backends.NotFound)
	}
	return &state.Sandbox, nil
}

// ignoring returns nil for an error of one of kinds.
func ignoring(err error, kinds ...backends.ErrorKind) error {
	if err != nil && slices.Contains(kinds, backends.KindOf(err)) {
		return nil
	}
	return err
}

// checkUnused returns [backends.Conflict] when a sandbox other than except would be resumed from one of
// the snapshots: it would be lost with it, which the API would allow (section 8).
func checkUnused(ctx context.Context, client *api.Client, operation, except string, snapshots ...api.Snapshot) error {
	if len(snapshots) == 0 {
		return nil
	}
	boxes, err := listed(ctx, client, api.SandboxFilter{})
	if err != nil {
		return err
	}
	for _, box := range boxes {
		for _, snapshot := range snapshots {
			if box.Name == except || box.CurrentSnapshotID != snapshot.ID {
				continue
			}
			err := failure(backends.Conflict, operation, snapshot.ID, fmt.Sprintf("The sandbox %s would be resumed from this snapshot.", box.Name))
			err.Remedy = "Delete that sandbox first, or start and stop it, so that it has a snapshot of its own."
			return err
		}
	}
	return nil
}
