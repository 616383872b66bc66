package sandboxes

import (
	"context"
	"maps"
	"math"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/backendset"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/limits"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// schemaVersion counts incompatible changes of the state; each needs a state upgrader.
const schemaVersion = 0

// networkModes are all modes that some backend has.
var networkModes = []string{backends.NetworkDenyAll, backends.NetworkAllowAll, backends.NetworkHost, backends.NetworkRestricted}

func sessionSchema(ctx context.Context) schema.Schema {
	attributes := commonAttributes(ctx)
	attributes["name"] = schema.StringAttribute{
		MarkdownDescription: "The name of the sandbox: " + sandbox.NameRule + ". It is unique per backend and owner. Changing this replaces the sandbox.",
		Required:            true,
		Validators:          []validator.String{validators.String(sandbox.NameRule, sandbox.CheckName)},
	}
	return schema.Schema{
		Version: schemaVersion,
		MarkdownDescription: "A sandbox for the length of a task. Its workspace goes with it.\n\n" +
			"A sandbox that vanished outside Terraform is planned again. For data that must outlive stops and mistakes use `sandlot_persistent_sandbox`.",
		Attributes: attributes,
	}
}

func persistentSchema(ctx context.Context) schema.Schema {
	attributes := commonAttributes(ctx)
	maps.Copy(attributes, persistentAttributes())
	return schema.Schema{
		Version: schemaVersion,
		MarkdownDescription: "A sandbox whose workspace outlives stops, destroys that retain, and lost state: one workspace, one identity.\n\n" +
			"When it vanished outside Terraform the next plan is an error that names the ways on; it is never silently made anew. Destroying it keeps its data unless the last applied `on_destroy` was `purge`. See the guide *What destroy does*.",
		Attributes: attributes,
	}
}

func persistentAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"workspace_id": schema.StringAttribute{
			MarkdownDescription: "The id of the workspace that lives here, in your own terms. The name is derived from it at plan: `<name_prefix>-<namespace>-ws-<first 12 hex digits of the SHA-256 of the trimmed id>`. Exactly one of `workspace_id` and `name` is required. Changing this replaces the sandbox.",
			Optional:            true,
			Validators:          []validator.String{validators.Length(1, 1024), validators.String("not empty", checkWorkspaceID)},
		},
		"name": schema.StringAttribute{
			MarkdownDescription: "The name of the sandbox: " + sandbox.NameRule + ". Derived from `workspace_id` when that is given; a stored name then wins over a changed prefix. Changing this replaces the sandbox.",
			Optional:            true,
			Computed:            true,
			Validators:          []validator.String{validators.String(sandbox.NameRule, sandbox.CheckName)},
		},
		"generation": schema.Int64Attribute{
			MarkdownDescription: "Raise it to start over with an empty sandbox: it is replaced under either `on_destroy`, and from 2 on its id ends in `-g<N>`, so that a retained predecessor keeps its name and data. It may not be lowered. Default: `1`.",
			Optional:            true,
			Computed:            true,
			Default:             int64default.StaticInt64(1),
			Validators:          []validator.Int64{validators.Between(1, 999999)},
		},
		"on_missing": schema.StringAttribute{
			MarkdownDescription: "What the plan does when the sandbox is gone: `error` (default) stops it and names the ways on, `keep` warns, so that one lost workspace does not stop all others.",
			Optional:            true,
			Computed:            true,
			Default:             stringdefault.StaticString("error"),
			Validators:          []validator.String{validators.OneOf("error", "keep")},
		},
		"snapshot_retention": schema.SingleNestedAttribute{
			MarkdownDescription: "Which checkpoints are kept when a new one is taken. Without it all are.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"expiration": schema.StringAttribute{
					MarkdownDescription: "The age from which older checkpoints are removed when the next one is taken, as a duration; `\"0s\"` or absent: never.",
					Optional:            true,
					Validators:          []validator.String{validators.Duration()},
				},
				"keep_last": schema.Int64Attribute{
					MarkdownDescription: "How many checkpoints are kept, the newest included. Absent: all.",
					Optional:            true,
					Validators:          []validator.Int64{validators.Between(1, math.MaxInt32)},
				},
			},
		},
		"checkpoint_trigger": schema.StringAttribute{
			MarkdownDescription: "Any change of this text takes a checkpoint: a snapshot of file system and workspace. The first value given at creation takes none.",
			Optional:            true,
		},
		"current_session_id": schema.StringAttribute{
			MarkdownDescription: "The id of the present session. It changes with each start and is never an identity.",
			Computed:            true,
		},
		"current_snapshot_id": schema.StringAttribute{
			MarkdownDescription: "The id of the newest checkpoint; null before the first.",
			Computed:            true,
		},
		"resumable": schema.BoolAttribute{
			MarkdownDescription: "Whether the sandbox can be started with its data.",
			Computed:            true,
		},
	}
}

