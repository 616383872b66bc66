package file

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/inside"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// readBackLimit is the largest content that a refresh reads back into `content`, in bytes. Of
// larger files only the hash shows a change.
const readBackLimit = 1 << 20

// Create writes the file. Where it may not be overwritten and exists, it is left as it is.
func (r *fileResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	limit, diags := plan.Timeouts.Create(ctx, timeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	place, err := r.present(ctx, plan.SandboxID.ValueString(), "")
	var written sandbox.FileState
	if err == nil {
		err = place.Reach(ctx, func(ctx context.Context, place inside.Place) (err error) {
			written, err = r.seed(ctx, place, plan)
			return err
		})
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromAttributeError(plan.contentPath(), fmt.Sprintf("Unable to Create File %q", plan.Path.ValueString()), err))
		return
	}
	plan.ID = types.StringValue(plan.SandboxID.ValueString() + ":" + plan.Path.ValueString())
	plan.fill(written)
	inside.Bind(ctx, resp.Private, place.Binding, &resp.Diagnostics)
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, plan.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// present finds the sandbox, which must be there.
func (r *fileResource) present(ctx context.Context, sandboxID, bound string) (inside.Place, error) {
	place, err := inside.Look(ctx, r.client, sandboxID, bound)
	if err == nil && place.Gone {
		err = inside.Gone(sandboxID)
	}
	return place, err
}

// seed writes the wanted content unless the file exists and must be left alone.
func (r *fileResource) seed(ctx context.Context, place inside.Place, plan model) (sandbox.FileState, error) {
	defer r.client.LockFiles(plan.SandboxID.ValueString())()
	if !plan.Overwrite.ValueBool() {
		existing, err := place.Manager.HashFile(ctx, place.Observed, plan.Path.ValueString())
		if !errors.Is(err, backends.FileNotFound) {
			return existing, err
		}
	}
	content, err := plan.planned(ctx)
	if err != nil {
		return sandbox.FileState{}, err
	}
	return r.write(ctx, place, plan, content)
}

// fill completes what the plan left unknown.
func (m *model) fill(state sandbox.FileState) {
	if m.SHA256.IsUnknown() {
		m.SHA256 = types.StringValue(state.SHA256)
	}
	if m.Size.IsUnknown() {
		m.Size = types.Int64Value(state.Size)
	}
	if m.OnDestroy.IsUnknown() {
		m.OnDestroy = types.StringValue("retain")
	}
}

// Read compares the file by its hash. It never wakes a sandbox: where the file cannot be read
// without that, the state stays as it is.
func (r *fileResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, state.ID)...)
	limit, diags := state.Timeouts.Read(ctx, timeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	bound := inside.Bound(ctx, req.Private, &resp.Diagnostics)
	place, err := inside.Look(ctx, r.client, state.SandboxID.ValueString(), bound)
	var found sandbox.FileState
	var content []byte
	if err == nil && !place.Gone {
		inside.Remember(ctx, bound, place, resp.Private, &resp.Diagnostics)
		found, content, err = read(ctx, place, state)
	}
	switch {
	case errors.Is(err, client.ErrUnknown) || errors.Is(err, backends.HostSleeping) || place.Unreadable(err) || place.Gone && place.Remembered && err == nil:
		return
	case errors.Is(err, backends.FileNotFound) || err == nil && place.Gone:
		resp.State.RemoveResource(ctx)
		return
	case errors.Is(err, backends.Invalid) || errors.Is(err, backends.PathEscapes) || errors.Is(err, backends.Unauthorized):
		// What runs inside may put anything in the file's place. That must not stop its owner's plans.
		resp.Diagnostics.Append(diagnostics.Warning(string(backends.KindOf(err)), "Files Were Replaced",
			state.ID.ValueString()+" is no file any more that can be read, so it is planned again. "+err.Error()))
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Read File %q", state.ID.ValueString()), err))
		return
	}
	state.observe(found, content)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// read hashes the file, and reads its content back where that shows a change better.
func read(ctx context.Context, place inside.Place, state model) (sandbox.FileState, []byte, error) {
	found, err := place.Manager.HashFile(ctx, place.Observed, state.Path.ValueString())
	if err != nil || found.SHA256 == state.SHA256.ValueString() || !state.Source.IsNull() || found.Size > readBackLimit {
		return found, nil, err
	}
	return place.Manager.ReadFile(ctx, place.Observed, state.Path.ValueString(), readBackLimit)
}

// observe brings what was found into the state, whose own spelling stays where it means the same.
func (m *model) observe(found sandbox.FileState, content []byte) {
	// The mode of a file that is left alone is left alone too.
	if mode, err := parseMode(m.Mode.ValueString()); err != nil || mode != found.Mode && m.Overwrite.ValueBool() {
		m.Mode = types.StringValue(formatMode(found.Mode))
	}
	if m.SHA256.ValueString() == found.SHA256 {
		return
	}
	m.SHA256, m.Size = types.StringValue(found.SHA256), types.Int64Value(found.Size)
	if !m.Overwrite.ValueBool() {
		return
	}
	switch {
	case content == nil: // too large to be read back
	case !m.ContentBase64.IsNull():
		m.ContentBase64 = types.StringValue(base64.StdEncoding.EncodeToString(content))
	case m.Source.IsNull() && utf8.Valid(content):
		m.Content = types.StringValue(string(content))
	}
}

// Update renames, rewrites or changes the mode. The new file is whole before the old one goes.
func (r *fileResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, plan.ID)...)
	limit, diags := plan.Timeouts.Update(ctx, timeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	place, err := r.present(ctx, state.SandboxID.ValueString(), inside.Bound(ctx, req.Private, &resp.Diagnostics))
	var written sandbox.FileState
	if err == nil {
		err = place.Reach(ctx, func(ctx context.Context, place inside.Place) (err error) {
			written, err = r.change(ctx, place, plan, state)
			return err
		})
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromAttributeError(plan.contentPath(), fmt.Sprintf("Unable to Update File %q", state.ID.ValueString()), err))
		return
	}
	plan.fill(written)
	inside.Bind(ctx, resp.Private, place.Binding, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// change brings the file to the plan. What another resource wrote at the old path meanwhile stays.
func (r *fileResource) change(ctx context.Context, place inside.Place, plan, state model) (sandbox.FileState, error) {
	defer r.client.LockFiles(state.SandboxID.ValueString())()
	from, err := sandbox.ResolvePath(place.Observed.Workspace, state.Path.ValueString())
	if err != nil {
		return sandbox.FileState{}, err
	}
	to, err := sandbox.ResolvePath(place.Observed.Workspace, plan.Path.ValueString())
	if err != nil {
		return sandbox.FileState{}, err
	}
	rewritten := from != to || plan.SHA256.IsUnknown() || plan.SHA256.ValueString() != state.SHA256.ValueString() || plan.Mode.ValueString() != state.Mode.ValueString()
	if !rewritten {
		return sandbox.FileState{SHA256: state.SHA256.ValueString(), Size: state.Size.ValueInt64()}, nil
	}
	content, err := r.next(ctx, place, plan, state)
	if err != nil {
		return sandbox.FileState{}, err
	}
	before, err := place.Manager.StatFile(ctx, place.Observed, from)
	if err != nil {
		return sandbox.FileState{}, err
	}
	written, err := r.write(ctx, place, plan, content)
	if err != nil || from == to || before == nil || r.client.Written(fileKey(state, from)) {
		return written, err
	}
	after, err := place.Manager.StatFile(ctx, place.Observed, from)
	if err != nil || after == nil || !after.ModTime.Equal(before.ModTime) || after.Size != before.Size || after.Mode != before.Mode {
		return written, err // the old path leads to the new file, through a link
	}
	return written, place.Manager.RemoveFile(ctx, place.Observed, from)
}

// write writes the file where the plan has it. The caller holds the lock of the sandbox's files.
func (r *fileResource) write(ctx context.Context, place inside.Place, plan model, content []byte) (sandbox.FileState, error) {
	mode, err := parseMode(plan.Mode.ValueString())
	if err != nil {
		return sandbox.FileState{}, err
	}
	written, err := place.Manager.WriteFile(ctx, place.Observed, plan.Path.ValueString(), content, mode)
	if err == nil {
		r.client.NoteWritten(fileKey(plan, written.Path))
	}
	return written, err
}

func fileKey(m model, resolved string) string { return m.SandboxID.ValueString() + ":" + resolved }

// next is the content after the update: what the file holds now where edits inside are left alone,
// else what the configuration wants.
func (r *fileResource) next(ctx context.Context, place inside.Place, plan, state model) ([]byte, error) {
	if !plan.Overwrite.ValueBool() {
		_, content, err := place.Manager.ReadFile(ctx, place.Observed, state.Path.ValueString(), sandbox.MaxFileSize)
		if !errors.Is(err, backends.FileNotFound) {
			return content, err
		}
	}
	return plan.planned(ctx)
}

// planned is the wanted content, after it made sure that it still is what the plan showed.
func (m *model) planned(ctx context.Context) ([]byte, error) {
	content, err := m.wanted(ctx)
	if err != nil {
		return nil, err
	}
	if !m.SHA256.IsUnknown() && m.Overwrite.ValueBool() && hashOf(content) != m.SHA256.ValueString() {
		return nil, errors.New("the source changed between plan and apply, so nothing was written: plan again")
	}
	return content, nil
}

// Delete leaves the file in place, or removes it where the applied state says purge.
func (r *fileResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() || state.OnDestroy.ValueString() != "purge" {
		return
	}
	limit, diags := state.Timeouts.Delete(ctx, timeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	place, err := inside.Look(ctx, r.client, state.SandboxID.ValueString(), inside.Bound(ctx, req.Private, &resp.Diagnostics))
	if err == nil && !place.Gone {
		err = place.Reach(ctx, func(ctx context.Context, place inside.Place) error { return r.remove(ctx, place, state) })
	}
	if place.Unreadable(err) {
		resp.Diagnostics.Append(diagnostics.Warning(string(backends.NotRunning), "Files Are Left in Place",
			state.ID.ValueString()+" was not removed: its sandbox has lost its compute. It goes when the sandbox is purged."))
		return
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Delete File %q", state.ID.ValueString()), err))
	}
}

// remove removes the file, unless another resource has written it in this walk.
func (r *fileResource) remove(ctx context.Context, place inside.Place, state model) error {
	defer r.client.LockFiles(state.SandboxID.ValueString())()
	resolved, err := sandbox.ResolvePath(place.Observed.Workspace, state.Path.ValueString())
	if err != nil || r.client.Written(fileKey(state, resolved)) {
		return err
	}
	return place.Manager.RemoveFile(ctx, place.Observed, resolved)
}
