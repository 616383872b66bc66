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

// replacedWhole tells whether a changed environment takes the secrets along: where it cannot be read, it is
// replaced as a whole.
func replacedWhole(plan, before *common) bool {
	table, known := capabilityTable(plan)
	return known && table.EnvironmentUnreadable && !plan.Environment.Equal(before.Environment)
}

// Update changes what the plan changed, and finishes or recovers what a read found cut short.
func (r *sandboxResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan, state, config := r.newModel(), r.newModel(), r.newModel()
	resp.Diagnostics.Append(req.Plan.Get(ctx, plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, state)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m, _ := plan.parts()
	before, _ := state.parts()
	configured, _ := config.parts()
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, m.ID)...)
	attachment, _ := private.Attachment(ctx, req.Private, before.RecordID, before.AttachmentID, &resp.Diagnostics)
	limit, diags := m.Timeouts.Update(ctx, updateTimeout)
	resp.Diagnostics.Append(diags...)

	secrets := types.MapNull(types.StringType)
	// Secrets that lived in lost compute are handed in again, whatever their version.
	replaceSecrets := !m.SecretVersion.Equal(before.SecretVersion) || before.Status.ValueString() == string(backends.StatusLost) || r.madeAgain(plan, before) || replacedWhole(m, before)
	if replaceSecrets {
		secrets = configured.SecretEnvironment
	}
	manager, request, err := r.request(ctx, plan, secrets, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if replaceSecrets && request.Spec.Secrets == nil {
		request.Spec.Secrets = map[string]string{} // none any more, which differs from as before
	}
	if err == nil {
		request.Extension = r.extension(ctx, manager, plan, state, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	summary := fmt.Sprintf("Unable to Update %s %q", r.title, m.ID.ValueString())
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(summary, err))
		return
	}
	if before.Status.ValueString() == string(sandbox.StatusMissing) {
		// `on_missing = "keep"`: there is nothing to act on but the state itself.
		resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result, err := manager.Update(ctx, attachment, request)
	if before.Status.ValueString() == string(statusHostSleeping) && errors.Is(err, backends.HostSleeping) {
		// The plan let nothing through that needs the host.
		if err = manager.NoteAsleep(ctx, request.Name, attachment, request.Settings, err); err == nil {
			resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
			return
		}
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(summary, err))
		return
	}
	r.fillResult(ctx, plan, result)
	private.Attach(ctx, resp.Private, result.Attachment, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
}
