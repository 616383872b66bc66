package sandboxes

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// planChange plans what becomes of an existing sandbox.
func (p *planner) planChange() {
	p.freezeCreationOnly()
	p.keepComputed()
	status := backends.Status(p.state.Status.ValueString())
	switch {
	case status == statusHostSleeping:
		p.planAsleep()
	case p.raised():
		p.startOver()
	case status == sandbox.StatusDeleting:
		p.finishDelete()
	case status == sandbox.StatusMissing && p.persistState != nil:
		p.planMissing()
	default:
		if p.diags.HasError() {
			return
		}
		p.planTypeChange()
		p.planInPlace(status)
		p.planTemplate()
	}
}

// keepComputed starts from what is known. Everything below decides what is not.
func (p *planner) keepComputed() {
	plan, state := p.plan, p.state
	plan.RecordID, plan.AttachmentID, plan.Workspace = state.RecordID, state.AttachmentID, state.Workspace
	plan.ResolvedImage, plan.CreatedAt = state.ResolvedImage, state.CreatedAt
	plan.Status, plan.SessionID, plan.Endpoints = state.Status, state.SessionID, state.Endpoints
	if p.persistPlan != nil {
		p.persistPlan.CurrentSessionID = p.persistState.CurrentSessionID
		p.persistPlan.CurrentSnapshotID = p.persistState.CurrentSnapshotID
		p.persistPlan.Resumable = p.persistState.Resumable
	}
	p.keepRuntime()
}

// freezeCreationOnly hides later values of what is used at creation only. Core accepts a planned
// value that equals the prior one where both prior and configuration have one.
func (p *planner) freezeCreationOnly() {
	if !p.state.Setup.IsNull() && !p.config.Setup.IsNull() {
		p.plan.Setup = p.state.Setup
	}
	if p.state.Source.IsNull() || p.config.Source.IsNull() || p.config.Source.IsUnknown() {
		return
	}
	was, is := p.source(p.state.Source), p.source(p.plan.Source)
	if was.Image == is.Image && was.Rootfs == is.Rootfs && was.Runtime == is.Runtime && !p.memberUnknown() {
		p.plan.Source = p.state.Source
	}
}

// memberUnknown tells whether the image, root file system or runtime of the planned source is unknown.
func (p *planner) memberUnknown() bool {
	source, ok := object[sourceModel](&p.converter, p.plan.Source)
	return ok && (source.Image.IsUnknown() || source.Rootfs.IsUnknown() || source.Runtime.IsUnknown())
}

// startOver plans the replacement that a raised generation is, under either policy.
func (p *planner) startOver() {
	at := path.Root("generation")
	p.resp.RequiresReplace = append(p.resp.RequiresReplace, at)
	id := p.state.ID.ValueString()
	if p.state.Status.ValueString() == string(sandbox.StatusMissing) {
		p.warn(at, diagnostics.Replaced, "Sandbox Starts Over", fmt.Sprintf("%s is gone; %s is made empty in its place.", id, p.plan.ID.ValueString()))
		return
	}
	if p.state.OnDestroy.ValueString() == "purge" {
		p.warn(at, diagnostics.DataLost, fmt.Sprintf("Data of %q Will Be Deleted", id),
			fmt.Sprintf("`generation` was raised and the state says `on_destroy = \"purge\"`: %s and all its data are deleted, and %s is made empty.", id, p.plan.ID.ValueString()))
		return
	}
	p.warn(at, diagnostics.Retained, "Sandbox Starts Over", fmt.Sprintf("%s is made empty. %s is stopped and kept under its name, with its data.", p.plan.ID.ValueString(), id))
}

// finishDelete plans a replacement for what a killed delete left half removed.
func (p *planner) finishDelete() {
	p.plan.Status = types.StringUnknown()
	p.unknownVolatile()
	p.resp.RequiresReplace = append(p.resp.RequiresReplace, path.Root("status"))
	p.warn(path.Root("status"), diagnostics.Interrupted, fmt.Sprintf("Interrupted Delete of %q", p.state.ID.ValueString()),
		"A run was cut short while it deleted this sandbox. The apply finishes that and then makes it anew; a destroy finishes it and stops there.")
}