func commonAttributes(ctx context.Context) map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{
		"id": schema.StringAttribute{
			MarkdownDescription: "The identity, `<backend>/<name>`, or `docker@<host>/<name>` on a cloud host. It stays the same for the life of a generation.",
			Computed:            true,
		},
		"record_id": schema.StringAttribute{
			MarkdownDescription: "The id of the record in the store; unknown until the sandbox was made. Data sources about one sandbox take it.",
			Computed:            true,
		},
		"attachment_id": schema.StringAttribute{
			MarkdownDescription: "By what this state holds the sandbox. Another state that attaches the sandbox writes another id into the record; a destroy here only forgets the sandbox from then on.",
			Computed:            true,
		},
		"backend": schema.StringAttribute{
			MarkdownDescription: "Where the sandbox lives: `local` or `docker`. Changing this replaces the sandbox.",
			Required:            true,
			Validators:          []validator.String{validators.OneOf(backendset.Names()...)},
		},
		"cloud_host_id": schema.StringAttribute{
			MarkdownDescription: "The `id` of the `sandlot_cloud_host` whose Docker Engine the sandbox lives on; for `docker` only. The engine is reached over SSH, with the host's key pinned. While the host sleeps the sandbox cannot be looked at: its state is kept and shows no difference. Changing this replaces the sandbox.",
			Optional:            true,
			Validators:          []validator.String{validators.CloudHostID()},
		},
		"desired_state": schema.StringAttribute{
			MarkdownDescription: "`running` or `stopped`. Unset leaves the run state alone: a sandbox stopped outside is no diff then. On `local`, stopping a `sandlot_sandbox` empties its workspace.",
			Optional:            true,
			Validators:          []validator.String{validators.OneOf(sandbox.DesiredRunning, sandbox.DesiredStopped)},
		},
		"require_capabilities": schema.SetAttribute{
			MarkdownDescription: "Capabilities that the backend must have, by their names in the guide *Capabilities*; the plan fails otherwise.",
			Optional:            true,
			ElementType:         types.StringType,
			Validators:          []validator.Set{validators.Each(validators.OneOf(backends.CapabilityNames()...))},
		},
		"on_destroy": schema.StringAttribute{
			MarkdownDescription: "`retain` or `purge`; see the guide *What destroy does*. With `retain`, a persistent sandbox keeps all its data and a `sandlot_sandbox` its named volumes only. It is read from the last applied state, so a purge takes two steps: set it and apply, then destroy. Default: the provider's `on_destroy`, which is `retain` unless set.",
			Optional:            true,
			Computed:            true,
			Validators:          []validator.String{validators.OneOf("retain", "purge")},
		},
		"timeouts": limits.Attribute(ctx, limits.Defaults{Create: createTimeout, Read: readTimeout, Update: updateTimeout, Delete: deleteTimeout}),
	}
	maps.Copy(attributes, specAttributes())
	maps.Copy(attributes, computedAttributes())
	return attributes
}

func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"status": schema.StringAttribute{
			MarkdownDescription: "`running`, `stopped`, `lost` (the data is there, the compute is not; the next apply recovers it), `missing` (gone), `interrupted` or `deleting` (a run was cut short; the next apply finishes it).",
			Computed:            true,
		},
		"session_id": schema.StringAttribute{
			MarkdownDescription: "The id of the present session. It changes with each start and is never an identity.",
			Computed:            true,
		},
		"endpoints": schema.MapAttribute{
			MarkdownDescription: "Where the published ports are reached: `<port>/<protocol>` to an address.",
			Computed:            true,
			ElementType:         types.StringType,
		},
		"workspace": schema.StringAttribute{
			MarkdownDescription: "The absolute path of the workspace inside the sandbox.",
			Computed:            true,
		},
		"capabilities": schema.SetAttribute{
			MarkdownDescription: "What the backend can do, by the names in the guide *Capabilities*.",
			Computed:            true,
			ElementType:         types.StringType,
		},
		"resolved_image": schema.StringAttribute{
			MarkdownDescription: "The digest or id that `source.image` meant when the sandbox was made; null without an image.",
			Computed:            true,
		},
		"created_at": schema.StringAttribute{
			MarkdownDescription: "When the sandbox was made, in RFC 3339.",
			Computed:            true,
		},
	}
}

