package api

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Reconcile finds out what became of a create or fork whose outcome is unknown, by reading the
// sandbox without resuming it. It is returned only when it lives in this client's project and
// carries all of tags, which must tell our sandboxes from others (section 4).
//
// Errors: [backends.NotFound] when it did not appear within Config.SettleTime: then nothing was made, or
// it comes still later, and a new create of the same name fails with [backends.AlreadyExists].
// [backends.NotOurs] when the name belongs to someone else. The sandbox may still be booting.
func (c *Client) Reconcile(ctx context.Context, name string, tags map[string]string) (SandboxState, error) {
	const operation = "look up sandbox after an unclear answer"
	if len(tags) == 0 {
		return SandboxState{}, invalid(operation, name, "Without tags, nobody can tell whose sandbox it is.", "")
	}
	settled := time.Now().Add(c.config.SettleTime)
	for round := 0; ; round++ {
		found, err := c.GetSandbox(ctx, name)
		if err == nil {
			return c.ours(operation, found, name, tags)
		}
		if !errors.Is(err, backends.NotFound) || time.Now().After(settled) {
			return SandboxState{}, err
		}
		if err := c.poll.pause(ctx, round); err != nil {
			return SandboxState{}, c.lost(ctx, &exchange{call: call{operation: operation, object: name}}, err)
		}
	}
}

// ours checks the marks of a sandbox.
func (c *Client) ours(operation string, found SandboxState, name string, tags map[string]string) (SandboxState, error) {
	foreign := ""
	for key, value := range tags {
		if has, ok := found.Sandbox.Tags[key]; !ok || has != value {
			foreign = "It carries other tags than ours."
		}
	}
	if project := found.Session.ProjectID; strings.HasPrefix(project, "prj_") &&
		strings.HasPrefix(c.ProjectID(), "prj_") && project != c.ProjectID() {
		foreign = "It lives in another project."
	}
	if found.Sandbox.Name != name {
		foreign = "The API answered with another sandbox."
	}
	if foreign == "" {
		return found, nil
	}
	return SandboxState{}, &backends.Error{
		Kind: backends.NotOurs, Backend: backendName, Operation: operation, Object: name,
		Detail: foreign + " It was not touched.", Remedy: "Choose another name, or import it if it is yours.",
	}
}