// planMissing stops the plan, or warns, when a persistent sandbox is gone.
func (p *planner) planMissing() {
	id := p.state.ID.ValueString()
	if p.persistPlan.OnMissing.ValueString() == "keep" {
		p.warn(path.Root("on_missing"), string(sandbox.CodeMissing), "Missing Sandboxes Are Kept in the State",
			fmt.Sprintf("%s is gone. `on_missing` is `keep`, so nothing is planned for it, whatever else its configuration says now. Raise `generation` to start over with an empty one.", id))
		p.holdAll()
		return
	}
	code := string(sandbox.CodeMissing)
	if p.runtimePlan != nil {
		code = string(sandbox.CodeWorkspaceLost)
	}
	p.error(path.Root("generation"), code, fmt.Sprintf("Sandbox %q Is Missing", id),
		fmt.Sprintf("%s was looked for where it was made, and it is gone. It is not silently made anew, since its data would be missing unseen.\n\n", id)+
			fmt.Sprintf("To start over with an empty one, raise `generation` to %d.\n", p.persistState.Generation.ValueInt64()+1)+
			"To let go of it, delete the block from the configuration, or run `terraform state rm`.\n"+
			"To destroy everything else with it, run `terraform destroy -refresh=false`, or set `on_missing = \"keep\"` first: a destroy plans once normally, so this error stops it.\n"+
			"If it comes back (a restored volume, another engine), the next plan finds it.")
}

// holdAll plans what the state has: nothing can be changed on a sandbox that is gone, and what the
// state says is compared again when it comes back. Core accepts the prior value where configuration
// and prior state both have one.
func (p *planner) holdAll() {
	plan, state, config := p.plan, p.state, p.config
	plan.ID = state.ID
	if config.Name.IsNull() {
		plan.Name = state.Name
	}
	convert.Hold(&plan.Name, state.Name, config.Name)
	convert.Hold(&plan.Backend, state.Backend, config.Backend)
	convert.Hold(&plan.CloudHostID, state.CloudHostID, config.CloudHostID)
	convert.Hold(&plan.Source, state.Source, config.Source)
	convert.Hold(&plan.CPUs, state.CPUs, config.CPUs)
	convert.Hold(&plan.MemoryMiB, state.MemoryMiB, config.MemoryMiB)
	convert.Hold(&plan.Environment, state.Environment, config.Environment)
	convert.Hold(&plan.SecretVersion, state.SecretVersion, config.SecretVersion)
	convert.Hold(&plan.WorkingDirectory, state.WorkingDirectory, config.WorkingDirectory)
	convert.Hold(&plan.User, state.User, config.User)
	convert.Hold(&plan.Command, state.Command, config.Command)
	convert.Hold(&plan.Ports, state.Ports, config.Ports)
	convert.Hold(&plan.Mounts, state.Mounts, config.Mounts)
	convert.Hold(&plan.Volumes, state.Volumes, config.Volumes)
	convert.Hold(&plan.Network, state.Network, config.Network)
	convert.Hold(&plan.Timeout, state.Timeout, config.Timeout)
	convert.Hold(&plan.DesiredState, state.DesiredState, config.DesiredState)
	convert.Hold(&plan.Labels, state.Labels, config.Labels)
	convert.Hold(&plan.Docker, state.Docker, config.Docker)
	convert.Hold(&plan.Vercel, state.Vercel, config.Vercel)
	convert.Hold(&p.persistPlan.WorkspaceID, p.persistState.WorkspaceID, p.persistConfig.WorkspaceID)
	convert.Hold(&p.persistPlan.CheckpointTrigger, p.persistState.CheckpointTrigger, p.persistConfig.CheckpointTrigger)
	p.holdRuntime()
	plan.Capabilities = state.Capabilities
}

