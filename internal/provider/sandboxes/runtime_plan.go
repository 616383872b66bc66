package sandboxes

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/templatefiles"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// checkTemplate looks at the files of a template that is about to be put on a new workspace: what is
// missing or too large is an error here, and not in the middle of an apply.
func (p *planner) checkTemplate() {
	if p.runtimePlan == nil || p.state != nil && !p.raised() {
		return
	}
	template, ok := object[templateModel](&p.converter, p.runtimePlan.Template)
	if !ok || templatefiles.Unknown(template.Files) || template.MaxBytes.IsUnknown() {
		return
	}
	_, problems := templatefiles.Collect(p.ctx, path.Root("template").AtName("files"), template.Files, template.MaxBytes.ValueInt64())
	p.diags.Append(problems...)
}

// keepRuntime starts from what is known of a workspace runtime.
func (p *planner) keepRuntime() {
	if p.runtimePlan == nil {
		return
	}
	plan, state := p.runtimePlan, p.runtimeState
	plan.Handle, plan.HandleKind, plan.ResourceKind = state.Handle, state.HandleKind, state.ResourceKind
	plan.AppliedBaseSnapshotID, plan.AppliedBaseSnapshotVersion = state.AppliedBaseSnapshotID, state.AppliedBaseSnapshotVersion
	plan.AppliedTemplateVersion, plan.State, plan.ExpiresAt = state.AppliedTemplateVersion, state.State, state.ExpiresAt
	plan.AgentEnvironment = state.AgentEnvironment
	p.freezeFiles()
}

// freezeFiles hides later files of a template whose version is the same: they are for new workspaces.
func (p *planner) freezeFiles() {
	was, hadOne := object[templateModel](&p.converter, p.runtimeState.Template)
	is, hasOne := object[templateModel](&p.converter, p.runtimePlan.Template)
	if !hadOne || !hasOne || !was.Version.Equal(is.Version) || was.Files.IsNull() || is.Files.IsNull() || is.Files.Equal(was.Files) {
		return
	}
	p.runtimePlan.Template = types.ObjectValueMust(templateType, map[string]attr.Value{
		"version": is.Version, "files": was.Files, "max_bytes": is.MaxBytes, "migrate": is.Migrate,
	})
}

// planTemplate plans the upgrade to another version of the template.
func (p *planner) planTemplate() {
	if p.runtimePlan == nil {
		return
	}
	if !p.plan.Status.Equal(p.state.Status) {
		p.runtimePlan.State = types.StringUnknown()
	}
	p.planSave()
	template, ok := object[templateModel](&p.converter, p.runtimePlan.Template)
	if !ok {
		if p.runtimePlan.Template.IsUnknown() {
			p.runtimePlan.AppliedTemplateVersion = types.StringUnknown()
		}
		return
	}
	if template.Version.IsUnknown() {
		p.runtimePlan.AppliedTemplateVersion = types.StringUnknown()
		return
	}
	if template.Version.Equal(p.runtimeState.AppliedTemplateVersion) {
		return
	}
	at := path.Root("template").AtName("version")
	from, to := p.runtimeState.AppliedTemplateVersion.ValueString(), template.Version.ValueString()
	if template.Migrate.IsNull() {
		p.error(at, string(sandbox.CodeMigrationFailed), "No Migration for the Template",
			fmt.Sprintf("%s has the template version %q, and %q is wanted. Nothing is overwritten in a workspace unasked: set `template.migrate` to the command that brings it there, or set the version back. New workspaces start with %q in any case.", p.state.ID.ValueString(), from, to, to))
		return
	}
	p.runtimePlan.AppliedTemplateVersion = template.Version
	p.runtimePlan.State = types.StringUnknown()
	p.warn(at, diagnostics.Migrated, "Workspaces Are Migrated",
		fmt.Sprintf("%s is migrated from the template version %q to %q by its own command.", p.state.ID.ValueString(), from, to))
}

// planSave marks the snapshot that is taken before a stop which empties the session.
func (p *planner) planSave() {
	table, known := capabilityTable(p.plan)
	stops := p.plan.DesiredState.IsUnknown() || p.plan.DesiredState.ValueString() == sandbox.DesiredStopped && p.state.Status.ValueString() == string(backends.StatusRunning)
	if known && table.StopEmptiesSession && p.kind == backends.Session && stops {
		p.persistPlan.CurrentSnapshotID = types.StringUnknown()
	}
}

// holdRuntime plans what the state has of a runtime that is gone.
func (p *planner) holdRuntime() {
	if p.runtimePlan == nil {
		return
	}
	convert.Hold(&p.runtimePlan.Kind, p.runtimeState.Kind, p.runtimeConfig.Kind)
	convert.Hold(&p.runtimePlan.Template, p.runtimeState.Template, p.runtimeConfig.Template)
	convert.Hold(&p.runtimePlan.BaseSnapshot, p.runtimeState.BaseSnapshot, p.runtimeConfig.BaseSnapshot)
}
