package sandboxes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Default time limits. Making one can include a pull of a large image and the setup.
const (
	createTimeout = 20 * time.Minute
	readTimeout   = 2 * time.Minute
	updateTimeout = 20 * time.Minute
	deleteTimeout = 10 * time.Minute
)

// Create makes the sandbox or takes over the one that is there. State is written only for what
// exists: an error with nothing left behind leaves no entry.
func (r *sandboxResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, config := r.newModel(), r.newModel()
	resp.Diagnostics.Append(req.Plan.Get(ctx, plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	m, _ := plan.parts()
	configured, _ := config.parts()
	limit, diags := m.Timeouts.Create(ctx, createTimeout)
	resp.Diagnostics.Append(diags...)
	manager, request, err := r.request(ctx, plan, configured.SecretEnvironment, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if err == nil {
		err = r.client.RequireOwner()
	}
	if err == nil {
		request.Extension = r.extension(ctx, manager, plan, nil, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	summary := fmt.Sprintf("Unable to Create %s %q", r.title, m.ID.ValueString())
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(summary, err))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result, err := manager.Create(ctx, request)
	var partial *sandbox.PartialError
	switch {
	case errors.As(err, &partial):
		resp.Diagnostics.Append(diagnostics.FromError(summary, err))
		result = partial.Result
	case err != nil:
		resp.Diagnostics.Append(diagnostics.FromError(summary, err))
		return
	}
	r.fillResult(ctx, plan, result)
	private.Attach(ctx, resp.Private, result.Attachment, &resp.Diagnostics)
	private.Write(ctx, resp.Private, madeKey, made{Known: true, Source: request.Spec.Source}, &resp.Diagnostics)
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, m.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, plan)...)
}

// request turns a planned model into what the lifecycle takes.
func (r *sandboxResource) request(ctx context.Context, plan model, secrets types.Map, diags *diag.Diagnostics) (*sandbox.Manager, sandbox.Request, error) {
	m, p := plan.parts()
	c := converter{ctx: ctx}
	manager, name, err := r.client.ManagerOf(m.ID.ValueString())
	if err != nil {
		return nil, sandbox.Request{}, err
	}
	request := sandbox.Request{
		Name:         name,
		Kind:         r.kindOf(plan),
		Generation:   1,
		Spec:         c.spec(m, secrets),
		Setup:        c.setup(m.Setup),
		DesiredState: m.DesiredState.ValueString(),
	}
	if p != nil {
		request.WorkspaceID = sandbox.NormalizeWorkspaceID(p.WorkspaceID.ValueString())
		request.Generation = p.Generation.ValueInt64()
		request.Retention = c.retention(p.SnapshotRetention)
		request.CheckpointTrigger = p.CheckpointTrigger.ValueString()
	}
	request.Settings, err = c.settingsOf(plan)
	diags.Append(c.diags...)
	return manager, request, err
}

// fillResult fills in what a plan left unknown and keeps what it promised. A value that stays
// unknown becomes null: an unknown one in a state is reported as a fault of the provider.
func (r *sandboxResource) fillResult(ctx context.Context, plan model, result sandbox.Result) {
	m, p := plan.parts()
	c := converter{ctx: ctx}
	status := result.Observed.Status
	c.observeComputed(m, p, sandbox.View{Status: status, Observed: result.Observed, CurrentSnapshotID: result.CurrentSnapshotID}, true)
	if m.RecordID.IsUnknown() {
		m.RecordID = convert.TextOrNull(result.Attachment.Record)
	}
	if m.AttachmentID.IsUnknown() {
		m.AttachmentID = convert.TextOrNull(result.Attachment.Token)
	}
	if m.Name.IsUnknown() {
		m.Name = convert.TextOrNull(result.Observed.Name)
	}
	if m.Capabilities.IsUnknown() {
		m.Capabilities = types.SetNull(types.StringType)
		if table, err := client.Capabilities(m.Backend.ValueString()); err == nil {
			m.Capabilities = convert.Set(table.Names())
		}
	}
	if m.OnDestroy.IsUnknown() {
		m.OnDestroy = types.StringValue("retain")
	}
	r.fillRuntime(plan, result)
}
