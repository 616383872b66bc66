package cloudhosts

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
)

// planner holds one ModifyPlan call. Only the catalog is read, and nothing is changed.
type planner struct {
	ctx                 context.Context
	client              *client.Client
	config, plan, state *model // state is nil for a create
	resp                *resource.ModifyPlanResponse
}

// ModifyPlan decides identity, replacement and run state, and refuses what cannot be done.
func (r *hostResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		r.planDestroy(ctx, req, resp)
		return
	}
	if r.client == nil {
		return
	}
	p := planner{ctx: ctx, client: r.client, config: &model{}, plan: &model{}, resp: resp}
	resp.Diagnostics.Append(req.Config.Get(ctx, p.config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, p.plan)...)
	if !req.State.Raw.IsNull() {
		p.state = &model{}
		resp.Diagnostics.Append(req.State.Get(ctx, p.state)...)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(check(p.config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if p.config.OnDestroy.IsNull() {
		p.plan.OnDestroy = p.client.OnDestroy
	}
	p.planID()
	second := p.state == nil && identity.SecondLeg(ctx, req.Private, &resp.Diagnostics)
	if !p.plan.Name.IsUnknown() && !second && !p.client.Claim("host/"+p.plan.Name.ValueString()) {
		p.error(path.Root("name"), diagnostics.DuplicateWorkspace, "Two Resources for One Host",
			fmt.Sprintf("Another resource of this configuration stands for the host %q already. Give each its own `name`.", p.plan.Name.ValueString()))
	}
	if p.state == nil {
		p.planCreate()
		if !second {
			p.foresee()
		}
	} else {
		p.planChange()
		if pending, _ := private.Read[bool](ctx, req.Private, rebindKey, &resp.Diagnostics); pending {
			// Without a difference no apply would come to accept the token.
			p.plan.AttachmentID = types.StringUnknown()
		}
		identity.LeaveLeg(ctx, resp.Private, &resp.Diagnostics)
	}
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, p.plan)...)
	}
}

func (p *planner) error(at path.Path, code, summary, detail string) {
	p.resp.Diagnostics.Append(diagnostics.AttributeError(at, code, summary, detail))
}

func (p *planner) warn(at path.Path, code, summary, detail string) {
	p.resp.Diagnostics.Append(diagnostics.AttributeWarning(at, code, summary, detail))
}

// planID plans the identity, at plan wherever owner and name are known.
func (p *planner) planID() {
	if p.state != nil && (p.plan.Name.IsUnknown() || p.plan.Name.Equal(p.state.Name)) {
		p.plan.ID = p.state.ID
		return
	}
	p.plan.ID = types.StringUnknown()
	if p.plan.Name.IsUnknown() {
		return
	}
	owner, err := p.client.OwnerKnown(p.ctx)
	if err == nil && owner != "" {
		p.plan.ID = types.StringValue(cloudhost.ID(owner, p.plan.Name.ValueString()))
	}
}

func (p *planner) planCreate() {
	if err := p.client.RequireOwner(); err != nil {
		p.error(path.Root("name"), diagnostics.OwnerRequired, "Owner Required in CI", err.Error()+". Set the provider's `owner`, or SANDLOT_OWNER.")
	}
	if err := p.client.RequireLastingStore(); err != nil {
		p.error(path.Root("name"), diagnostics.StoreRequired, "Lasting Store Required in CI", err.Error()+". Set the provider's `store`, or `data_dir` to a directory that is kept.")
	}
	p.checkExpiry()
	p.checkCatalog()
	plan := p.plan
	plan.RecordID, plan.AttachmentID = types.StringUnknown(), types.StringUnknown()
	p.unknownServer()
	plan.Status = types.StringUnknown()
	if desired := plan.DesiredState; !desired.IsUnknown() {
		plan.Status = types.StringValue(cloudhost.DesiredRunning)
		if !desired.IsNull() {
			plan.Status = desired
		}
	}
}