func specAttributes() map[string]schema.Attribute {
	absolute := validators.String("an absolute path", sandbox.CheckAbsolutePath)
	return map[string]schema.Attribute{
		"source": sourceAttribute(),
		"cpus": schema.Float64Attribute{
			MarkdownDescription: "The most CPU time the sandbox may use, in cores. Absent: no limit of ours.",
			Optional:            true,
			Validators:          []validator.Float64{validators.FloatBetween(0.01, 1024)},
		},
		"memory_mib": schema.Int64Attribute{
			MarkdownDescription: "The most memory the sandbox may use, in MiB. Absent: no limit of ours.",
			Optional:            true,
			Validators:          []validator.Int64{validators.Between(8, 64<<20)},
		},
		"environment": schema.MapAttribute{
			MarkdownDescription: "Environment variables of the main process and of every command. They stand in the state: secrets belong into `secret_environment_wo`.",
			Optional:            true,
			ElementType:         types.StringType,
		},
		"secret_environment_wo": schema.MapAttribute{
			MarkdownDescription: "Environment variables that are secret. Write-only: they stand in no state and no plan. They are passed on when `secret_environment_wo_version` changes, which is required with them. Needs Terraform or OpenTofu 1.11.",
			Optional:            true,
			WriteOnly:           true,
			ElementType:         types.StringType,
		},
		"secret_environment_wo_version": schema.Int64Attribute{
			MarkdownDescription: "Any change of this number passes the present `secret_environment_wo` on.",
			Optional:            true,
		},
		"working_directory": schema.StringAttribute{
			MarkdownDescription: "The directory that the main process and commands start in, absolute. Default: the workspace.",
			Optional:            true,
			Validators:          []validator.String{absolute},
		},
		"user": schema.StringAttribute{
			MarkdownDescription: "The user that the main process and commands run as: a name or uid, optionally with `:` and a group or gid. Default: the image's. Where it is set, commands that run as root have no Linux capabilities: to install packages, leave it unset and name the user in each command.",
			Optional:            true,
			Validators:          []validator.String{validators.String("a user name or uid", sandbox.CheckUser)},
		},
		"command": schema.ListAttribute{
			MarkdownDescription: "The main process as an argument vector; no shell is involved. Default: one that waits.",
			Optional:            true,
			ElementType:         types.StringType,
			Validators:          []validator.List{validators.NotEmpty()},
		},
		"ports":   portsAttribute(),
		"mounts":  mountsAttribute(absolute),
		"volumes": volumesAttribute(),
		"network": schema.SingleNestedAttribute{
			MarkdownDescription: "The network policy. Default: the backend's first mode in the guide *Capabilities*.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"mode": schema.StringAttribute{
					MarkdownDescription: "`deny-all`: no network at all. `allow-all`: outgoing connections; on `local`, none to the loopback and link-local addresses of the host, but to its other addresses. `host`: the host's own network; it is warned about. `restricted`: only what the lists allow.",
					Required:            true,
					Validators:          []validator.String{validators.OneOf(networkModes...)},
				},
				"allow_domains": networkList("Domains that may be reached in the mode `restricted`. `*` stands for any domain, or for one whole label: `*.example.com`."),
				"allow_cidrs":   networkList("Address ranges that may be reached in the mode `restricted`, as `192.0.2.0/24`."),
				"deny_cidrs":    networkList("Address ranges that may not be reached in the mode `restricted`, whatever else is allowed."),
			},
		},
		"timeout": schema.StringAttribute{
			MarkdownDescription: "How long the main process may run, as a duration; it is ended then. Absent: for ever.",
			Optional:            true,
			Validators:          []validator.String{validators.String("a duration of at least one second", sandbox.CheckLimit)},
		},
		"labels": schema.MapAttribute{
			MarkdownDescription: "Labels on the sandbox. Names that start with `sandlot.` are kept for Sandlot.",
			Optional:            true,
			ElementType:         types.StringType,
		},
		"setup":  setupAttribute(absolute),
		"docker": dockerAttribute(),
		"vercel": vercelAttribute(),
	}
}
