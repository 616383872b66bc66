package sandboxes

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/templatefiles"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/workspace"
)

// extension is what the lifecycle has to know of a workspace runtime, nil for any other sandbox. state
// is nil for a create.
func (r *sandboxResource) extension(ctx context.Context, manager *sandbox.Manager, plan, state model, diags *diag.Diagnostics) *sandbox.Extension {
	w := plan.workspace()
	if w == nil {
		return nil
	}
	c := converter{ctx: ctx}
	wanted := workspace.Plan{}
	if base, ok := object[baseSnapshotModel](&c, w.BaseSnapshot); ok {
		wanted.BaseSnapshotID, wanted.BaseSnapshotVersion = base.ID.ValueString(), base.Version.ValueString()
	}
	if template, ok := object[templateModel](&c, w.Template); ok {
		wanted.Template = c.template(template)
		wanted.KnownTemplateVersion = wanted.Template.Version
		// The files are for a new workspace only: an existing one does not need them to be there.
		if state == nil {
			files, problems := templatefiles.Collect(ctx, path.Root("template").AtName("files"), template.Files, template.MaxBytes.ValueInt64())
			diags.Append(problems...)
			wanted.Template.Files = files
		}
	}
	if state != nil {
		wanted.KnownTemplateVersion = state.workspace().AppliedTemplateVersion.ValueString()
	}
	diags.Append(c.diags...)
	return workspace.Manager{Sandboxes: manager}.Extension(wanted)
}

func (c *converter) template(from templateModel) *workspace.Template {
	template := &workspace.Template{Version: from.Version.ValueString()}
	if migrate, ok := object[migrateModel](c, from.Migrate); ok {
		template.Migrate = convert.Texts(migrate.Command.Elements())
		template.Verify = convert.Texts(migrate.Verify.Elements())
	}
	return template
}

// baseSnapshot is the id of the configured base snapshot, as far as it is known.
func (c *checker) baseSnapshot() (string, bool) {
	if c.w == nil {
		return "", false
	}
	base, ok := object[baseSnapshotModel](&c.converter, c.w.BaseSnapshot)
	return base.ID.ValueString(), ok && base.ID.ValueString() != ""
}

// session tells whether the sandbox is that of a workspace of the kind session.
func (c *checker) session() bool {
	return c.w != nil && c.w.Kind.ValueString() == string(backends.Session)
}

func (c *checker) checkRuntime() {
	if c.w == nil {
		return
	}
	if table, known := c.table(); known {
		if _, ok := c.baseSnapshot(); ok && !table.SnapshotSource {
			c.unsupported(path.Root("base_snapshot"), "It cannot start from a snapshot.")
		}
		if c.session() && table.StopEmptiesSession && !table.Snapshot {
			c.unsupported(path.Root("kind"), "A stop empties a session on it, and it takes no snapshots.")
		}
	}
	template, ok := object[templateModel](&c.converter, c.w.Template)
	if !ok {
		return
	}
	at := path.Root("template")
	c.diags.Append(templatefiles.Check(c.ctx, at.AtName("files"), template.Files)...)
	if migrate, ok := object[migrateModel](&c.converter, template.Migrate); ok {
		c.checkArgv(at.AtName("migrate").AtName("command"), migrate.Command)
		c.checkArgv(at.AtName("migrate").AtName("verify"), migrate.Verify)
	}
}

// madeAgain tells whether an update makes the compute anew although it is not lost: the stopped
// session of a workspace is restored when it has to run. Its secrets have to be handed in again.
func (r *sandboxResource) madeAgain(plan model, before *common) bool {
	return plan.workspace() != nil && r.kindOf(plan) == backends.Session && before.Status.ValueString() == string(backends.StatusStopped)
}

// fillRuntime fills in what a plan left unknown of a workspace runtime.
func (r *sandboxResource) fillRuntime(plan model, result sandbox.Result) {
	if plan.workspace() == nil {
		return
	}
	r.setRuntime(plan, sandbox.View{
		Status: result.Observed.Status, Observed: result.Observed, CurrentSnapshotID: result.CurrentSnapshotID, Workspace: result.Workspace,
	}, true)
}

// observeRuntime writes what a read found of a workspace runtime.
func (r *sandboxResource) observeRuntime(state model, view sandbox.View) {
	if state.workspace() == nil {
		return
	}
	r.setRuntime(state, view, false)
}

// setRuntime writes what only a workspace runtime has. unknownOnly keeps what a plan promised.
func (r *sandboxResource) setRuntime(to model, view sandbox.View, unknownOnly bool) {
	m, _ := to.parts()
	w := to.workspace()
	set := func(target *types.String, text string) {
		if !unknownOnly || target.IsUnknown() {
			*target = convert.TextOrNull(text)
		}
	}
	set(&w.State, string(workspace.State(view)))
	if kept := view.Workspace; kept != nil {
		set(&w.AppliedBaseSnapshotID, kept.BaseSnapshotID)
		set(&w.AppliedBaseSnapshotVersion, kept.BaseSnapshotVersion)
		set(&w.AppliedTemplateVersion, kept.TemplateVersion)
	} else if unknownOnly {
		set(&w.AppliedBaseSnapshotID, "")
		set(&w.AppliedBaseSnapshotVersion, "")
		set(&w.AppliedTemplateVersion, "")
	}
	// What no backend of today has is null.
	set(&w.ExpiresAt, "")
	described := r.describe(to, view)
	set(&w.Handle, described.Handle())
	set(&w.HandleKind, described.HandleKind())
	set(&w.ResourceKind, handle.ResourceSandbox)
	if !unknownOnly || w.AgentEnvironment.IsUnknown() {
		// The only error is a base snapshot without a version, which the schema does not allow.
		environment, err := handle.AgentEnvironment(described, r.handleSettings(m))
		if err == nil {
			w.AgentEnvironment = convert.Map(environment)
		} else {
			w.AgentEnvironment = types.MapNull(types.StringType)
		}
	}
}

func (r *sandboxResource) describe(from model, view sandbox.View) handle.Object {
	m, p := from.parts()
	subject := workspace.Subject{Backend: m.Backend.ValueString(), Kind: r.kindOf(from), WorkspaceID: p.WorkspaceID.ValueString()}
	// The id is one of ours, which was parsed before anything was read.
	_, subject.Name, _ = sandbox.ParseID(m.ID.ValueString())
	return workspace.Describe(subject, view)
}

func (r *sandboxResource) handleSettings(m *common) handle.Settings {
	settings := handle.Settings{NamePrefix: r.client.NamePrefix.ValueString(), Namespace: r.client.Namespace.ValueString()}
	if timeout, err := time.ParseDuration(m.Timeout.ValueString()); err == nil {
		settings.Timeout = timeout
	}
	return settings
}
