package vercel

import (
	"context"
	"errors"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// settleBudget bounds how long a session may take to end and its snapshot to become current.
const settleBudget = 5 * time.Minute

// Start implements [backends.Backend]: it resumes a sandbox once. [backends.Expired] when there is no
// snapshot to resume from, as for a session sandbox that has stopped.
func (b *Backend) Start(ctx context.Context, name string) error {
	defer b.listing.drop()
	client, err := b.connect()
	if err != nil {
		return err
	}
	state, err := client.GetSandbox(ctx, name)
	if err != nil {
		return err
	}
	if statusOf(state.Session.Status) != backends.StatusRunning {
		if state, err = resume(ctx, client, state); err != nil {
			return err
		}
	}
	return inSession("start sandbox", name, awaitRunning(ctx, client, state.Session))
}

// resume boots a new session. Two at a time get the same one (section 12). While the last one still
// ends, the platform blocks or refuses; then its end is waited for.
func resume(ctx context.Context, client *api.Client, state api.SandboxState) (api.SandboxState, error) {
	name := state.Sandbox.Name
	after, err := client.ResumeSandbox(ctx, name)
	if !api.InTransition(err) {
		return after, unresumable(state.Sandbox, err)
	}
	settled, stop := context.WithTimeout(ctx, settleBudget)
	defer stop()
	if _, err := client.WaitSandbox(settled, name, func(s api.SandboxState) bool { return s.Session.Status.Terminal() }); err != nil {
		return after, err
	}
	after, err = client.ResumeSandbox(ctx, name)
	return after, unresumable(state.Sandbox, err)
}

// unresumable says what [backends.Expired] means for the kind of sandbox.
func unresumable(found api.Sandbox, err error) error {
	if !errors.Is(err, backends.Expired) {
		return err
	}
	expired := failure(backends.Expired, "start sandbox", found.Name,
		"The snapshot that it would be resumed from has expired or was deleted. The name still exists, the data does not.")
	expired.Err = err
	if !found.Persistent {
		expired.Detail = "It is not persistent, so nothing was saved when its session ended."
		expired.Remedy = "Replace it, or use `sandlot_persistent_sandbox`."
	}
	return expired
}

// Stop implements [backends.Backend]. It returns once the session has ended and, for a persistent
// sandbox, once what it was saved to is what the next session starts from (section 7.3).
func (b *Backend) Stop(ctx context.Context, name string) error {
	defer b.listing.drop()
	const operation = "stop sandbox"
	client, err := b.connect()
	if err != nil {
		return err
	}
	before, err := client.GetSandbox(ctx, name)
	if err != nil || before.Session.Status.Terminal() {
		return err
	}
	if before.Session.Status == api.StatusPending {
		if err := awaitRunning(ctx, client, before.Session); err != nil {
			return inSession(operation, name, err)
		}
		before.Session.Status = api.StatusRunning
	}
	began := before.Session.Status == api.StatusRunning
	if began {
		_, err := client.StopSession(ctx, before.Session.ID)
		if api.Ambiguous(err) { // a session is stopped once, however often it is asked to
			_, err = client.StopSession(ctx, before.Session.ID)
		}
		// What was lost on the way again, or came too late, is seen by the wait.
		if err != nil && !errors.Is(err, backends.NotRunning) && !api.Ambiguous(err) {
			return inSession(operation, name, err)
		}
	}
	return b.awaitStopped(ctx, client, before, began)
}

// awaitStopped waits for the end of the session of before. began is true when before shows how it was
// until its stop began, so that a snapshot of the stop is another one.
func (b *Backend) awaitStopped(ctx context.Context, client *api.Client, before api.SandboxState, began bool) error {
	const operation = "stop sandbox"
	name := before.Sandbox.Name
	settled, cancel := context.WithTimeout(ctx, settleBudget)
	defer cancel()
	after, err := client.WaitSandbox(settled, name, func(s api.SandboxState) bool {
		if s.Sandbox.CurrentSessionID != before.Session.ID {
			return true // somebody resumed it meanwhile
		}
		saved := !s.Sandbox.Persistent || !began || s.Sandbox.CurrentSnapshotID != before.Sandbox.CurrentSnapshotID
		return s.Session.Status.Terminal() && (saved || s.Session.Status != api.StatusStopped)
	})
	switch {
	case err != nil && after.Session.Status == api.StatusStopped && ctx.Err() == nil:
		return failure(backends.Failed, operation, name, "It stopped, but no snapshot of this stop became the current one: what was written since the last stop may be lost.")
	case err != nil:
		return err
	case after.Sandbox.CurrentSessionID == before.Session.ID && after.Session.Status != api.StatusStopped && after.Sandbox.Persistent:
		return failure(backends.Failed, operation, name, "Its session ended with the status "+string(after.Session.Status)+": what was written since the last stop may be lost.")
	}
	return nil
}
