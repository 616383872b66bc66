package sandboxes

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// planner holds one ModifyPlan call. Nothing is contacted but the store, and that only by reads.
type planner struct {
	converter
	client *client.Client
	kind   backends.Kind
	config *common
	plan   *common
	state  *common // nil for a create
	// What only a persistent sandbox has; nil otherwise.
	persistConfig, persistPlan, persistState *persistence
	// What only a workspace runtime has; nil otherwise.
	runtimeConfig, runtimePlan, runtimeState *runtime
	// leg is what the first leg of a replacement left; nil outside the second.
	leg  *prior
	made made
	resp *resource.ModifyPlanResponse
}

// ModifyPlan decides names, replacements, recoveries and everything that is to be seen before an
// apply.
func (r *sandboxResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		r.planDestroy(ctx, req, resp)
		return
	}
	if r.client == nil {
		return
	}
	config, plan := r.newModel(), r.newModel()
	resp.Diagnostics.Append(req.Config.Get(ctx, config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, plan)...)
	p := planner{converter: converter{ctx: ctx}, client: r.client, kind: r.kindOf(plan), resp: resp}
	p.config, p.persistConfig = config.parts()
	p.plan, p.persistPlan = plan.parts()
	p.runtimeConfig, p.runtimePlan = config.workspace(), plan.workspace()
	if !req.State.Raw.IsNull() {
		state := r.newModel()
		resp.Diagnostics.Append(req.State.Get(ctx, state)...)
		p.state, p.persistState = state.parts()
		p.runtimeState = state.workspace()
		p.made, _ = private.Read[made](ctx, req.Private, madeKey, &resp.Diagnostics)
	} else if left, found := private.Read[prior](ctx, req.Private, priorKey, &resp.Diagnostics); found {
		p.leg = &left
	}
	if resp.Diagnostics.HasError() {
		return
	}

	resp.Diagnostics.Append(newChecker(ctx, config).check()...)
	p.checkHost()
	if resp.Diagnostics.HasError() {
		return
	}
	p.planDefaults()
	p.planIdentity()
	p.checkHostOwner()
	p.claim()
	p.checkTemplate()
	if p.state == nil {
		p.planCreate()
	} else {
		p.planChange()
		private.Write(ctx, resp.Private, priorKey, p.leavePrior(), &resp.Diagnostics)
	}
	resp.Diagnostics.Append(p.diags...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, plan)...)
	}
}

func (p *planner) error(at path.Path, code, summary, detail string) {
	p.diags.Append(diagnostics.AttributeError(at, code, summary, detail))
}

func (p *planner) warn(at path.Path, code, summary, detail string) {
	p.diags.Append(diagnostics.AttributeWarning(at, code, summary, detail))
}

// checkHost judges what depends on the provider's settings: the host side of mounts, the network of
// the host, and the owner.
func (p *planner) checkHost() {
	allowed := false
	if options := p.docker(p.config.Docker); options != nil {
		allowed = options.AllowEngineSocket
	}
	if source, ok := object[sourceModel](&p.converter, p.config.Source); ok {
		p.checkShown(path.Root("source").AtName("rootfs"), source.Rootfs, false)
	}
	for _, element := range p.config.Mounts.Elements() {
		if mount, ok := object[mountModel](&p.converter, element); ok {
			p.checkShown(path.Root("mounts").AtSetValue(element).AtName("source"), mount.Source, allowed)
		}
	}
	if network, ok := object[networkModel](&p.converter, p.config.Network); ok && network.Mode.ValueString() == backends.NetworkHost {
		p.warn(path.Root("network").AtName("mode"), diagnostics.HostNetwork, "Sandbox Shares the Host's Network",
			"Commands inside reach every service that listens on the host, the loopback interface included.")
	}
}

// checkShown judges a path of the host that the sandbox would see, also when only for reading.
func (p *planner) checkShown(at path.Path, shown types.String, socketAllowed bool) {
	if shown.IsNull() || shown.IsUnknown() {
		return
	}
	// A link shows what it leads to.
	source, dataDir := shown.ValueString(), p.client.DataDir.ValueString()
	err := sandbox.CheckMountSource(source, dataDir)
	if err == nil {
		err = sandbox.CheckMountSource(behindLinks(source), behindLinks(dataDir))
	}
	engine := sandbox.SocketOf(p.client.DockerHost)
	socket := sandbox.ExposesEngine(source, engine)
	if socket == "" {
		socket = sandbox.ExposesEngine(behindLinks(source), behindLinks(engine))
	}
	switch {
	case err != nil:
		p.resp.Diagnostics.Append(diagnostics.AttributeError(at, diagnostics.InvalidValue, "Data Directory Would Be Shown", diagnostics.Sentence(err)))
	case socket != "" && !socketAllowed:
		p.resp.Diagnostics.Append(diagnostics.AttributeError(at, diagnostics.InvalidValue, "Engine Socket Would Be Shown",
			fmt.Sprintf("%q would show the sandbox %s. Whoever reaches it controls the host. If that is wanted, mount it with `docker = { allow_engine_socket = true }` (on `docker` only).", source, socket)))
	}
}

