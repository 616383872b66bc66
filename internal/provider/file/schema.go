package file

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/inside"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/limits"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

func (r *fileResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	exactlyOne := validators.Coded(stringvalidator.ExactlyOneOf(path.MatchRoot("content"), path.MatchRoot("content_base64"), path.MatchRoot("source")))
	resp.Schema = schema.Schema{
		MarkdownDescription: "A file inside a sandbox. It is compared by its hash, and a refresh never wakes a stopped sandbox. A file that was removed inside is planned again.",
		Attributes: map[string]schema.Attribute{
			"id":         inside.IDAttribute("The identity, `<sandbox_id>:<path>`, with the path that the file was created with. A rename does not change it."),
			"sandbox_id": inside.SandboxIDAttribute("file"),
			"path": schema.StringAttribute{
				MarkdownDescription: "Where the file is: relative to the workspace, or absolute where the backend has the capability `absolute_paths`. It may not lead out of the workspace by `..` or by a link. Changing this renames the file.",
				Required:            true,
				Validators:          []validator.String{validators.String("the path of a file", sandbox.CheckFilePath)},
			},
			"content": schema.StringAttribute{
				MarkdownDescription: "The content as text. Exactly one of `content`, `content_base64` and `source` is required. It stands in the state.",
				Optional:            true,
				Validators:          []validator.String{exactlyOne},
			},
			"content_base64": schema.StringAttribute{
				MarkdownDescription: "The content in standard Base64, for binary files. It stands in the state.",
				Optional:            true,
				Validators:          []validator.String{validators.String("standard Base64", checkBase64)},
			},
			"source": schema.StringAttribute{
				MarkdownDescription: "The path of a file on the machine that Terraform runs on, of at most 64 MiB. Only its hash stands in the state.",
				Optional:            true,
				Validators:          []validator.String{validators.Length(1, 4095)},
			},
			"mode": schema.StringAttribute{
				MarkdownDescription: "The permission bits in octal. Default: `0644`.",
				Optional:            true,
				Computed:            true,
				Default:             stringdefault.StaticString("0644"),
				Validators:          []validator.String{validators.String("permission bits in octal", checkMode)},
			},
			"overwrite": schema.BoolAttribute{
				MarkdownDescription: "`true` (default) keeps the content as configured. `false` writes the file only where there is none, and leaves later edits and a later `content` alone.",
				Optional:            true,
				Computed:            true,
				Default:             booldefault.StaticBool(true),
			},
			"on_destroy": schema.StringAttribute{
				MarkdownDescription: "`retain` leaves the file in place, `purge` removes it, whatever it holds then, and also from a sandbox that is only retained when its `generation` rises. Read from the last applied state. Default: the provider's `on_destroy`, which is `retain` unless set.",
				Optional:            true,
				Computed:            true,
				Validators:          []validator.String{validators.OneOf("retain", "purge")},
			},
			"sha256": schema.StringAttribute{
				MarkdownDescription: "The SHA-256 of the content, in lower-case hex. Known at plan when the content is.",
				Computed:            true,
			},
			"size": schema.Int64Attribute{
				MarkdownDescription: "The size in bytes. Known at plan when the content is.",
				Computed:            true,
			},
			"timeouts": limits.Attribute(ctx, limits.Defaults{Create: timeout, Read: timeout, Update: timeout, Delete: timeout}),
		},
	}
}
