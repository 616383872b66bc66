package sandboxes

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Read looks at the sandbox and touches nothing.
func (r *sandboxResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	state := r.newModel()
	resp.Diagnostics.Append(req.State.Get(ctx, state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m, p := state.parts()
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, m.ID)...)
	id := m.ID.ValueString()
	limit, diags := m.Timeouts.Read(ctx, readTimeout)
	resp.Diagnostics.Append(diags...)
	attachment, found := private.Attachment(ctx, req.Private, m.RecordID, m.AttachmentID, &resp.Diagnostics)
	manager, name, err := r.client.ManagerOf(id)
	if isUnknown(err) {
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.ConfigurationUnsure, "Sandboxes Are Not Refreshed Yet",
			id+" was not looked at: the provider's configuration is not known yet. Its state is taken as it is."))
		return
	}
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var view sandbox.View
	if err == nil {
		view, err = manager.Read(ctx, name, attachment)
	}
	if errors.Is(err, backends.HostSleeping) {
		resp.Diagnostics.Append(diagnostics.Warning(string(backends.HostSleeping), "Cloud Hosts of Sandboxes Sleep",
			id+" was not looked at, since its cloud host is shut down. Its state is kept as it is, and nothing is planned for it."))
		m.Status = types.StringValue(string(statusHostSleeping))
		resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
		return
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Read %s %q", r.title, id), err))
		return
	}
	if !found && view.Recorded {
		private.Reattach(ctx, resp.Private, view.Attachment, m.AttachmentID, &resp.Diagnostics)
	}
	if view.SessionLost && view.Status == backends.StatusLost && m.DesiredState.ValueString() == sandbox.DesiredStopped {
		// Nothing has to run, and the workspace's own snapshot is there: that is as stopped as can be.
		view.Status = backends.StatusStopped
	}
	if view.TakenOver {
		resp.Diagnostics.Append(diagnostics.Warning(string(sandbox.CodeTakenOver), "Sandboxes Were Taken Over by Another State",
			id+" has been attached by another Terraform state since. A destroy here only forgets it. Let go of it here with `terraform state rm`; an apply after that takes it back."))
	}
	if view.Deleted {
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.Removed, "Sandboxes Were Deleted",
			id+" was deleted by a run whose answer never reached this state."))
	}
	if view.Status == sandbox.StatusMissing && (p == nil || view.Deleted) {
		resp.State.RemoveResource(ctx)
		return
	}
	c := converter{ctx: ctx}
	if view.Status == sandbox.StatusMissing {
		r.warnMissing(id, view, resp)
	} else if view.Observed.Status != backends.StatusLost && view.Observed.Name != "" {
		c.observe(m, view.Observed.Spec, manager.Backend.Capabilities())
		c.observeRetention(p, view.Observed.Spec, manager.Backend.Capabilities())
		if len(view.LostSecrets) > 0 {
			// No state knows a secret, but its version does: without one the next apply hands all in again.
			m.SecretVersion = types.Int64Null()
		}
	}
	c.observeComputed(m, p, view, false)
	r.observeRuntime(state, view)
	resp.Diagnostics.Append(c.diags...)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}

func (r *sandboxResource) warnMissing(id string, view sandbox.View, resp *resource.ReadResponse) {
	detail := id + " is gone. It stays in the state, and is not made anew unasked."
	if view.Replaced {
		detail = id + " is gone, and another object has its name now. It stays in the state, and is not made anew unasked."
	}
	resp.Diagnostics.Append(diagnostics.Warning(string(sandbox.CodeMissing), "Sandboxes Are Missing", detail))
}