// behindLinks is where a path of this machine leads. What is not there leads to itself, except for
// the part above it that is.
func behindLinks(name string) string {
	if name == "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		return real
	}
	if parent := filepath.Dir(name); parent != name {
		return filepath.Join(behindLinks(parent), filepath.Base(name))
	}
	return name
}

// planDefaults fills in what follows from the configuration alone.
func (p *planner) planDefaults() {
	if p.config.OnDestroy.IsNull() {
		p.plan.OnDestroy = p.client.OnDestroy
	}
	if table, err := client.Capabilities(p.plan.Backend.ValueString()); err == nil && !p.plan.Backend.IsUnknown() {
		p.plan.Capabilities = convert.Set(table.Names())
	}
}

// claim refuses a second resource for one sandbox. The second leg of a replacement is the first
// one's resource again.
func (p *planner) claim() {
	if p.plan.ID.IsUnknown() || p.leg != nil || p.client.Claim(p.plan.ID.ValueString()) {
		return
	}
	p.error(p.identityPath(), diagnostics.DuplicateWorkspace, "Two Resources for One Sandbox",
		fmt.Sprintf("Another resource of this configuration stands for %s already. Give each its own workspace id or name.", p.plan.ID.ValueString()))
}

func (p *planner) identityPath() path.Path {
	if p.persistConfig != nil && !p.persistConfig.WorkspaceID.IsNull() {
		return path.Root("workspace_id")
	}
	return path.Root("name")
}

func (p *planner) leavePrior() prior {
	left := prior{ID: p.state.ID.ValueString(), Name: p.state.Name.ValueString(), Generation: 1, Purge: p.state.OnDestroy.ValueString() == "purge"}
	if p.persistState != nil {
		left.WorkspaceID = sandbox.NormalizeWorkspaceID(p.persistState.WorkspaceID.ValueString())
		left.Generation = p.persistState.Generation.ValueInt64()
	}
	return left
}

// planCreate checks that something may be created, and says what is there already.
func (p *planner) planCreate() {
	if err := p.client.RequireOwner(); err != nil {
		p.diags.Append(diagnostics.AttributeError(path.Root("backend"), diagnostics.OwnerRequired, "Owner Required in CI",
			diagnostics.Sentence(err)+" Set the provider's `owner`, or SANDLOT_OWNER."))
		return
	}
	if p.leg != nil || p.plan.ID.IsUnknown() {
		return
	}
	id := p.plan.ID.ValueString()
	manager, name, err := p.client.ManagerOf(id)
	if err != nil {
		return // not known yet: Create judges again
	}
	seen, err := manager.Foresee(p.ctx, name, p.kind, p.runtimePlan != nil, p.source(p.plan.Source))
	switch {
	case err != nil || !seen.Exists:
		// A store that cannot be read is reported by the apply, which needs it.
	case seen.Kind != "":
		p.error(p.identityPath(), string(sandbox.CodeOtherKind), "Name Belongs to a Sandbox of Another Kind",
			fmt.Sprintf("%s exists already as a %s. Choose another name or workspace id, or purge that one first.", id, seen.Kind))
	case seen.Source != "" && !seen.Attached:
		p.error(path.Root("source"), string(sandbox.CodeOtherSource), "Retained Sandbox Has Another Source",
			fmt.Sprintf("%s was retained and was made from %s. Its data is kept, so it is not made anew. Set the source back, raise `generation` to start over beside it, or purge it first.", id, seen.Source))
	default:
		p.warn(p.identityPath(), diagnostics.Reattached, "Existing Sandboxes Are Re-attached",
			fmt.Sprintf("%s exists already. If it still does at apply, it is taken over with its data instead of being made anew.", id))
	}
}

// unknownVolatile marks every computed value that a change of the run state or the container can alter.
func (p *planner) unknownVolatile() {
	p.plan.SessionID = types.StringUnknown()
	p.plan.Endpoints = types.MapUnknown(types.StringType)
	if p.persistPlan != nil {
		p.persistPlan.CurrentSessionID = types.StringUnknown()
	}
}

// unknownSession marks, besides, what names the session where the session is what a workspace is known by: it
// becomes another one.
func (p *planner) unknownSession() {
	p.unknownVolatile()
	if p.runtimePlan == nil || !p.runtimeState.Handle.IsNull() && !p.runtimeState.Handle.Equal(p.persistState.CurrentSessionID) {
		return
	}
	p.runtimePlan.Handle, p.runtimePlan.AgentEnvironment = types.StringUnknown(), types.MapUnknown(types.StringType)
	p.persistPlan.Resumable = types.BoolUnknown()
}

// changed tells whether a pair of values differs.
func changed(pairs ...[2]attr.Value) bool {
	for _, pair := range pairs {
		if !pair[0].Equal(pair[1]) {
			return true
		}
	}
	return false
}
