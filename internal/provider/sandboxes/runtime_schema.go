package sandboxes

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/templatefiles"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
)

// defaultTemplateBytes is how much a template may hold unless `max_bytes` says otherwise. It is
// copied into every new workspace: what is larger belongs into the base snapshot.
const defaultTemplateBytes = 1 << 20

func runtimeSchema(ctx context.Context) schema.Schema {
	attributes := commonAttributes(ctx)
	maps.Copy(attributes, persistentAttributes())
	maps.Copy(attributes, runtimeAttributes())
	attributes["workspace_id"] = schema.StringAttribute{
		MarkdownDescription: "The id of the workspace, in your own terms: one workspace id, one runtime. The name is derived from it at plan: `<name_prefix>-<namespace>-ws-<first 12 hex digits of the SHA-256 of the trimmed id>`. Changing this replaces the runtime.",
		Required:            true,
		Validators:          []validator.String{validators.Length(1, 1024), validators.String("not empty", checkWorkspaceID)},
	}
	attributes["name"] = schema.StringAttribute{
		MarkdownDescription: "The name of the sandbox, derived from `workspace_id`. A stored name wins over a changed prefix.",
		Computed:            true,
	}
	return schema.Schema{
		Version: schemaVersion,
		MarkdownDescription: "The machine of one workspace: a sandbox with everything a platform has to know of it. It is provisioned once, from a base snapshot if there is one, and from then on only ever restored from its own data.\n\n" +
			"A workspace whose data is gone is never silently made anew: the plan is an error that names the ways on. Destroying it keeps its data unless the last applied `on_destroy` was `purge`. See the guides *Workspaces* and *What destroy does*.",
		Attributes: attributes,
	}
}

func runtimeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"kind": schema.StringAttribute{
			MarkdownDescription: "`persistent` (default): the workspace outlives every stop by itself. `session`: it lives as long as the session, and longer by its own snapshots: a checkpoint, and on backends where a stop empties a session, one taken before each stop. Changing this replaces the runtime.",
			Optional:            true,
			Computed:            true,
			Default:             stringdefault.StaticString(string(backends.Persistent)),
			Validators:          []validator.String{validators.OneOf(string(backends.Persistent), string(backends.Session))},
		},
		"base_snapshot": schema.SingleNestedAttribute{
			MarkdownDescription: "The base snapshot that a *new* workspace starts from, in place of `source`. It is frozen at creation: a later value is no diff and changes nothing, since the workspace has its own data then. What was used stands in `applied_base_snapshot_id`.",
			Optional:            true,
			PlanModifiers:       []planmodifier.Object{frozen{}},
			Attributes: map[string]schema.Attribute{
				"id": schema.StringAttribute{
					MarkdownDescription: "The id of the snapshot: `snapshot_id` of a `sandlot_base_snapshot` of the same backend.",
					Required:            true,
					Validators:          []validator.String{validators.Length(1, 1024)},
				},
				"version": schema.StringAttribute{
					MarkdownDescription: "Its version, for provenance: `version` of the `sandlot_base_snapshot`.",
					Required:            true,
					Validators:          []validator.String{validators.Length(1, 1024)},
				},
			},
		},
		"template": templateAttribute(),
		"handle": schema.StringAttribute{
			MarkdownDescription: "By what clients attach to the runtime: the sandbox's name.",
			Computed:            true,
		},
		"handle_kind": schema.StringAttribute{
			MarkdownDescription: "What `handle` is: `persistent-name` or `session`.",
			Computed:            true,
		},
		"resource_kind": schema.StringAttribute{
			MarkdownDescription: "What the runtime is made of: `sandbox`.",
			Computed:            true,
		},
		"applied_base_snapshot_id": schema.StringAttribute{
			MarkdownDescription: "The base snapshot that the workspace was made from; null when it was none. Provenance only: it is never used to restore.",
			Computed:            true,
		},
		"applied_base_snapshot_version": schema.StringAttribute{
			MarkdownDescription: "The version of that base snapshot.",
			Computed:            true,
		},
		"applied_template_version": schema.StringAttribute{
			MarkdownDescription: "The version of the template that the workspace has now.",
			Computed:            true,
		},
		"state": schema.StringAttribute{
			MarkdownDescription: "How far the runtime is: `pending`, `provisioning`, `ready`, `stopped` or `error`. `status` says how its sandbox stands.",
			Computed:            true,
		},
		"expires_at": schema.StringAttribute{
			MarkdownDescription: "When the workspace's data expires, in RFC 3339; null where it does not.",
			Computed:            true,
		},
		"agent_environment": schema.MapAttribute{
			MarkdownDescription: "Environment variables that tell an agent server about this runtime, by the names that it knows. No secrets.",
			Computed:            true,
			ElementType:         types.StringType,
		},
	}
}

func templateAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "Files that a new workspace gets on top of its base. Keep them small: what all workspaces share belongs into the base snapshot.",
		Optional:            true,
		Attributes: map[string]schema.Attribute{
			"version": schema.StringAttribute{
				MarkdownDescription: "The version of the template. Changing it upgrades an existing workspace by `migrate`.",
				Required:            true,
				Validators:          []validator.String{validators.Length(1, 256)},
			},
			"files": templatefiles.Attribute("Used when the workspace is made; later values are no diff."),
			"max_bytes": schema.Int64Attribute{
				MarkdownDescription: "The most bytes that `files` may hold together; more is an error at plan. Default: `1048576` (1 MiB).",
				Optional:            true,
				Computed:            true,
				Default:             int64default.StaticInt64(defaultTemplateBytes),
				Validators:          []validator.Int64{validators.Between(1, templatefiles.MaxBytes)},
			},
			"migrate": schema.SingleNestedAttribute{
				MarkdownDescription: "How an existing workspace gets from the template version that it has to a new one. Without it a changed `version` is an error at plan: nothing is overwritten in a workspace unasked.",
				Optional:            true,
				Attributes: map[string]schema.Attribute{
					"command": schema.ListAttribute{
						MarkdownDescription: "The argument vector of the command that migrates. It runs inside the workspace with `SANDLOT_TEMPLATE_FROM` and `SANDLOT_TEMPLATE_TO` in its environment. It may be repeated after a failure.",
						Required:            true,
						ElementType:         types.StringType,
						Validators:          []validator.List{validators.NotEmpty()},
					},
					"verify": schema.ListAttribute{
						MarkdownDescription: "The argument vector of a command that has to exit with status 0 afterwards. Only then is the new version recorded.",
						Optional:            true,
						ElementType:         types.StringType,
						Validators:          []validator.List{validators.NotEmpty()},
					},
				},
			},
		},
	}
}

// frozen keeps the first value of an attribute, whatever the configuration says later, and also while
// that is unknown. Core accepts a planned value that equals the prior one where both have one.
type frozen struct{}

func (frozen) Description(context.Context) string { return "Frozen at creation." }

func (frozen) MarkdownDescription(context.Context) string { return "Frozen at creation." }

func (frozen) PlanModifyObject(_ context.Context, req planmodifier.ObjectRequest, resp *planmodifier.ObjectResponse) {
	if req.State.Raw.IsNull() || req.StateValue.IsNull() || req.ConfigValue.IsNull() {
		return
	}
	resp.PlanValue = req.StateValue
}
