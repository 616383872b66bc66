package sandboxes

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// ImportState fills the state from the object and its record, by reads only.
func (r *sandboxResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	id := identity.ImportID(ctx, req, &resp.Diagnostics)
	manager, name, err := r.client.ManagerOf(id)
	var view sandbox.View
	if err == nil {
		view, err = manager.Import(ctx, name)
	}
	imported := r.newModel()
	if err == nil {
		err = r.checkImported(id, imported, view)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Import %s %q", r.title, id), err))
		return
	}
	m, p := imported.parts()
	setNull(imported)
	backend, host := sandbox.CutHost(manager.Backend.Name())
	m.ID, m.Backend, m.Name = types.StringValue(id), types.StringValue(backend), types.StringValue(name)
	if host != "" {
		owner, err := r.client.OwnerKnown(ctx)
		if err != nil {
			resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Import %s %q", r.title, id), err))
			return
		}
		m.CloudHostID = types.StringValue(cloudhost.ID(owner, host))
	}
	m.RecordID, m.AttachmentID = convert.TextOrNull(view.Attachment.Record), convert.TextOrNull(view.Attachment.Token)
	m.OnDestroy = r.client.OnDestroy
	if m.OnDestroy.IsUnknown() {
		m.OnDestroy = types.StringValue("retain")
	}
	m.Capabilities = convert.Set(manager.Backend.Capabilities().Names())
	if p != nil {
		p.WorkspaceID = convert.TextOrNull(view.WorkspaceID)
		p.OnMissing, p.Generation = types.StringValue("error"), types.Int64Value(max(view.Generation, 1))
	}
	if err := applySettings(view.Settings, imported); err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Import %s %q", r.title, id), err))
		return
	}
	c := converter{ctx: ctx}
	if view.Observed.Status != backends.StatusLost {
		c.observe(m, view.Observed.Spec, manager.Backend.Capabilities())
		c.observeRetention(p, view.Observed.Spec, manager.Backend.Capabilities())
	}
	c.observeComputed(m, p, view, false)
	r.observeRuntime(imported, view)
	resp.Diagnostics.Append(c.diags...)
	private.Attach(ctx, resp.Private, view.Attachment, &resp.Diagnostics)
	private.Write(ctx, resp.Private, madeKey, made{Known: view.Recorded && len(view.Settings) > 0, Source: view.Source}, &resp.Diagnostics)
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, m.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, imported)...)
}

// checkImported refuses what belongs into another resource type.
func (r *sandboxResource) checkImported(id string, imported model, view sandbox.View) error {
	wanted := imported.workspace() != nil
	switch {
	case wanted && view.Recorded && view.Workspace == nil, !wanted && view.Workspace != nil, !wanted && view.Observed.Marks.Kind != r.kind:
	default:
		return nil
	}
	is := fmt.Sprintf("a %s sandbox", view.Observed.Marks.Kind)
	if view.Workspace != nil {
		is = "a workspace runtime"
	}
	return &sandbox.Refusal{
		Code:   sandbox.CodeOtherKind,
		Detail: fmt.Sprintf("%s is %s.", id, is),
		Remedy: "Import it into the resource type of that kind.",
	}
}
