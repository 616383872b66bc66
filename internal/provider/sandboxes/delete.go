package sandboxes

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Delete lets go of the sandbox as the applied `on_destroy` says.
func (r *sandboxResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	state := r.newModel()
	resp.Diagnostics.Append(req.State.Get(ctx, state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m, _ := state.parts()
	id := m.ID.ValueString()
	limit, diags := m.Timeouts.Delete(ctx, deleteTimeout)
	resp.Diagnostics.Append(diags...)
	attachment, _ := private.Attachment(ctx, req.Private, m.RecordID, m.AttachmentID, &resp.Diagnostics)
	manager, name, err := r.client.ManagerOf(id)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err == nil {
		var outcome sandbox.Outcome
		outcome, err = manager.Delete(ctx, name, r.kindOf(state), attachment, m.OnDestroy.ValueString() == "purge")
		if err == nil && outcome == sandbox.Forgotten {
			resp.Diagnostics.Append(diagnostics.Warning(string(sandbox.CodeTakenOver), "Sandboxes Were Only Forgotten",
				id+" is not held by this state any more: another state attached it since, or let go of it. Nothing was stopped or removed."))
		}
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Delete %s %q", r.title, id), err))
	}
}
