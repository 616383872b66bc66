package sandboxes

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// planIdentity plans `name` and `id`, at plan wherever everything they follow from is known.
func (p *planner) planIdentity() {
	if p.persistPlan != nil && p.config.Name.IsNull() {
		p.keepSpelling()
		p.plan.Name = p.derivedName()
	}
	if p.unsureIdentity() {
		p.plan.ID = p.state.ID
		return
	}
	if p.plan.Name.IsUnknown() || p.plan.place().IsUnknown() || p.generationUnknown() {
		p.plan.ID = types.StringUnknown()
		return
	}
	name := p.plan.Name.ValueString()
	if p.persistPlan != nil && !p.config.Name.IsNull() {
		name = p.explicitName(name)
	}
	if err := sandbox.CheckName(name); err != nil {
		p.error(p.identityPath(), diagnostics.InvalidValue, "Invalid Name", diagnostics.Sentence(err))
	}
	p.plan.ID = types.StringValue(sandbox.ID(p.plan.place().ValueString(), name))
}

// explicitName is the object's name for a configured one: from the second generation on it carries
// the generation too.
func (p *planner) explicitName(name string) string {
	return sandbox.WithGeneration(name, p.persistPlan.Generation.ValueInt64())
}

func (p *planner) generationUnknown() bool {
	return p.persistPlan != nil && p.persistPlan.Generation.IsUnknown()
}

// unsureIdentity is true for an existing sandbox while a part of its identity is unknown: it is
// planned in place then, and judged again when the value is known.
func (p *planner) unsureIdentity() bool {
	if p.state == nil {
		return false
	}
	unsure := p.plan.place().IsUnknown() || p.plan.Name.IsUnknown() || p.generationUnknown()
	return unsure || p.persistPlan != nil && p.persistPlan.WorkspaceID.IsUnknown()
}

// keepSpelling leaves a workspace id alone that differs only in the space around it.
func (p *planner) keepSpelling() {
	if p.persistState == nil || p.persistPlan.WorkspaceID.IsUnknown() || p.persistState.WorkspaceID.IsNull() {
		return
	}
	if trimmed(p.persistPlan.WorkspaceID) == trimmed(p.persistState.WorkspaceID) {
		p.persistPlan.WorkspaceID = p.persistState.WorkspaceID
	}
}

// derivedName is the name of a workspace: the stored one as long as workspace and generation are
// the same, so that a changed prefix renames nothing.
func (p *planner) derivedName() types.String {
	workspace, generation := p.persistPlan.WorkspaceID, p.persistPlan.Generation
	if p.state != nil && (workspace.IsUnknown() || generation.IsUnknown()) {
		return p.state.Name
	}
	if workspace.IsUnknown() || generation.IsUnknown() {
		return types.StringUnknown()
	}
	if p.state != nil && trimmed(workspace) == trimmed(p.persistState.WorkspaceID) && generation.ValueInt64() == p.persistState.Generation.ValueInt64() {
		return p.state.Name
	}
	if name := p.storedName(trimmed(workspace), generation.ValueInt64()); name != "" {
		return types.StringValue(name)
	}
	if p.client.NamePrefix.IsUnknown() || p.client.Namespace.IsUnknown() {
		return types.StringUnknown()
	}
	name, err := sandbox.DeriveName(p.client.NamePrefix.ValueString(), p.client.Namespace.ValueString(), workspace.ValueString(), generation.ValueInt64())
	if err != nil {
		p.error(path.Root("workspace_id"), diagnostics.InvalidValue, "No Name Can Be Derived", diagnostics.Sentence(err)+" Shorten the provider's `name_prefix` or `namespace`.")
		return types.StringUnknown()
	}
	return types.StringValue(name)
}

// storedName is the name that the workspace has already, as far as it will keep it: one that this
// very plan purges is free to change. The apply plans a replacement's create once more, without what
// the first leg left, so the store has to lead to the same name.
func (p *planner) storedName(workspace string, generation int64) string {
	if p.leg != nil && p.leg.WorkspaceID == workspace && p.leg.Generation == generation {
		if p.leg.Purge {
			return ""
		}
		return p.leg.Name
	}
	if p.plan.place().IsUnknown() {
		return ""
	}
	manager, err := p.client.Manager(p.plan.place().ValueString())
	if err != nil {
		return "" // not known yet
	}
	name, err := manager.StoredName(p.ctx, workspace, generation)
	if err != nil {
		return "" // a store that cannot be read is reported by the apply, which needs it
	}
	return name
}

func trimmed(workspace types.String) string {
	return sandbox.NormalizeWorkspaceID(workspace.ValueString())
}

// raised tells whether the plan starts over: a higher generation that leads to another object.
// Lowering it is an error.
func (p *planner) raised() bool {
	if p.persistState == nil || p.generationUnknown() || p.persistState.Generation.IsNull() {
		return false
	}
	before, now := p.persistState.Generation.ValueInt64(), p.persistPlan.Generation.ValueInt64()
	if now < before && p.plan.ID.ValueString() != p.state.ID.ValueString() {
		p.error(path.Root("generation"), diagnostics.GenerationLowered, "Generation Lowered",
			fmt.Sprintf("`generation` may only rise, and it was %d. To use an older generation again, pin it by `name`.", before))
	}
	return now > before && p.plan.ID.ValueString() != p.state.ID.ValueString()
}
