package functions

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

var _ function.Function = (*resolvePath)(nil)

type resolvePath struct{}

// NewResolvePath returns the function resolve_path.
func NewResolvePath() function.Function { return &resolvePath{} }

func (f *resolvePath) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "resolve_path"
}

func (f *resolvePath) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "The absolute path of a file in a sandbox",
		MarkdownDescription: "Returns the absolute, clean path that a `path` attribute of this provider means. A relative path is anchored at the workspace and may not leave it; an absolute one is cleaned and otherwise taken as it is.\n\n" +
			"Only the text is judged. Links inside a sandbox that lead out of its workspace are refused when a file is opened.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name:                "workspace",
				MarkdownDescription: "The absolute path of the workspace inside the sandbox, as in the attribute `workspace`.",
			},
			function.StringParameter{
				Name:                "path",
				MarkdownDescription: "The path to resolve. A relative one that leaves the workspace is an error.",
			},
		},
		Return: function.StringReturn{},
	}
}

func (f *resolvePath) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var workspace, path string
	if resp.Error = req.Arguments.Get(ctx, &workspace, &path); resp.Error != nil {
		return
	}
	if err := sandbox.CheckAbsolutePath(workspace); err != nil {
		resp.Error = invalid(0, diagnostics.InvalidValue, err)
		return
	}
	resolved, err := sandbox.ResolvePath(workspace, path)
	if err != nil {
		code := diagnostics.InvalidValue
		if errors.Is(err, sandbox.ErrEscapes) {
			code = string(backends.PathEscapes)
		}
		resp.Error = invalid(1, code, err)
		return
	}
	resp.Error = resp.Result.Set(ctx, resolved)
}
