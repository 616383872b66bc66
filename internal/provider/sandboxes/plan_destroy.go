package sandboxes

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// planDestroy says what a destroy leaves and what it loses. Warnings about what stays share one
// summary, which the CLIs fold; what is lost is named each.
func (r *sandboxResource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() {
		return
	}
	state := r.newModel()
	resp.Diagnostics.Append(req.State.Get(ctx, state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m, _ := state.parts()
	id := m.ID.ValueString()
	purge := m.OnDestroy.ValueString() == "purge"
	switch {
	case m.Status.ValueString() == string(sandbox.StatusMissing):
		resp.Diagnostics.Append(diagnostics.Warning(string(sandbox.CodeMissing), "Missing Sandboxes Are Let Go", id+" is gone already; only its entry is removed."))
	case purge:
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.DataLost, fmt.Sprintf("Data of %q Will Be Deleted", id),
			fmt.Sprintf("The applied state says `on_destroy = \"purge\"`: %s is deleted with its workspace, its named volumes and its own snapshots.", id)))
	case state.workspace() != nil:
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.Retained, "Workspace Runtimes Are Retained",
			fmt.Sprintf("%s is stopped and detached. Its data, its identity and its row stay: declaring it again re-attaches it. To delete it, set `on_destroy = \"purge\"` and apply before the destroy.", id)))
	case r.kind == backends.Persistent:
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.Retained, "Persistent Sandboxes Are Retained",
			fmt.Sprintf("%s is stopped and detached. Its data and identity stay: declaring it again re-attaches it. To delete it, set `on_destroy = \"purge\"` and apply before the destroy.", id)))
	default:
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.DataLost, fmt.Sprintf("Workspace of %q Will Be Deleted", id),
			fmt.Sprintf("%s is deleted with its workspace. Its named volumes, if any, stay: `on_destroy` is `retain`.", id)))
	}
}