// foresee tells what the create will meet, as far as the store knows: a host of that name that was
// retained, or that another state holds.
func (p *planner) foresee() {
	manager, err := p.client.CloudHosts()
	if err != nil || p.plan.Name.IsUnknown() {
		return // not known yet
	}
	var unreported diag.Diagnostics // the apply converts the same values
	met, err := manager.Foresee(p.ctx, request(p.plan, &unreported))
	if err != nil || !met.Exists || met.OtherPlace {
		return // the apply, which needs store and API, reports it
	}
	at, name := path.Root("name"), p.plan.Name.ValueString()
	if met.Different != "" && !p.plan.ServerType.IsUnknown() && !p.plan.Location.IsUnknown() && !p.plan.Image.IsUnknown() {
		p.error(at, string(cloudhost.CodeOtherOptions), fmt.Sprintf("Cloud Host %q Is There Already", name),
			fmt.Sprintf("It was made with the %s, and its disk is kept, so it is not made anew. Set that back; or purge the host first: set `on_destroy = \"purge\"` with the old value, apply, destroy, then change it.", met.Different))
		return
	}
	from := "It was retained"
	if met.Attached {
		from = "Another state holds it, or one that was lost, and will only forget it from then on"
	}
	p.warn(at, diagnostics.Reattached, "Cloud Hosts Are Attached Again", fmt.Sprintf("%q is there already. %s; the apply attaches it with its disk, its address and its keys.", name, from))
}

func (p *planner) unknownServer() {
	plan := p.plan
	for _, text := range []*types.String{&plan.IPv4Address, &plan.HostKeyFingerprint, &plan.SSHConfigPath, &plan.CreatedAt} {
		*text = types.StringUnknown()
	}
	plan.ServerID, plan.Details = types.Int64Unknown(), types.ObjectUnknown(detailsType)
}

// planChange plans what becomes of an existing host.
func (p *planner) planChange() {
	p.keepComputed()
	p.freezeCreationOnly()
	if p.state.Status.ValueString() == string(cloudhost.StatusMissing) {
		p.planMissing()
		return
	}
	if p.state.Status.ValueString() == string(cloudhost.StatusDestroying) {
		p.finishPurge()
		return
	}
	if p.planTypeChange() {
		return
	}
	desired := p.plan.DesiredState
	switch status := p.state.Status.ValueString(); {
	case desired.IsUnknown():
		p.plan.Status = types.StringUnknown()
	case status == string(cloudhost.StatusIncomplete) || status == string(cloudhost.StatusInterrupted):
		p.recover(desired)
	case !desired.IsNull() && desired.ValueString() != status:
		if desired.ValueString() == cloudhost.DesiredRunning {
			p.checkExpiry()
		}
		p.plan.Status = desired
	}
}

// finishPurge plans that a purge which was cut short is finished, and the host made anew after it.
func (p *planner) finishPurge() {
	p.unknownServer()
	p.plan.Status = types.StringUnknown()
	p.resp.RequiresReplace = append(p.resp.RequiresReplace, path.Root("status"))
	p.warn(path.Root("status"), diagnostics.Interrupted, fmt.Sprintf("Interrupted Purge of %q", p.state.ID.ValueString()),
		"A run was cut short while it purged this host, or something could not be deleted. The apply finishes that and then makes it anew; a destroy finishes it and stops there.")
	p.checkExpiry()
}

// recover plans that a host which is not ready yet becomes so.
func (p *planner) recover(desired types.String) {
	if desired.ValueString() != cloudhost.DesiredSleeping {
		p.checkExpiry()
	}
	p.unknownServer()
	p.plan.Status = types.StringUnknown()
	if !desired.IsNull() {
		p.plan.Status = desired
	}
	p.warn(path.Root("status"), diagnostics.Interrupted, fmt.Sprintf("Cloud Host %q Is Finished", p.state.ID.ValueString()),
		"A run was cut short while it was at work on the host. The apply goes on where that stopped.")
}

func (p *planner) keepComputed() {
	plan, state := p.plan, p.state
	plan.RecordID, plan.AttachmentID = state.RecordID, state.AttachmentID
	plan.ServerID, plan.IPv4Address, plan.HostKeyFingerprint = state.ServerID, state.IPv4Address, state.HostKeyFingerprint
	plan.SSHConfigPath, plan.Status, plan.CreatedAt, plan.Details = state.SSHConfigPath, state.Status, state.CreatedAt, state.Details
}

// freezeCreationOnly keeps what was used when the host was made: a later value is no difference. Core
// accepts the prior value where configuration and prior state both have one.
func (p *planner) freezeCreationOnly() {
	if !p.state.DockerPackages.IsNull() {
		p.plan.DockerPackages = p.state.DockerPackages
	}
}

