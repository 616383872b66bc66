package basesnapshots

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Create makes the lane or takes over the one that is there, and bakes what is missing.
func (r *snapshotResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	limit, diags := plan.Timeouts.Create(ctx, createTimeout)
	resp.Diagnostics.Append(diags...)
	manager, request, err := r.prepare(ctx, &plan, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if err == nil {
		err = r.client.RequireOwner()
	}
	var result basesnapshot.Result
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		result, err = manager.Create(ctx, request)
	}
	var partial *basesnapshot.PartialError
	if err != nil {
		report(&resp.Diagnostics, fmt.Sprintf("Unable to Create Base Snapshot %q", plan.ID.ValueString()), err)
		if !errors.As(err, &partial) {
			return
		}
		result = partial.Result
	}
	r.fillResult(&plan, result, &resp.Diagnostics)
	private.Attach(ctx, resp.Private, result.Attachment, &resp.Diagnostics)
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, plan.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Read looks at the lane and its current snapshot, and touches nothing.
func (r *snapshotResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
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
	manager, lane, err := r.manager(id)
	if isUnknown(err) {
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.ConfigurationUnsure, "Base Snapshots Are Not Refreshed Yet",
			id+" was not looked at: the provider's configuration is not known yet. Its state is taken as it is."))
		return
	}
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var view basesnapshot.View
	if err == nil {
		view, err = manager.Read(ctx, lane, attachment)
	}
	if err != nil {
		report(&resp.Diagnostics, fmt.Sprintf("Unable to Read Base Snapshot %q", id), err)
		return
	}
	if view.Deleted {
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.Removed, "Base Snapshots Were Deleted", id+" was deleted by a run whose answer never reached this state."))
		resp.State.RemoveResource(ctx)
		return
	}
	if view.TakenOver {
		resp.Diagnostics.Append(diagnostics.Warning(string(sandbox.CodeTakenOver), "Base Snapshots Were Taken Over by Another State",
			id+" has been attached by another Terraform state since. A destroy here only forgets it. Let go of it here with `terraform state rm`; an apply after that takes it back."))
	}
	if view.Status != store.SnapshotReady {
		resp.Diagnostics.Append(diagnostics.Warning(diagnostics.SnapshotUnusable, "Base Snapshots Cannot Be Used", fmt.Sprintf("No workspace can start from %s: %s The next apply bakes it again.", id, view.Reason)))
	}
	if !found && view.Attachment.Record != "" {
		private.Reattach(ctx, resp.Private, view.Attachment, state.AttachmentID, &resp.Diagnostics)
	}
	observe(&state, view)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// Update bakes and rotates when the manifest changed, and otherwise changes the record alone. After a
