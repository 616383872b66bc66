package api

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// Paths below the base URL (section 6). A chosen runtime decides which generation creates.
const (
	createPath            = "/v3/sandboxes"
	createWithRuntimePath = "/v2/sandboxes"
	sandboxesPath         = "/v2/sandboxes"
	sandboxPath           = "/v2/sandboxes/{name}"
	forkPath              = "/v2/sandboxes/{name}/fork"
)

// CreateSandbox makes a sandbox and boots its first session. It does not wait: the session's status
// may be pending.
//
// Errors, besides those of every call: [backends.AlreadyExists] when the name is taken,
// [backends.Expired] when the source snapshot is gone, [backends.Conflict] with [CodeImageNotReady]
// while an image is prepared, [backends.NoCapacity]. When [Ambiguous] says so, ask [Client.Reconcile].
func (c *Client) CreateSandbox(ctx context.Context, request CreateRequest) (SandboxState, error) {
	const operation = "create sandbox"
	if err := request.check(operation); err != nil {
		return SandboxState{}, err
	}
	policy, err := encodePolicy(request.NetworkPolicy, c.config.NetworkPolicyForm)
	if err != nil {
		return SandboxState{}, err
	}
	template := createPath
	if request.Runtime != "" {
		template = createWithRuntimePath
	}
	request.Ports = append([]int{}, request.Ports...)
	call := change(http.MethodPost, operation, request.Name, template)
	call.secrets = append(request.NetworkPolicy.secrets(), slices.Collect(maps.Values(request.Env))...)
	if request.Source != nil {
		call.secrets = append(call.secrets, request.Source.Password)
	}
	call, err = call.sending(struct {
		CreateRequest
		ProjectID string          `json:"projectId"`
		Policy    json.RawMessage `json:"networkPolicy,omitempty"`
	}{request, c.ProjectID(), policy})
	if err != nil {
		return SandboxState{}, err
	}
	var answer SandboxState
	err = c.do(ctx, call, &answer)
	return answer, err
}

// GetSandbox reads a sandbox in any state and changes nothing. [backends.NotFound] when the API
// says that there is none of this name.
func (c *Client) GetSandbox(ctx context.Context, name string) (SandboxState, error) {
	return c.getSandbox(ctx, get("read sandbox", name, sandboxPath, name), false)
}

// ResumeSandbox reads a sandbox and boots a new session from its current snapshot when none runs.
// [backends.Expired] when there is no usable snapshot: the name still exists then.
func (c *Client) ResumeSandbox(ctx context.Context, name string) (SandboxState, error) {
	call := get("resume sandbox", name, sandboxPath, name)
	call.write, call.bounds = true, writeBounds // it waits for a session that is being stopped
	return c.getSandbox(ctx, call, true)
}

// getSandbox always sends resume: what its absence means changed between versions.
func (c *Client) getSandbox(ctx context.Context, call call, resume bool) (SandboxState, error) {
	var answer SandboxState
	if err := checkName(call.operation, call.object); err != nil {
		return answer, err
	}
	call = call.with("projectId", c.ProjectID()).with("resume", strconv.FormatBool(resume))
	err := c.do(ctx, call, &answer)
	return answer, err
}

// UpdateResult is the answer to an update. Routes are told when ports were sent.
type UpdateResult struct {
	Sandbox Sandbox `json:"sandbox" wire:"required"`
	Routes  []Route `json:"routes"`
}

// UpdateSandbox changes the configuration of a sandbox, running or stopped; it resumes nothing.
func (c *Client) UpdateSandbox(ctx context.Context, name string, request UpdateRequest) (UpdateResult, error) {
	const operation = "update sandbox"
	if err := checkName(operation, name); err != nil {
		return UpdateResult{}, err
	}
	policy, err := encodePolicy(request.NetworkPolicy, c.config.NetworkPolicyForm)
	if err != nil {
		return UpdateResult{}, err
	}
	retention, err := request.retention()
	if err != nil {
		return UpdateResult{}, err
	}
	call := change(http.MethodPatch, operation, name, sandboxPath, name).with("projectId", c.ProjectID())
	call.secrets = append(request.NetworkPolicy.secrets(), slices.Collect(maps.Values(request.Env))...)
	call, err = call.sending(struct {
		UpdateRequest
		Policy    json.RawMessage `json:"networkPolicy,omitempty"`
		Retention json.RawMessage `json:"keepLastSnapshots,omitempty"`
	}{request, policy, retention})
	if err != nil {
		return UpdateResult{}, err
	}
	var answer UpdateResult
	err = c.do(ctx, call, &answer)
	return answer, err
}

// retention is nil when it stays, and null when it is removed.
func (r UpdateRequest) retention() (json.RawMessage, error) {
	switch {
	case r.RemoveKeepLast:
		return json.RawMessage("null"), nil
	case r.KeepLastSnapshots == nil:
		return nil, nil
	default:
		return json.Marshal(r.KeepLastSnapshots)
	}
}

// DeleteSandbox removes a sandbox and its sessions, a running one too. Its snapshots stay, and are
// billed, unless withSnapshots: then those that no other sandbox uses are deleted some time later.
// [backends.NotFound] when it is gone already, or when a first attempt's reply was lost.
func (c *Client) DeleteSandbox(ctx context.Context, name string, withSnapshots bool) (Sandbox, error) {
	const operation = "delete sandbox"
	var answer struct {
		Sandbox Sandbox `json:"sandbox" wire:"required"`
	}
	if err := checkName(operation, name); err != nil {
		return Sandbox{}, err
	}
	call := change(http.MethodDelete, operation, name, sandboxPath, name).with("projectId", c.ProjectID())
	if withSnapshots {
		call = call.with("deleteOrphanSnapshots", "true")
	}
	err := c.do(ctx, call, &answer)
	return answer.Sandbox, err
}

// ForkSandbox copies a sandbox's configuration and its current snapshot, never its live disk; one
// without a snapshot gives its base image. Errors as for [Client.CreateSandbox]; [backends.NotFound]
// is about the source.
func (c *Client) ForkSandbox(ctx context.Context, source string, request ForkRequest) (SandboxState, error) {
	const operation = "fork sandbox"
	for _, name := range []string{source, request.Name} {
		if err := checkName(operation, name); err != nil {
			return SandboxState{}, err
		}
	}
	policy, err := encodePolicy(request.NetworkPolicy, c.config.NetworkPolicyForm)
	if err != nil {
		return SandboxState{}, err
	}
	call := change(http.MethodPost, operation, source, forkPath, source).with("projectId", c.ProjectID())
	call.secrets = append(request.NetworkPolicy.secrets(), slices.Collect(maps.Values(request.Env))...)
	call, err = call.sending(struct {
		ForkRequest
		Policy json.RawMessage `json:"networkPolicy,omitempty"`
	}{request, policy})
	if err != nil {
		return SandboxState{}, err
	}
	var answer SandboxState
	err = c.do(ctx, call, &answer)
	return answer, err
}
