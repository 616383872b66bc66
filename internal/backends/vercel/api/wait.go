package api

import (
	"context"
	"errors"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// longestWait bounds waits whose context has no deadline: no session lives longer (section 11).
const longestWait = 24 * time.Hour

// polled asks again and again until look is done or fails.
func (c *Client) polled(ctx context.Context, operation, object string, look func(context.Context) (done bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	for round := 0; ; round++ {
		done, err := look(ctx)
		if done || err != nil {
			return err
		}
		if err := c.poll.pause(ctx, round); err != nil {
			return c.lost(ctx, &exchange{call: call{operation: operation, object: object}}, err)
		}
	}
}

// WaitSession polls a session until it is as wanted, e.g. until its status is running. It fails
// with [backends.NotRunning] as soon as the session has ended in another way (section 9.1), and
// returns what it saw last in every case.
func (c *Client) WaitSession(ctx context.Context, id string, until func(Session) bool) (Session, error) {
	const operation = "wait for session"
	var last Session
	err := c.polled(ctx, operation, id, func(ctx context.Context) (bool, error) {
		state, err := c.GetSession(ctx, id)
		if err != nil {
			return false, err
		}
		last = state.Session
		if !until(last) && last.Status.Terminal() {
			return false, &backends.Error{
				Kind: backends.NotRunning, Backend: backendName, Operation: operation, Object: id,
				Detail: "The session has ended with the status " + string(last.Status) + ".",
			}
		}
		return until(last), nil
	})
	return last, err
}

// WaitSandbox polls a sandbox, resuming nothing, until it is as wanted: for example until it is
// stopped and has another snapshot than before. A sandbox has no state that is final, so until decides alone.
func (c *Client) WaitSandbox(ctx context.Context, name string, until func(SandboxState) bool) (SandboxState, error) {
	var last SandboxState
	err := c.polled(ctx, "wait for sandbox", name, func(ctx context.Context) (bool, error) {
		var err error
		last, err = c.GetSandbox(ctx, name)
		return err == nil && until(last), err
	})
	return last, err
}

// WaitSnapshot polls a snapshot until it can be used. [backends.Failed] when it could not be made,
// [backends.Expired] when it was deleted.
func (c *Client) WaitSnapshot(ctx context.Context, id string) (Snapshot, error) {
	const operation = "wait for snapshot"
	var last Snapshot
	err := c.polled(ctx, operation, id, func(ctx context.Context) (bool, error) {
		var err error
		if last, err = c.GetSnapshot(ctx, id); err != nil {
			return false, err
		}
		failure := &backends.Error{Backend: backendName, Operation: operation, Object: id}
		switch last.Status {
		case SnapshotFailed:
			failure.Kind, failure.Detail = backends.Failed, "The snapshot could not be made."
			return false, failure
		case SnapshotDeleted:
			failure.Kind, failure.Detail = backends.Expired, "The snapshot was deleted."
			return false, failure
		}
		return last.Status == SnapshotCreated, nil
	})
	return last, err
}

// WaitCommand waits until a command is over. Each request lets the API wait for a while and is then
// repeated: without headers for minutes, something on the way would cut it (section 7.1).
func (c *Client) WaitCommand(ctx context.Context, session, id string) (Command, error) {
	ctx, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	for round := 0; ; {
		call := get("wait for command", id, commandPath, session, id).with("wait", "true")
		call.ofSession, call.bounds = true, bounds{total: c.commandWait}
		seen, err := c.command(ctx, call)
		switch {
		case err == nil && seen.Exited():
			return seen, nil
		case errors.Is(err, backends.TimedOut) && StatusOf(err) == 0 && ctx.Err() == nil:
			continue // it runs on
		case err != nil && !errors.Is(err, backends.TimedOut):
			return Command{}, err
		}
		if err := c.poll.pause(ctx, round); err != nil {
			return Command{}, c.lost(ctx, &exchange{call: call}, err)
		}
		round++
	}
}