// planMissing stops the plan, or warns, when the server is gone.
func (p *planner) planMissing() {
	id := p.state.ID.ValueString()
	if p.plan.OnMissing.ValueString() == "keep" {
		p.warn(path.Root("on_missing"), string(cloudhost.CodeMissing), "Missing Cloud Hosts Are Kept in the State",
			fmt.Sprintf("%s is gone. `on_missing` is `keep`, so nothing is planned for it, whatever else its configuration says now.", id))
		p.holdAll()
		return
	}
	p.error(path.Root("on_missing"), string(cloudhost.CodeMissing), fmt.Sprintf("Cloud Host %q Is Missing", id),
		fmt.Sprintf("%s was looked for where it was made, and its server is gone. It is not silently made anew, since its data would be missing unseen. Its address and SSH key may still be there, and billed.\n\n", id)+
			"To start over, set `on_destroy = \"purge\"` with `on_missing = \"keep\"` and apply, delete the block and apply (that removes what is left), then declare it again.\n"+
			"To let go of it, delete the block from the configuration, or run `terraform state rm`.\n"+
			"To destroy everything else with it, run `terraform destroy -refresh=false`, or set `on_missing = \"keep\"` first: a destroy plans once normally, so this error stops it.")
}

// holdAll plans what the state has: nothing can be changed on a host that is gone.
func (p *planner) holdAll() {
	plan, state, config := p.plan, p.state, p.config
	plan.ID = state.ID
	convert.Hold(&plan.Name, state.Name, config.Name)
	convert.Hold(&plan.Labels, state.Labels, config.Labels)
	convert.Hold(&plan.ExpiresAt, state.ExpiresAt, config.ExpiresAt)
	convert.Hold(&plan.DesiredState, state.DesiredState, config.DesiredState)
	// These have defaults, so the prior value stands in for either.
	plan.ServerType, plan.Location, plan.Image, plan.IdleTimeout = state.ServerType, state.Location, state.Image, state.IdleTimeout
}

// planTypeChange handles what cannot change in place: an error while the prior state says retain, a
// replacement with a warning once it says purge. It tells whether there is such a change.
func (p *planner) planTypeChange() bool {
	id, found := p.state.ID.ValueString(), false
	for _, changed := range []struct {
		name      string
		plan, was types.String
	}{
		{"name", p.plan.Name, p.state.Name},
		{"server_type", p.plan.ServerType, p.state.ServerType},
		{"location", p.plan.Location, p.state.Location},
		{"image", p.plan.Image, p.state.Image},
	} {
		// Unknown values are in place for now; a value that an import could not know is adopted.
		if changed.plan.IsUnknown() || changed.was.IsNull() || changed.plan.Equal(changed.was) {
			continue
		}
		found = true
		at := path.Root(changed.name)
		if p.state.OnDestroy.ValueString() != "purge" {
			p.error(at, diagnostics.PurgeFirst, "Purge First",
				fmt.Sprintf("Changing this would replace %s, and its disk would be lost. The applied state says `on_destroy = \"retain\"`, so that is refused.\n\n", id)+
					"If the data may go: set `on_destroy = \"purge\"` and apply that alone, then change this in a second apply.\n"+
					"If it is to be kept: declare another host beside it.")
			continue
		}
		p.resp.RequiresReplace = append(p.resp.RequiresReplace, at)
		p.warn(at, diagnostics.DataLost, fmt.Sprintf("Data of %q Will Be Deleted", id),
			"This change replaces the host. Lost: the server with its disk, its address and its SSH key, and every sandbox on it.")
	}
	if found {
		p.checkExpiry()
		p.checkCatalog()
	}
	return found
}

// checkExpiry refuses to make or wake a host whose time is over. Refresh, extension, sleep and purge
// are not in its way.
func (p *planner) checkExpiry() {
	id := p.plan.ID.ValueString()
	if p.plan.ID.IsUnknown() {
		id = p.plan.Name.ValueString()
	}
	if err := cloudhost.CheckExpiry(id, expiryOf(p.plan), time.Now()); err != nil {
		p.resp.Diagnostics.Append(diagnostics.FromAttributeError(path.Root("expires_at"), "Cloud Host Has Expired", err))
	}
}

// planDestroy says what a destroy leaves, which is billed, and what it loses.
func (r *hostResource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() {
		return
	}
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	if state.OnDestroy.ValueString() == "purge" {
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.DataLost, fmt.Sprintf("Data of %q Will Be Deleted", id),
			fmt.Sprintf("The applied state says `on_destroy = \"purge\"`: %s is deleted, with its disk, its address, its SSH key and its record. Every sandbox on it is lost.", id)))
		return
	}
	resp.Diagnostics.Append(diagnostics.Warning(diagnostics.Retained, "Cloud Hosts Are Retained and Billed",
		fmt.Sprintf("%s is shut down and detached. Server, disk, address, SSH key and record stay, and a server that is shut down is billed like one that runs. Declaring it again re-attaches it. To delete it, set `on_destroy = \"purge\"` and apply before the destroy.", id)))
}
