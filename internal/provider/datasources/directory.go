package datasources

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// maxEntries bounds a listing, so that a state stays small enough to work with.
const maxEntries = 10_000

var _ datasource.DataSourceWithConfigure = (*directorySource)(nil)

type directorySource struct{ configured }

type directoryModel struct {
	RecordID  types.String `tfsdk:"record_id"`
	Path      types.String `tfsdk:"path"`
	Recursive types.Bool   `tfsdk:"recursive"`
	Entries   []entryModel `tfsdk:"entries"`
}

type entryModel struct {
	Path         types.String `tfsdk:"path"`
	AbsolutePath types.String `tfsdk:"absolute_path"`
	Type         types.String `tfsdk:"type"`
	Size         types.Int64  `tfsdk:"size"`
	Mode         types.String `tfsdk:"mode"`
	LinkTarget   types.String `tfsdk:"link_target"`
}

// NewDirectory returns the data source sandlot_directory.
func NewDirectory() datasource.DataSource { return &directorySource{} }

func (d *directorySource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_directory"
}

func (d *directorySource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: fmt.Sprintf("The entries of a directory in a sandbox, running or stopped. A stopped sandbox is not woken.\n\n"+
			"A directory that does not exist is an error, and so is a listing of more than %d entries.", maxEntries),
		Attributes: map[string]schema.Attribute{
			"record_id": recordIDAttribute("sandbox"),
			"path": schema.StringAttribute{
				MarkdownDescription: "The directory: relative to the workspace, or absolute where the backend has the capability `absolute_paths` or the path lies in the workspace. Default: `.`, the workspace.",
				Optional:            true,
				Validators:          []validator.String{validators.String("a path that stays in the workspace, or an absolute one", checkDirectoryPath)},
			},
			"recursive": schema.BoolAttribute{
				MarkdownDescription: "Whether directories below are listed too. Links are not followed. Default: `false`.",
				Optional:            true,
			},
			"entries": schema.ListNestedAttribute{
				MarkdownDescription: "What was found, sorted by path. The directory itself is not among them.",
				Computed:            true,
				NestedObject:        schema.NestedAttributeObject{Attributes: entryAttributes()},
			},
		},
	}
}

func entryAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"path": schema.StringAttribute{
			MarkdownDescription: "The path relative to the listed directory. Bytes that are not UTF-8 are replaced by U+FFFD.",
			Computed:            true,
		},
		"absolute_path": schema.StringAttribute{
			MarkdownDescription: "The absolute path inside the sandbox.",
			Computed:            true,
		},
		"type": schema.StringAttribute{
			MarkdownDescription: "One of `file`, `directory`, `symlink`, `fifo`, `socket` and `device`.",
			Computed:            true,
		},
		"size": schema.Int64Attribute{
			MarkdownDescription: "The size of a file in bytes; null for anything else.",
			Computed:            true,
		},
		"mode": schema.StringAttribute{
			MarkdownDescription: "The permission bits as four octal digits, for example `0644`.",
			Computed:            true,
		},
		"link_target": schema.StringAttribute{
			MarkdownDescription: "What a symbolic link points to, as it is written there; null for anything else.",
			Computed:            true,
		},
	}
}

func (d *directorySource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m directoryModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	wanted := "."
	if !m.Path.IsNull() {
		wanted = m.Path.ValueString()
	}
	summary := fmt.Sprintf("Unable to List Directory %q", wanted)
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	found, failure := d.find(ctx, m.RecordID.ValueString(), summary)
	if failure != nil {
		resp.Diagnostics.Append(failure)
		return
	}
	listed, err := found.manager.ListFiles(ctx, found.observed, wanted, m.Recursive.ValueBool(), maxEntries)
	if err == nil {
		m.Entries, err = entries(found.observed.Workspace, wanted, listed)
	}
	if err != nil {
		resp.Diagnostics.Append(diagnostics.FromAttributeError(path.Root("path"), summary, err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func entries(workspace, wanted string, listed []backends.FileInfo) ([]entryModel, error) {
	start, err := sandbox.ResolvePath(workspace, wanted)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(listed, func(a, b backends.FileInfo) int { return strings.Compare(a.Path, b.Path) })
	models := make([]entryModel, len(listed))
	for i, info := range listed {
		relative := strings.TrimPrefix(strings.TrimPrefix(info.Path, start), "/")
		models[i] = entryModel{
			Path:         text(relative),
			AbsolutePath: text(info.Path),
			Type:         types.StringValue(typeOf(info.Mode)),
			Size:         types.Int64Null(),
			Mode:         types.StringValue(modeText(info.Mode)),
			LinkTarget:   types.StringNull(),
		}
		if info.Mode.IsRegular() {
			models[i].Size = types.Int64Value(info.Size)
		}
		if info.Mode&fs.ModeSymlink != 0 {
			models[i].LinkTarget = text(info.LinkTarget)
		}
	}
	return models, nil
}

// text makes a value of a name, which on disk is any bytes and in a state must be UTF-8.
func text(name string) types.String {
	return types.StringValue(strings.ToValidUTF8(name, "\uFFFD"))
}

func typeOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "symlink"
	case mode&fs.ModeNamedPipe != 0:
		return "fifo"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// checkDirectoryPath is the part of the path rules that needs no workspace.
func checkDirectoryPath(wanted string) error {
	_, err := sandbox.ResolvePath("/workspace", wanted)
	return err
}
