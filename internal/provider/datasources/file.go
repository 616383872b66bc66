package datasources

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
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

// defaultMaxBytes is the largest file that is read unless asked otherwise: all of it stands in the
// state, twice.
const defaultMaxBytes = 1 << 20

var _ datasource.DataSourceWithConfigure = (*fileSource)(nil)

type fileSource struct{ configured }

type fileModel struct {
	RecordID      types.String `tfsdk:"record_id"`
	Path          types.String `tfsdk:"path"`
	MaxBytes      types.Int64  `tfsdk:"max_bytes"`
	Exists        types.Bool   `tfsdk:"exists"`
	Content       types.String `tfsdk:"content"`
	ContentBase64 types.String `tfsdk:"content_base64"`
	SHA256        types.String `tfsdk:"sha256"`
	Size          types.Int64  `tfsdk:"size"`
	Mode          types.String `tfsdk:"mode"`
}

// NewFile returns the data source sandlot_file.
func NewFile() datasource.DataSource { return &fileSource{} }

func (d *fileSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_file"
}

func (d *fileSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A file in a sandbox, running or stopped. A stopped sandbox is not woken.\n\n" +
			"A file that does not exist is no error: `exists` is false then and everything else null. The content stands in the state: do not read secrets this way.",
		Attributes: map[string]schema.Attribute{
			"record_id": recordIDAttribute("sandbox"),
			"path": schema.StringAttribute{
				MarkdownDescription: "The file: relative to the workspace, or absolute where the backend has the capability `absolute_paths` or the path lies in the workspace.",
				Required:            true,
				Validators:          []validator.String{validators.String("the path of a file", sandbox.CheckFilePath)},
			},
			"max_bytes": schema.Int64Attribute{
				MarkdownDescription: fmt.Sprintf("The largest file that is read, in bytes; a larger one is an error. Allowed are 1 to %d. Default: `%d`.", int64(sandbox.MaxFileSize), int64(defaultMaxBytes)),
				Optional:            true,
				Validators:          []validator.Int64{int64validator.Between(1, sandbox.MaxFileSize)},
			},
			"exists": schema.BoolAttribute{
				MarkdownDescription: "Whether the file exists.",
				Computed:            true,
			},
			"content": schema.StringAttribute{
				MarkdownDescription: "The content as text; null when it is not UTF-8. The CLI normalizes Unicode in it: where every byte counts, use `content_base64`.",
				Computed:            true,
			},
			"content_base64": schema.StringAttribute{
				MarkdownDescription: "The content in base64, byte for byte.",
				Computed:            true,
			},
			"sha256": schema.StringAttribute{
				MarkdownDescription: "The SHA-256 of the content, as lower-case hex digits.",
				Computed:            true,
			},
			"size": schema.Int64Attribute{
				MarkdownDescription: "The size of the content in bytes.",
				Computed:            true,
			},
			"mode": schema.StringAttribute{
				MarkdownDescription: "The permission bits as four octal digits, for example `0644`.",
				Computed:            true,
			},
		},
	}
}

func (d *fileSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m fileModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	limit := int64(defaultMaxBytes)
	if !m.MaxBytes.IsNull() {
		limit = m.MaxBytes.ValueInt64()
	}
	wanted := m.Path.ValueString()
	summary := fmt.Sprintf("Unable to Read File %q", wanted)
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	found, failure := d.find(ctx, m.RecordID.ValueString(), summary)
	if failure != nil {
		resp.Diagnostics.Append(failure)
		return
	}
	state, content, err := found.read(ctx, wanted, limit)
	switch {
	case errors.Is(err, backends.FileNotFound):
		m.setMissing()
	case err != nil:
		resp.Diagnostics.Append(diagnostics.FromAttributeError(path.Root("path"), summary, err))
		return
	default:
		m.set(state, content)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// read reads a file that somebody inside may be writing to. One that grew beyond the limit
// meanwhile was cut, and its hash would be that of a part.
func (b box) read(ctx context.Context, wanted string, limit int64) (sandbox.FileState, []byte, error) {
	state, content, err := b.manager.ReadFile(ctx, b.observed, wanted, limit)
	if err == nil && state.Size < limit && int64(len(content)) >= limit {
		err = &backends.Error{
			Kind: backends.Conflict, Backend: b.manager.Backend.Name(), Operation: "read file", Object: wanted,
			Detail: "It grew while it was read.", Remedy: "Read it again, or raise `max_bytes`.",
		}
	}
	return state, content, err
}

func (m *fileModel) set(state sandbox.FileState, content []byte) {
	m.Exists = types.BoolValue(true)
	m.Content = types.StringNull()
	if utf8.Valid(content) {
		m.Content = types.StringValue(string(content))
	}
	m.ContentBase64 = types.StringValue(base64.StdEncoding.EncodeToString(content))
	m.SHA256 = types.StringValue(state.SHA256)
	m.Size = types.Int64Value(int64(len(content)))
	m.Mode = types.StringValue(modeText(state.Mode))
}

func (m *fileModel) setMissing() {
	m.Exists = types.BoolValue(false)
	m.Content, m.ContentBase64, m.SHA256 = types.StringNull(), types.StringNull(), types.StringNull()
	m.Size, m.Mode = types.Int64Null(), types.StringNull()
}