// failure the state stays as it was, so that the next plan offers the same again.
func (r *snapshotResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
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
	manager, request, err := r.prepare(ctx, &plan, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	var result basesnapshot.Result
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		result, err = manager.Update(ctx, attachment, request)
	}
	if err != nil {
		report(&resp.Diagnostics, fmt.Sprintf("Unable to Update Base Snapshot %q", plan.ID.ValueString()), err)
		return
	}
	r.fillResult(&plan, result, &resp.Diagnostics)
	private.Attach(ctx, resp.Private, result.Attachment, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Delete retires or purges the lane, as the applied `on_destroy` says.
func (r *snapshotResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	limit, diags := state.Timeouts.Delete(ctx, deleteTimeout)
	resp.Diagnostics.Append(diags...)
	attachment, _ := private.Attachment(ctx, req.Private, state.RecordID, state.AttachmentID, &resp.Diagnostics)
	manager, lane, err := r.manager(id)
	if resp.Diagnostics.HasError() {
		return
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		c := converter{ctx: ctx}
		var outcome sandbox.Outcome
		outcome, err = manager.Delete(ctx, lane, attachment, state.OnDestroy.ValueString() == "purge", c.retention(state.Retention))
		if err == nil && outcome == sandbox.Forgotten {
			resp.Diagnostics.Append(diagnostics.Warning(string(sandbox.CodeTakenOver), "Base Snapshots Were Only Forgotten",
				id+" is not held by this state any more: another state attached it since, or let go of it. Nothing was removed."))
		}
	}
	if err != nil {
		report(&resp.Diagnostics, fmt.Sprintf("Unable to Delete Base Snapshot %q", id), err)
	}
}

// ImportState fills the state from the lane and its record, by reads only.
func (r *snapshotResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	id := identity.ImportID(ctx, req, &resp.Diagnostics)
	summary := fmt.Sprintf("Unable to Import Base Snapshot %q", id)
	manager, lane, err := r.manager(id)
	var view basesnapshot.View
	if err == nil {
		view, err = manager.Import(ctx, lane)
	}
	var m model
	if err == nil {
		m.null()
		err = applySettings(view.Settings, &m)
	}
	if err != nil {
		report(&resp.Diagnostics, summary, err)
		return
	}
	m.ID, m.Backend = types.StringValue(id), types.StringValue(manager.Sandboxes.Backend.Name())
	m.App, m.Template = types.StringValue(lane.App), types.StringValue(lane.Template)
	m.RecordID, m.AttachmentID = convert.TextOrNull(view.Attachment.Record), convert.TextOrNull(view.Attachment.Token)
	if m.OnDestroy.IsNull() {
		m.OnDestroy = r.client.OnDestroy
	}
	observe(&m, view)
	private.Attach(ctx, resp.Private, view.Attachment, &resp.Diagnostics)
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, m.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// null makes every value null, of the right type, where an import has nothing yet.
func (m *model) null() {
	*m = model{
		Manifest: types.ObjectNull(manifestType), Environment: types.MapNull(types.StringType),
		EnvironmentAllowlist: types.SetNull(types.StringType), AllowNames: types.SetNull(types.StringType),
		SmokeChecks: types.ListNull(smokeCheckType), Network: types.ObjectNull(networkType), Retention: types.ObjectNull(retentionType),
		History: types.ListNull(entryType),
	}
	m.Timeouts.Object = types.ObjectNull(timeoutsType)
}

// prepare turns a planned model into what the domain takes.
func (r *snapshotResource) prepare(ctx context.Context, plan *model, diags *diag.Diagnostics) (*basesnapshot.Manager, basesnapshot.Request, error) {
	c := converter{ctx: ctx}
	manager, _, err := r.manager(plan.ID.ValueString())
	if err != nil {
		return nil, basesnapshot.Request{}, err
	}
	request := c.request(plan, true)
	request.Settings, err = c.settings(plan)
	diags.Append(c.diags...)
	return manager, request, err
}

// report adds a diagnostic for each of several reasons, so that none hides another.
func report(diags *diag.Diagnostics, summary string, err error) {
	for _, reason := range reasons(err) {
		diags.Append(diagnostics.FromError(summary, reason))
	}
}

// reasons takes refusals apart that were joined. Any other error is one reason: what it wraps says
// nothing by itself.
func reasons(err error) []error {
	all := joined(err)
	for _, reason := range all {
		var refusal *sandbox.Refusal
		if !errors.As(reason, &refusal) {
			return []error{err}
		}
	}
	return all
}

// fillResult fills in what a plan left unknown and keeps what it promised.
func (r *snapshotResource) fillResult(m *model, result basesnapshot.Result, diags *diag.Diagnostics) {
	view := basesnapshot.View{Status: result.Current.Status, Previous: result.Previous, History: result.History}
	if result.Current.ID != "" {
		view.Current = &result.Current
	}
	set(m, view, true)
	if m.RecordID.IsUnknown() {
		m.RecordID = convert.TextOrNull(result.Attachment.Record)
	}
	if m.AttachmentID.IsUnknown() {
		m.AttachmentID = convert.TextOrNull(result.Attachment.Token)
	}
	if m.OnDestroy.IsUnknown() {
		m.OnDestroy = types.StringValue("retain")
	}
	for _, warning := range result.Warnings {
		diags.Append(diagnostics.Warning(diagnostics.Retained, "Former Base Snapshots Could Not Be Deleted", warning))
	}
}

// observe writes what a read found.
func observe(m *model, view basesnapshot.View) { set(m, view, false) }

// set writes the computed values. unknownOnly keeps what a plan promised.
func set(m *model, view basesnapshot.View, unknownOnly bool) {
	write := func(target *types.String, value types.String) {
		if !unknownOnly || target.IsUnknown() {
			*target = value
		}
	}
	current := basesnapshot.Entry{}
	if view.Current != nil {
		current = *view.Current
		write(&m.ManifestHash, convert.TextOrNull(current.ManifestHash))
	} else {
		write(&m.ManifestHash, types.StringNull())
	}
	write(&m.Status, convert.TextOrNull(view.Status))
	write(&m.StatusReason, convert.TextOrNull(view.Reason))
	write(&m.Version, convert.TextOrNull(current.Version))
	write(&m.SnapshotID, convert.TextOrNull(current.SnapshotID))
	write(&m.SourceDigest, convert.TextOrNull(current.SourceDigest))
	write(&m.CreatedAt, convert.TimeOrNull(current.CreatedAt))
	write(&m.ExpiresAt, convert.TimeOrNull(current.ExpiresAt))
	previous := types.StringNull()
	if view.Previous != nil {
		previous = convert.TextOrNull(view.Previous.SnapshotID)
	}
	write(&m.PreviousSnapshotID, previous)
	if !unknownOnly || m.SizeBytes.IsUnknown() {
		m.SizeBytes = convert.Int64OrNull(current.SizeBytes)
	}
	if !unknownOnly || m.History.IsUnknown() {
		m.History = HistoryValue(view.History)
	}
}
