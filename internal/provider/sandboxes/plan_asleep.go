package sandboxes

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
)

// statusHostSleeping is the status of a sandbox whose cloud host is shut down: nobody can look at it.
const statusHostSleeping = backends.Status(backends.HostSleeping)

// planAsleep plans nothing for a sandbox whose cloud host sleeps, and refuses what would need the host.
func (p *planner) planAsleep() {
	asks := p.raised() || p.specChanged() || len(p.typeChanges()) > 0 || !p.plan.DesiredState.IsUnknown() && !p.plan.DesiredState.Equal(p.state.DesiredState)
	if p.persistPlan != nil {
		asks = asks || changed([2]attr.Value{p.persistPlan.CheckpointTrigger, p.persistState.CheckpointTrigger})
	}
	if p.diags.HasError() || !asks {
		return
	}
	p.error(path.Root("cloud_host_id"), string(backends.HostSleeping), fmt.Sprintf("Cloud Host of Sandbox %q Sleeps", p.state.ID.ValueString()),
		"This change needs the cloud host, which is shut down and not woken unasked. Set `desired_state = \"running\"` on the `sandlot_cloud_host` and apply that first.")
}

// checkHostOwner refuses a host of another owner: the store knows the records of one.
func (p *planner) checkHostOwner() {
	if p.plan.CloudHostID.IsNull() || p.plan.CloudHostID.IsUnknown() {
		return
	}
	owner, err := p.client.OwnerKnown(p.ctx)
	if err != nil || owner == "" {
		return // the apply, which needs the store, reports it
	}
	if named := hostOwner(p.plan.CloudHostID); named != owner {
		p.error(path.Root("cloud_host_id"), string(backends.NotOurs), "Cloud Host of Another Owner",
			fmt.Sprintf("The host belongs to the owner %q, and this provider works for %q. Use a provider block with that `owner`.", named, owner))
	}
}

func hostOwner(id types.String) string {
	owner, _, err := cloudhost.ParseID(id.ValueString())
	if err != nil {
		return "" // the attribute's own validator reports it
	}
	return owner
}
