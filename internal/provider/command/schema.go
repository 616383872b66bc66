package command

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/inside"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/limits"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

type model struct {
	ID               types.String   `tfsdk:"id"`
	SandboxID        types.String   `tfsdk:"sandbox_id"`
	Command          types.List     `tfsdk:"command"`
	Environment      types.Map      `tfsdk:"environment"`
	WorkingDirectory types.String   `tfsdk:"working_directory"`
	User             types.String   `tfsdk:"user"`
	Timeout          types.String   `tfsdk:"timeout"`
	Triggers         types.Map      `tfsdk:"triggers"`
	DestroyCommand   types.List     `tfsdk:"destroy_command"`
	ExitCode         types.Int64    `tfsdk:"exit_code"`
	Stdout           types.String   `tfsdk:"stdout"`
	Stderr           types.String   `tfsdk:"stderr"`
	Timeouts         timeouts.Value `tfsdk:"timeouts"`
}

func (r *commandResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	absolute := validators.String("an absolute path", sandbox.CheckAbsolutePath)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A command that runs inside a sandbox when this is created, and again whenever `command`, `triggers` or what it runs with changes. A stopped sandbox is started for it and stopped again.\n\n" +
			"An exit status other than 0 fails the apply. A run that is cut short runs again, so commands should be safe to repeat. Do not count on a process that a command leaves running: `local` ends it with the command.",
		Attributes: map[string]schema.Attribute{
			"id":         inside.IDAttribute("The identity, `<sandbox_id>:<random>`."),
			"sandbox_id": inside.SandboxIDAttribute("command"),
			"command": schema.ListAttribute{
				MarkdownDescription: "The command as an argument vector; no shell is involved. Changing this runs it again.",
				Required:            true,
				ElementType:         types.StringType,
				Validators:          []validator.List{validators.NotEmpty()},
			},
			"environment": schema.MapAttribute{
				MarkdownDescription: "Environment variables for this command only, beside those of the sandbox. They stand in the state. Changing this runs it again.",
				Optional:            true,
				ElementType:         types.StringType,
			},
			"working_directory": schema.StringAttribute{
				MarkdownDescription: "The directory it starts in, absolute. Default: the sandbox's. Changing this runs it again.",
				Optional:            true,
				Validators:          []validator.String{absolute},
			},
			"user": schema.StringAttribute{
				MarkdownDescription: "The user it runs as, where the backend has the capability `user`. Default: the sandbox's. Changing this runs it again.",
				Optional:            true,
				Validators:          []validator.String{validators.String("a user name or uid", sandbox.CheckUser)},
			},
			"timeout": schema.StringAttribute{
				MarkdownDescription: "How long it may run, as a duration; it is ended then, and the apply fails. Absent: as long as the apply's own limit.",
				Optional:            true,
				Validators:          []validator.String{validators.Duration()},
			},
			"triggers": schema.MapAttribute{
				MarkdownDescription: "Any values. Changing them runs the command again.",
				Optional:            true,
				ElementType:         types.StringType,
			},
			"destroy_command": schema.ListAttribute{
				MarkdownDescription: "A command that runs when this is destroyed, as an argument vector, with the same environment, directory and user. It is skipped when the sandbox is gone; when it fails the destroy fails.",
				Optional:            true,
				ElementType:         types.StringType,
				Validators:          []validator.List{validators.NotEmpty()},
			},
			"exit_code": schema.Int64Attribute{
				MarkdownDescription: "The exit status of the last run; always 0, since any other fails the apply.",
				Computed:            true,
			},
			"stdout": schema.StringAttribute{
				MarkdownDescription: "What the last run wrote to standard output, the first 64 KiB of it. Bytes that are not UTF-8 are replaced, and so are the values of `secret_environment_wo`. It stands in the state.",
				Computed:            true,
			},
			"stderr": schema.StringAttribute{
				MarkdownDescription: "What the last run wrote to standard error, in the same way.",
				Computed:            true,
			},
			"timeouts": limits.Attribute(ctx, limits.Defaults{Create: runTimeout, Read: readTimeout, Update: runTimeout, Delete: runTimeout}),
		},
	}
}