// planTypeChange handles what cannot change in place: an error while the prior state of a data
// holder says retain, a replacement with a warning once it says purge.
func (p *planner) planTypeChange() {
	for _, at := range p.typeChanges() {
		id := p.state.ID.ValueString()
		purge := p.state.OnDestroy.ValueString() == "purge"
		if p.persistState != nil && !purge {
			p.error(at, diagnostics.PurgeFirst, "Purge First",
				fmt.Sprintf("Changing this would replace %s, and its data would be lost. The applied state says `on_destroy = \"retain\"`, so that is refused.\n\n", id)+
					"If the data may go: set `on_destroy = \"purge\"` and apply that alone, then change this in a second apply.\n"+
					"If it is to be kept: use another workspace id or name beside it, or raise `generation`.")
			continue
		}
		p.resp.RequiresReplace = append(p.resp.RequiresReplace, at)
		lost := "its workspace and its named volumes"
		if !purge {
			lost = "its workspace; its named volumes stay"
		}
		p.warn(at, diagnostics.DataLost, fmt.Sprintf("Data of %q Will Be Deleted", id), fmt.Sprintf("This change replaces the sandbox. Lost: %s.", lost))
	}
}

// typeChanges returns the attributes that make another object of this one. Unknown values are in
// place for now; a value that an import could not know is adopted.
func (p *planner) typeChanges() []path.Path {
	var at []path.Path
	if !p.plan.Backend.IsUnknown() && !p.plan.Backend.Equal(p.state.Backend) {
		at = append(at, path.Root("backend"))
	} else if !p.plan.place().IsUnknown() && !p.plan.place().Equal(p.state.place()) {
		at = append(at, path.Root("cloud_host_id"))
	} else if !p.plan.ID.IsUnknown() && !p.plan.ID.Equal(p.state.ID) {
		at = append(at, p.identityPath())
	}
	if p.sourceChanged() {
		at = append(at, path.Root("source"))
	}
	if p.runtimePlan != nil && !p.runtimePlan.Kind.IsUnknown() && !p.runtimePlan.Kind.Equal(p.runtimeState.Kind) {
		at = append(at, path.Root("kind"))
	}
	return at
}

func (p *planner) sourceChanged() bool {
	if p.plan.Source.IsUnknown() || p.memberUnknown() {
		return false
	}
	was, is := p.source(p.state.Source), p.source(p.plan.Source)
	if p.state.Source.IsNull() {
		if !p.made.Known {
			return false
		}
		was = p.made.Source
	}
	creationOnly := usedAtCreation(was)
	if p.plan.Source.IsNull() {
		// What was used at creation only may be dropped from the configuration.
		return !creationOnly && was != backends.Source{}
	}
	if usedAtCreation(is) {
		return !creationOnly && (was.Image != "" || was.Rootfs != "" || was.Runtime != "")
	}
	return !sandbox.SameImage(was.Image, is.Image) || was.Rootfs != is.Rootfs || was.Runtime != is.Runtime
}

// usedAtCreation tells whether a source means nothing any more once the sandbox exists.
func usedAtCreation(source backends.Source) bool {
	return source.SnapshotID != "" || source.CloneOf != "" || source.GitURL != "" || source.TarballURL != ""
}

