package functions

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
)

var _ function.Function = (*parseHandle)(nil)

type parseHandle struct{}

// NewParseHandle returns the function parse_handle.
func NewParseHandle() function.Function { return &parseHandle{} }

func (f *parseHandle) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "parse_handle"
}

func (f *parseHandle) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "The values of a sandbox's record in any shape",
		MarkdownDescription: "Reads the record by which an application remembers a sandbox, in any of the shapes `vercel-persistent`, `vercel-session`, `workspace-resource`, `spawnbox`, `eve` and `agent-env`, and returns its values under the same names for every shape. " +
			"The shape is recognized by the keys; a record without `kind` is a `vercel-session`, the oldest shape. Unknown keys are ignored, keys that came later may be absent, and a value of the wrong type is an error that names the key.\n\n" +
			"An attribute that the record does not tell is null:\n\n" +
			"- `shape`: the shape of the record.\n" +
			"- `workspace_id`, `backend`, `name`: what is meant. `backend` is spelled as in this provider where it has that backend, and kept as it is otherwise.\n" +
			"- `kind`: `persistent`, `session` or `volume`. `handle_kind` says the same as a `workspace-resource` does: `persistent-name`, `session` or `volume-path`. Other words are kept.\n" +
			"- `handle`: what the object is found by: its name, the directory of a volume, or the id of a session on Vercel.\n" +
			"- `resource_kind`: `sandbox`, `volume`, `snapshot` or another word.\n" +
			"- `session_id`, `snapshot_id`: the latest session and the newest snapshot of its data.\n" +
			"- `base_snapshot_id`, `base_snapshot_version`, `template_version`, `runtime`: what it was made from.\n" +
			"- `state`: `pending`, `provisioning`, `ready`, `stopped` or `error`. The two shapes of Vercel have a status only, from which the state follows; without one it is `ready`.\n" +
			"- `status`: the backend's own word.\n" +
			"- `session_key`: the key under which an application files it among its sessions.\n" +
			"- `owner`, `host` (SSH alias), `directory` (on the machine of the application), `workspace` (inside), `user`, `isolated`.\n" +
			"- `services`: for each service `image`, `port`, `container_port`, `protocol`, `command` and `internal`.\n" +
			"- `metadata`: further values, as JSON.\n" +
			"- `created_at`, `updated_at`, `last_used_at`, `last_seen_at`, `expires_at`: in RFC 3339, UTC, to the millisecond.\n\n" +
			"The result is as sensitive as the record: when you pass a sensitive value, the CLI treats all of the result as sensitive.",
		Parameters: []function.Parameter{
			function.StringParameter{
				Name:                "record",
				MarkdownDescription: "The record, a JSON object of at most 1 MiB.",
			},
		},
		Return: function.ObjectReturn{AttributeTypes: handleAttributes},
	}
}

func (f *parseHandle) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var record string
	if resp.Error = req.Arguments.Get(ctx, &record); resp.Error != nil {
		return
	}
	object, shape, err := handle.Parse(record)
	if err != nil {
		resp.Error = invalid(0, diagnostics.InvalidValue, err)
		return
	}
	model, err := newHandleModel(shape, object)
	if err != nil {
		resp.Error = invalid(0, diagnostics.InvalidValue, err)
		return
	}
	resp.Error = resp.Result.Set(ctx, model)
}
