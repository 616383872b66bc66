package api

import (
	"context"
	"net/http"
	"time"
)

// Paths of sessions (section 7). Ids are global within the team, so they take no project.
const (
	sessionsPath      = "/v2/sandboxes/sessions"
	sessionPath       = "/v2/sandboxes/sessions/{id}"
	stopPath          = "/v2/sandboxes/sessions/{id}/stop"
	takeSnapshotPath  = "/v2/sandboxes/sessions/{id}/snapshot"
	extendTimeoutPath = "/v2/sandboxes/sessions/{id}/extend-timeout"
	sessionPolicyPath = "/v2/sandboxes/sessions/{id}/network-policy"
)

// inSession is a call that changes something in a session.
func inSession(operation, session, template string, parts ...string) call {
	call := change(http.MethodPost, operation, session, template, append([]string{session}, parts...)...)
	call.ofSession = true
	return call
}

// GetSession reads a session, running or ended.
func (c *Client) GetSession(ctx context.Context, id string) (SessionState, error) {
	call := get("read session", id, sessionPath, id)
	call.ofSession = true
	var answer SessionState
	err := c.do(ctx, call, &answer)
	return answer, err
}

// StopResult is the answer to a stop. Sandbox and Snapshot are nil when the API does not tell.
type StopResult struct {
	Session  Session   `json:"session" wire:"required"`
	Sandbox  *Sandbox  `json:"sandbox"`
	Snapshot *Snapshot `json:"snapshot"`
}

// StopSession stops a session; all its processes are killed. A persistent sandbox is saved by a
// snapshot, any other loses its disk. The answer may come while the session still stops
// (section 7.3): wait with [Client.WaitSession], and for the new snapshot with [Client.WaitSandbox].
// For a session that is over already, see [Ended].
func (c *Client) StopSession(ctx context.Context, id string) (StopResult, error) {
	var answer StopResult
	err := c.do(ctx, inSession("stop session", id, stopPath), &answer)
	return answer, err
}

// SnapshotResult is the answer to a manual snapshot.
type SnapshotResult struct {
	Snapshot Snapshot `json:"snapshot" wire:"required"`
	Session  Session  `json:"session" wire:"required"`
}

// TakeSnapshot saves the disk of a running session and ends the session (section 7.4). The snapshot
// becomes the one that the sandbox is resumed from. An expiration of 0 means never; nil leaves
// it to the sandbox's configuration.
func (c *Client) TakeSnapshot(ctx context.Context, id string, expiration *Duration) (SnapshotResult, error) {
	call := inSession("take snapshot", id, takeSnapshotPath)
	var answer SnapshotResult
	if expiration != nil {
		var err error
		if call, err = call.sending(map[string]*Duration{"expiration": expiration}); err != nil {
			return answer, err
		}
	}
	err := c.do(ctx, call, &answer)
	return answer, err
}

// ExtendTimeout adds to the timeout of a running session and returns the session with its new total.
// At least 1 s. [backends.Invalid] with [CodeTimeoutInvalid] beyond what the plan allows.
func (c *Client) ExtendTimeout(ctx context.Context, id string, by time.Duration) (Session, error) {
	call, err := inSession("extend timeout", id, extendTimeoutPath).sending(map[string]Duration{"duration": {by}})
	if err != nil {
		return Session{}, err
	}
	return c.changeSession(ctx, call)
}

// SetNetworkPolicy replaces the network policy of a running session; later ones are not affected.
func (c *Client) SetNetworkPolicy(ctx context.Context, id string, policy NetworkPolicy) (Session, error) {
	body, err := encodePolicy(&policy, c.config.NetworkPolicyForm)
	if err != nil {
		return Session{}, err
	}
	call := inSession("set network policy", id, sessionPolicyPath)
	call.body, call.secrets = body, policy.secrets()
	return c.changeSession(ctx, call)
}

func (c *Client) changeSession(ctx context.Context, call call) (Session, error) {
	var answer struct {
		Session Session `json:"session" wire:"required"`
	}
	err := c.do(ctx, call, &answer)
	return answer.Session, err
}