// planInPlace marks what an update can alter.
func (p *planner) planInPlace(status backends.Status) {
	plan, state := p.plan, p.state
	if p.specChanged() {
		p.unknownVolatile()
	}
	desired := plan.DesiredState.ValueString()
	switch {
	case status == backends.StatusLost || status == sandbox.StatusInterrupted:
		p.recover(status, desired)
	case plan.DesiredState.IsUnknown():
		plan.Status = types.StringUnknown()
		p.unknownSession()
	case desired != "" && desired != string(status):
		plan.Status = types.StringValue(desired)
		p.unknownSession()
		p.warnStop(desired)
	}
	if p.persistPlan != nil && changed([2]attr.Value{p.persistPlan.CheckpointTrigger, p.persistState.CheckpointTrigger}) && !p.persistPlan.CheckpointTrigger.IsNull() {
		p.persistPlan.CurrentSnapshotID = types.StringUnknown()
		if table, known := capabilityTable(plan); !known || table.SnapshotEndsSession {
			p.unknownSession()
		}
	}
	if dropped := p.droppedVolumes(); len(dropped) > 0 {
		p.warn(path.Root("volumes"), diagnostics.Retained, "Detached Volumes Are Kept",
			fmt.Sprintf("%s no longer mounts these volumes: %v. They stay with their data until the sandbox is purged.", state.ID.ValueString(), dropped))
	}
}

func (p *planner) recover(status backends.Status, desired string) {
	p.plan.Status = types.StringUnknown()
	if desired != "" {
		p.plan.Status = types.StringValue(desired)
	}
	p.unknownSession()
	if p.persistPlan != nil {
		p.persistPlan.CurrentSnapshotID = types.StringUnknown()
		p.persistPlan.Resumable = types.BoolUnknown()
	}
	detail := "Its data is there, the compute that used it is gone. The apply makes the compute again on the same data."
	if saved := p.persistState; p.kind == backends.Session && p.runtimePlan != nil && !saved.CurrentSnapshotID.IsNull() {
		detail = fmt.Sprintf("Its session is gone. The apply makes it again: on its files where they are left, else from the workspace's own snapshot %s; what was changed after that was taken is lost then.", saved.CurrentSnapshotID.ValueString())
	}
	if status == sandbox.StatusInterrupted {
		detail = "A run was cut short while it changed this sandbox. The apply finishes that."
	}
	p.warn(path.Root("status"), diagnostics.Interrupted, fmt.Sprintf("Sandbox %q Is Recovered", p.state.ID.ValueString()), detail)
}

// warnStop names the loss where a stop empties the workspace.
func (p *planner) warnStop(desired string) {
	table, known := capabilityTable(p.plan)
	if !known || p.runtimePlan != nil || !table.StopEmptiesSession || p.kind != backends.Session || desired != sandbox.DesiredStopped {
		return
	}
	p.warn(path.Root("desired_state"), diagnostics.DataLost, fmt.Sprintf("Workspace of %q Will Be Emptied", p.state.ID.ValueString()),
		"On this backend a `sandlot_sandbox` loses the files in its workspace when it stops. Use `sandlot_persistent_sandbox` to keep them.")
}

// specChanged tells whether anything changes that the backend has to act on.
func (p *planner) specChanged() bool {
	plan, state := p.plan, p.state
	return changed(
		[2]attr.Value{plan.CPUs, state.CPUs}, [2]attr.Value{plan.MemoryMiB, state.MemoryMiB},
		[2]attr.Value{plan.Environment, state.Environment}, [2]attr.Value{plan.SecretVersion, state.SecretVersion},
		[2]attr.Value{plan.WorkingDirectory, state.WorkingDirectory}, [2]attr.Value{plan.User, state.User},
		[2]attr.Value{plan.Command, state.Command}, [2]attr.Value{plan.Ports, state.Ports},
		[2]attr.Value{plan.Mounts, state.Mounts}, [2]attr.Value{plan.Volumes, state.Volumes},
		[2]attr.Value{plan.Network, state.Network}, [2]attr.Value{plan.Timeout, state.Timeout},
		[2]attr.Value{plan.Labels, state.Labels}, [2]attr.Value{plan.Docker, state.Docker},
		[2]attr.Value{plan.Vercel, state.Vercel},
	)
}

func (p *planner) droppedVolumes() []string {
	var dropped []string
	if p.plan.Volumes.IsUnknown() {
		return nil
	}
	for name := range p.state.Volumes.Elements() {
		if _, kept := p.plan.Volumes.Elements()[name]; !kept {
			dropped = append(dropped, name)
		}
	}
	return dropped
}
