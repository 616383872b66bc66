package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/identity"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/inside"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// shownOutput is how much of a failed command's output stands in the error, in bytes.
const shownOutput = 4096

// Create runs the command. One that fails leaves no entry, so that the next apply runs it again.
func (r *commandResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	limit, diags := plan.Timeouts.Create(ctx, runTimeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	place, err := r.run(ctx, &plan, plan.Command, "")
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromError("Unable to Run Command", err))
		return
	}
	plan.ID = types.StringValue(newID(plan.SandboxID.ValueString()))
	inside.Bind(ctx, resp.Private, place.Binding, &resp.Diagnostics)
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, plan.ID)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Read has nothing to look at but the sandbox: when that is gone the command is planned again.
func (r *commandResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, state.ID)...)
	limit, diags := state.Timeouts.Read(ctx, readTimeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	bound := inside.Bound(ctx, req.Private, &resp.Diagnostics)
	place, err := inside.Look(ctx, r.client, state.SandboxID.ValueString(), bound)
	if err == nil && !place.Gone {
		inside.Remember(ctx, bound, place, resp.Private, &resp.Diagnostics)
	}
	switch {
	case errors.Is(err, client.ErrUnknown), errors.Is(err, backends.HostSleeping):
	case err != nil:
		resp.Diagnostics.Append(diagnostics.FromError(fmt.Sprintf("Unable to Read Command %q", state.ID.ValueString()), err))
	case place.Gone && !place.Remembered:
		resp.State.RemoveResource(ctx)
	}
}

// Update runs the command again where the plan says so.
func (r *commandResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(identity.Set(ctx, resp.Identity, plan.ID)...)
	limit, diags := plan.Timeouts.Update(ctx, runTimeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if runsAgain(plan, state) {
		if _, err := r.run(ctx, &plan, plan.Command, inside.Bound(ctx, req.Private, &resp.Diagnostics)); err != nil {
			resp.Diagnostics.Append(diagnostics.FromError("Unable to Run Command", err))
			return
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Delete runs the destroy command, if there is one and the sandbox still exists.
func (r *commandResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() || state.DestroyCommand.IsNull() {
		return
	}
	limit, diags := state.Timeouts.Delete(ctx, runTimeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	place, err := r.run(ctx, &state, state.DestroyCommand, inside.Bound(ctx, req.Private, &resp.Diagnostics))
	if place.Unreadable(err) {
		resp.Diagnostics.Append(diagnostics.Warning(string(backends.NotRunning), "Destroy Commands Were Skipped",
			state.ID.ValueString()+" could not run its destroy command: "+err.Error()))
		return
	}
	if err != nil && !errors.Is(err, sandbox.CodeMissing) {
		resp.Diagnostics.Append(diagnostics.FromError("Unable to Run Destroy Command", err))
	}
}

// run runs argv and writes how it ended into m. An exit status other than 0 is an error.
func (r *commandResource) run(ctx context.Context, m *model, argv types.List, bound string) (inside.Place, error) {
	place, err := inside.Look(ctx, r.client, m.SandboxID.ValueString(), bound)
	if err == nil && place.Gone {
		err = inside.Gone(m.SandboxID.ValueString())
	}
	if err != nil {
		return place, err
	}
	var limit time.Duration
	if !m.Timeout.IsNull() {
		if limit, err = sandbox.ParseDuration(m.Timeout.ValueString()); err != nil {
			return place, fmt.Errorf("timeout: %w", err)
		}
	}
	result, err := place.Manager.Exec(ctx, place.Observed.Name, backends.Command{
		Argv:             convert.Texts(argv.Elements()),
		Environment:      convert.TextMap(m.Environment),
		WorkingDirectory: m.WorkingDirectory.ValueString(),
		User:             m.User.ValueString(),
		Timeout:          limit,
	})
	if err != nil {
		return place, err
	}
	if result.ExitCode != 0 {
		return place, failed(place, m, convert.Texts(argv.Elements()), result)
	}
	m.ExitCode = types.Int64Value(int64(result.ExitCode))
	m.Stdout, m.Stderr = types.StringValue(printable(result.Stdout)), types.StringValue(printable(result.Stderr))
	return place, nil
}

// failed is the error of a command that exited with another status than 0.
func failed(place inside.Place, m *model, argv []string, result backends.ExecResult) error {
	output := strings.TrimSpace(printable(result.Stderr))
	if output == "" {
		output = strings.TrimSpace(printable(result.Stdout))
	}
	if len(output) > shownOutput {
		output = "… " + strings.ToValidUTF8(output[len(output)-shownOutput:], "")
	}
	detail := fmt.Sprintf("%s exited with status %d.", argv[0], result.ExitCode)
	if output != "" {
		detail += " It said:\n\n" + output
	}
	if result.Truncated {
		detail += fmt.Sprintf("\n\nIt said more: only the first %d KiB are kept.", backends.DefaultOutputLimit>>10)
	}
	return &backends.Error{
		Kind: backends.CommandFailed, Backend: place.Manager.Backend.Name(), Operation: "run a command in", Object: m.SandboxID.ValueString(),
		Detail: detail,
	}
}

// printable makes text of bytes: a state holds UTF-8 only.
func printable(output []byte) string { return strings.ToValidUTF8(string(output), "\uFFFD") }
