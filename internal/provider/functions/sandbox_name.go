package functions

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// What the provider block falls back on. A test holds them to the names that the resource derives.
const (
	defaultPrefix    = "sandlot"
	defaultNamespace = "dev"
)

// The bounds that the resource sets on its attributes of the same names.
const (
	longestWorkspaceID = 1024 // bytes
	highestGeneration  = 999999
)

// Positions of the arguments.
const (
	workspaceIDArgument = iota
	prefixArgument
	namespaceArgument
	generationArgument
	argumentCount
)

var _ function.Function = (*sandboxName)(nil)

type sandboxName struct{}

// NewSandboxName returns the function sandbox_name.
func NewSandboxName() function.Function { return &sandboxName{} }

func (f *sandboxName) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "sandbox_name"
}

func (f *sandboxName) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "The name of a workspace's sandbox",
		MarkdownDescription: "Returns the name that `sandlot_persistent_sandbox` derives from a workspace id: `<name_prefix>-<namespace>-ws-<first 12 hex digits of the SHA-256 of the trimmed id>`, and `-g<N>` after it from generation 2 on.\n\n" +
			"The function does not know the provider block or its environment variables. Where those set a `name_prefix` or a `namespace`, pass the same values.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name:                "workspace_id",
				MarkdownDescription: "The id of the workspace, as in `workspace_id` of the resource. White space around it does not count.",
			},
		},
		// No null for "the default": OpenTofu sends nothing at all for one, which the framework cannot read.
		VariadicParameter: function.StringParameter{
			Name:                "naming",
			MarkdownDescription: "Up to three more values, in this order: the `name_prefix` (default `sandlot`), the `namespace` (default `dev`) and the `generation` (default `1`). A value that is null or left out means its default.",
			AllowNullValue:      true,
		},
		Return: function.StringReturn{},
	}
}

func (f *sandboxName) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var workspaceID string
	var naming []string
	if resp.Error = req.Arguments.Get(ctx, &workspaceID, &naming); resp.Error != nil {
		return
	}
	name, failure := deriveName(workspaceID, naming)
	if failure != nil {
		resp.Error = failure
		return
	}
	resp.Error = resp.Result.Set(ctx, name)
}

// deriveName judges each argument by itself first, so that the error stands on the right one.
func deriveName(workspaceID string, naming []string) (string, *function.FuncError) {
	if err := checkWorkspaceID(workspaceID); err != nil {
		return "", invalid(workspaceIDArgument, diagnostics.InvalidValue, err)
	}
	if len(naming) >= argumentCount {
		return "", invalid(argumentCount, diagnostics.InvalidValue, errors.New("there are more values than prefix, namespace and generation"))
	}
	arguments := [argumentCount]string{prefixArgument: defaultPrefix, namespaceArgument: defaultNamespace, generationArgument: "1"}
	for i, value := range naming {
		arguments[prefixArgument+i] = value
	}
	for _, part := range []int{prefixArgument, namespaceArgument} {
		if err := sandbox.CheckName(arguments[part]); err != nil {
			return "", invalid(part, diagnostics.InvalidValue, err)
		}
	}
	generation, err := strconv.ParseInt(arguments[generationArgument], 10, 64)
	if err != nil || generation < 1 || generation > highestGeneration {
		return "", invalid(generationArgument, diagnostics.InvalidValue,
			fmt.Errorf("%q is not a generation: allowed are whole numbers from 1 to %d", arguments[generationArgument], highestGeneration))
	}
	name, err := sandbox.DeriveName(arguments[prefixArgument], arguments[namespaceArgument], workspaceID, generation)
	if err != nil {
		// Each part is right, so they are too long together. The prefix is the one to cut.
		return "", invalid(prefixArgument, diagnostics.InvalidValue, err)
	}
	return name, nil
}

func checkWorkspaceID(id string) error {
	switch {
	case sandbox.NormalizeWorkspaceID(id) == "":
		return errors.New("the workspace id is empty")
	case len(id) > longestWorkspaceID:
		return fmt.Errorf("the workspace id has %d bytes: allowed are at most %d", len(id), longestWorkspaceID)
	}
	return nil
}
