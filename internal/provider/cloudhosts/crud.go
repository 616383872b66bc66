package cloudhosts

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// rebindKey marks in the private state that a refresh reached the host with a token that no apply has
// accepted yet.
const rebindKey = "rebind"

// Create makes the host, finishes what a killed run began or takes over the one that is there. State is
// written only for what exists. It reaches the CLI with the answer alone: what a killed run made is found by
// the record, which knows each id before anything is waited for.
func (r *hostResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	limit, diags := plan.Timeouts.Create(ctx, createTimeout)
	resp.Diagnostics.Append(diags...)
	request := request(&plan, &resp.Diagnostics)
	manager, err := r.client.CloudHosts()
	if err == nil {
		err = errors.Join(r.client.RequireOwner(), r.client.RequireLastingStore())
	}
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var result cloudhost.Result
	if err == nil {
		result, err = manager.Create(ctx, request, nil)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Create Cloud Host %q", plan.Name.ValueString()), err))
		var partial *cloudhost.PartialError
		if !errors.As(err, &partial) {
			return
		}
		result.Host = partial.Host
		plan.Status = types.StringUnknown() // what was promised is not kept
	}
	fill(&plan, result.Host)
	private.Attach(ctx, resp.Private, result.Host.Attachment, &resp.Diagnostics)
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, plan.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Read looks at the host and touches nothing.
func (r *hostResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, state.ID)...)
	id := state.ID.ValueString()
	limit, diags := state.Timeouts.Read(ctx, readTimeout)
	resp.Diagnostics.Append(diags...)
	attachment, found := private.Attachment(ctx, req.Private, state.RecordID, state.AttachmentID, &resp.Diagnostics)
	manager, owner, name, err := r.open(id)
	if errors.Is(err, client.ErrUnknown) {
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.ConfigurationUnsure, "Cloud Hosts Are Not Refreshed Yet",
			id+" was not looked at: the provider's configuration is not known yet. Its state is taken as it is."))
		return
	}
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var host cloudhost.Host
	if err == nil {
		host, err = manager.Read(ctx, owner, name, attachment)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Read Cloud Host %q", id), err))
		return
	}
	if host.Deleted {
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.Removed, "Cloud Hosts Were Deleted", id+" was deleted by a run whose answer never reached this state."))
		resp.State.RemoveResource(ctx)
		return
	}
	warn(id, host, &resp.Diagnostics)
	private.Write(ctx, resp.Private, rebindKey, host.RebindPending, &resp.Diagnostics)
	if !found && host.Recorded {
		private.Reattach(ctx, resp.Private, host.Attachment, state.AttachmentID, &resp.Diagnostics)
	}
	observe(&state, host)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// warn tells of what a refresh found that a user has to know.
func warn(id string, host cloudhost.Host, diags *diag.Diagnostics) {
	if host.TakenOver {
		diags.Append(diagnostics.Warning(string(sandbox.CodeTakenOver), "Cloud Hosts Were Taken Over by Another State",
			id+" has been attached by another Terraform state since. A destroy here only forgets it. Let go of it here with `terraform state rm`; an apply after that takes it back."))
	}
	if host.Status == cloudhost.StatusMissing {
		diags.Append(diagnostics.Warning(string(cloudhost.CodeMissing), "Cloud Hosts Are Missing",
			id+" is gone. It stays in the state, and is not made anew unasked."))
	}
	if !host.Recorded {
		diags.Append(diagnostics.Warning(string(cloudhost.CodeRecordMissing), "Records of Cloud Hosts Are Missing",
			id+" has no record in this store, so that it can be looked at, but not be woken, put to sleep or purged. Point the provider at the store it was made with."))
	}
	if host.RebindPending {
		diags.Append(diagnostics.Warning(string(sandbox.CodeOtherBinding), "Cloud Hosts Are Reached With Another Token",
			id+" was made with another token. The present one shows its server with our label; the next apply binds it to the present one."))
	}
}

// Update brings the host to the plan and finishes what a killed run began.
func (r *hostResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, plan.ID)...)
	attachment, _ := private.Attachment(ctx, req.Private, state.RecordID, state.AttachmentID, &resp.Diagnostics)
	limit, diags := plan.Timeouts.Update(ctx, updateTimeout)
	resp.Diagnostics.Append(diags...)
	request := request(&plan, &resp.Diagnostics)
	manager, _, _, err := r.open(plan.ID.ValueString())
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if state.Status.ValueString() == string(cloudhost.StatusMissing) {
		// There is nothing to change but what the state alone decides by.
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		return
	}
	var result cloudhost.Result
	if err == nil {
		result, err = manager.Update(ctx, attachment, request, nil)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Update Cloud Host %q", plan.ID.ValueString()), err))
		return
	}
	fill(&plan, result.Host)
	private.Attach(ctx, resp.Private, result.Host.Attachment, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Delete shuts the host down and keeps it, or purges it, as the applied `on_destroy` says.
func (r *hostResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	limit, diags := state.Timeouts.Delete(ctx, deleteTimeout)
	resp.Diagnostics.Append(diags...)
	attachment, _ := private.Attachment(ctx, req.Private, state.RecordID, state.AttachmentID, &resp.Diagnostics)
	manager, owner, name, err := r.open(id)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err == nil {
		var outcome sandbox.Outcome
		outcome, err = manager.Delete(ctx, owner, name, attachment, state.OnDestroy.ValueString() == "purge")
		if err == nil && outcome == sandbox.Forgotten {
			resp.Diagnostics.Append(diagnostics.Warning(string(sandbox.CodeTakenOver), "Cloud Hosts Were Only Forgotten",
				id+" is not held by this state any more: another state attached it since, or let go of it. Nothing was stopped or removed."))
		}
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Delete Cloud Host %q", id), err))
	}
}

// ImportState fills the state from the record and the platform, by reads only. An id without backend,
// <owner>/<name>, will do.
func (r *hostResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	id := identity.ImportID(ctx, req, &resp.Diagnostics)
	manager, owner, name, err := r.open(id)
	var host cloudhost.Host
	if err == nil {
		host, err = manager.Import(ctx, owner, name)
	}
	var m model
	if err == nil {
		m.null()
		err = applySettings(host.Settings, &m)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Import Cloud Host %q", id), err))
		return
	}
	m.ID, m.Name = types.StringValue(cloudhost.ID(owner, name)), types.StringValue(name)
	if m.OnDestroy.IsNull() {
		m.OnDestroy = r.client.OnDestroy
	}
	fill(&m, host)
	observe(&m, host)
	private.Attach(ctx, resp.Private, host.Attachment, &resp.Diagnostics)
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, m.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// open returns the manager, and the owner and name that an id stands for.
func (r *hostResource) open(id string) (manager *cloudhost.Manager, owner, name string, err error) {
	if owner, name, err = cloudhost.ParseID(id); err != nil {
		return nil, "", "", err
	}
	manager, err = r.client.CloudHosts()
	return manager, owner, name, err
}
