package basesnapshots

import (
	"context"
	"maps"
	"math"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/backendset"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/limits"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/templatefiles"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Defaults.
const (
	// DefaultTemplate is the template of a lane that names none.
	DefaultTemplate     = "default"
	defaultMinAge       = "336h"
	defaultKeepPrevious = 1
	// maxTemplateBytes bounds what one manifest may bring along.
	maxTemplateBytes = 256 << 20

	createTimeout = 60 * time.Minute
	readTimeout   = 2 * time.Minute
	updateTimeout = 60 * time.Minute
	deleteTimeout = 10 * time.Minute
)

// networkModes are those that the attribute knows; not every backend has each.
var networkModes = []string{backends.NetworkDenyAll, backends.NetworkAllowAll, backends.NetworkHost}

func (r *snapshotResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"backend": schema.StringAttribute{
			MarkdownDescription: "Where the snapshots live: `local`, `docker` or `vercel`. Changing this starts another lane; the old one is retired or purged.",
			Required:            true,
			Validators:          []validator.String{validators.OneOf(backendset.Names()...)},
		},
		"app": schema.StringAttribute{
			MarkdownDescription: "The application that the workspaces are for: " + sandbox.NameRule + ". Changing this starts another lane.",
			Required:            true,
			Validators:          []validator.String{validators.String(sandbox.NameRule, sandbox.CheckName)},
		},
		"template": schema.StringAttribute{
			MarkdownDescription: "Tells lanes of one application apart: " + sandbox.NameRule + ". Changing this starts another lane. Default: `default`.",
			Optional:            true,
			Computed:            true,
			Default:             stringdefault.StaticString(DefaultTemplate),
			Validators:          []validator.String{validators.String(sandbox.NameRule, sandbox.CheckName)},
		},
		"manifest": manifestAttribute(),
		"environment": schema.MapAttribute{
			MarkdownDescription: "Environment variables of the commands of the bake. They do not reach the snapshot, but they stand in the state and count for the hash: no secrets. Names that look like those of secrets are refused.",
			Optional:            true,
			ElementType:         types.StringType,
		},
		"environment_allowlist": schema.SetAttribute{
			MarkdownDescription: "Names of variables of the provider's own environment that the commands get too, for example `HTTPS_PROXY`. Nothing else of it reaches them. Only the names count for the hash.",
			Optional:            true,
			ElementType:         types.StringType,
			Validators:          []validator.Set{validators.Each(validators.String("the name of an environment variable", sandbox.CheckEnvironmentName))},
		},
		"allow_names": schema.SetAttribute{
			MarkdownDescription: "Names of variables that look like those of secrets (with the words `TOKEN`, `SECRET`, `PASSWORD`, `KEY` or `CREDENTIAL` between underscores) and hold none.",
			Optional:            true,
			ElementType:         types.StringType,
			Validators:          []validator.Set{validators.Each(validators.String("the name of an environment variable", sandbox.CheckEnvironmentName))},
		},
		"smoke_checks": schema.ListNestedAttribute{
			MarkdownDescription: "Commands that have to succeed before the snapshot is taken, and once more in a sandbox made from it. The marker and `package_managers` are checked in any case.",
			Optional:            true,
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"command": schema.ListAttribute{
					MarkdownDescription: "The argument vector; no shell is involved. It has to exit with status 0.",
					Required:            true,
					ElementType:         types.StringType,
					Validators:          []validator.List{validators.NotEmpty()},
				},
				"expect": schema.StringAttribute{
					MarkdownDescription: "A text that has to stand in what it prints. Absent: the status is enough.",
					Optional:            true,
					Validators:          []validator.String{validators.Length(1, 4096)},
				},
			}},
		},
		"verify": schema.BoolAttribute{
			MarkdownDescription: "Whether a sandbox is made from a new snapshot and checked before the lane points at it. Default: `true`.",
			Optional:            true,
			Computed:            true,
			Default:             booldefault.StaticBool(true),
		},
		"network": schema.SingleNestedAttribute{
			MarkdownDescription: "The network policy of the bake; on `local` nothing can be downloaded without one. It does not count for the hash. Default: the backend's first mode in the guide *Capabilities*.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"mode": schema.StringAttribute{
					MarkdownDescription: "`deny-all`, `allow-all` or `host`, as for a sandbox.",
					Required:            true,
					Validators:          []validator.String{validators.OneOf(networkModes...)},
				},
			},
		},
		"expiration": schema.StringAttribute{
			MarkdownDescription: "How long a snapshot may be used, as a duration; `\"0s\"` (default) is for ever. An expired one is baked again by the next apply. On `local` and `docker` it is not deleted by itself.",
			Optional:            true,
			Computed:            true,
			Default:             stringdefault.StaticString("0s"),
			Validators:          []validator.String{validators.Duration()},
		},
		"retention": retentionAttribute(),
		"rebake_trigger": schema.StringAttribute{
			MarkdownDescription: "Any change of this text bakes again although the manifest is the same, for example for security updates of packages. The first value given at creation does not.",
			Optional:            true,
		},
		"on_destroy": schema.StringAttribute{
			MarkdownDescription: "`retain` or `purge`; see the guide *What destroy does*. With `retain` the lane is retired and its snapshots stay. With `purge` the whole lane is deleted, unless `retention` or a workspace needs one of its snapshots. It is read from the last applied state. Default: the provider's `on_destroy`.",
			Optional:            true,
			Computed:            true,
			Validators:          []validator.String{validators.OneOf("retain", "purge")},
		},
		"timeouts": limits.Attribute(ctx, limits.Defaults{Create: createTimeout, Read: readTimeout, Update: updateTimeout, Delete: deleteTimeout}),
	}
	maps.Copy(attributes, computedAttributes())
	resp.Schema = schema.Schema{
		MarkdownDescription: "A snapshot that new workspaces start from, with their tools installed: baked from a manifest, verified, and rotated when the manifest changes.\n\n" +
			"`backend`, `app` and `template` are its *lane*. A changed manifest bakes a new snapshot beside the old one and then moves the lane's pointer: workspaces that exist keep what they have, new ones start from the new one. A bake that fails changes nothing. Going back is reverting the manifest: the snapshot of that manifest is used again at once. See the guide *Base snapshots*.",
		Attributes: attributes,
	}
}

func gitAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "A repository whose files the workspace begins with (`vercel`).",
		Optional:            true,
		Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				MarkdownDescription: "The address to clone from, without credentials: it stands in the state.",
				Required:            true,
				Validators:          []validator.String{validators.Length(1, 1024)},
			},
			"revision": schema.StringAttribute{
				MarkdownDescription: "A branch, tag or commit. Name a commit to bake again when there is a newer one. Absent: the default branch.",
				Optional:            true,
				Validators:          []validator.String{validators.Length(1, 1024)},
			},
			"depth": schema.Int64Attribute{
				MarkdownDescription: "How many commits of history. Absent: the platform's choice.",
				Optional:            true,
				Validators:          []validator.Int64{validators.Between(1, 1<<31)},
			},
		},
	}
}

func manifestAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "What goes into the snapshot. Its hash decides whether something is baked.",
		Required:            true,
		Attributes: map[string]schema.Attribute{
			"schema_version": schema.Int64Attribute{
				MarkdownDescription: "The version of this form of manifests: `1`.",
				Optional:            true,
				Computed:            true,
				Default:             int64default.StaticInt64(basesnapshot.SchemaVersion),
				Validators:          []validator.Int64{validators.Between(basesnapshot.SchemaVersion, basesnapshot.SchemaVersion)},
			},
			"name": schema.StringAttribute{
				MarkdownDescription: "Begins the version label: " + sandbox.NameRule + ".",
				Required:            true,
				Validators:          []validator.String{validators.String(sandbox.NameRule, sandbox.CheckName)},
			},
			"source": schema.SingleNestedAttribute{
				MarkdownDescription: "Where the file system of the bake comes from: exactly one member. Without it, `local` uses the host's system read-only and `vercel` the platform's default image; `docker` needs one. Pin an image by its digest to bake again when it changes; a tag or a branch counts as it is written.",
				Optional:            true,
				Attributes: map[string]schema.Attribute{
					"image": schema.StringAttribute{
						MarkdownDescription: "An OCI image reference (`docker`, `vercel`).",
						Optional:            true,
						Validators:          []validator.String{validators.String("an OCI image reference", sandbox.CheckImage)},
					},
					"rootfs": schema.StringAttribute{
						MarkdownDescription: "The absolute path of a directory on the host that holds a root file system (`local`).",
						Optional:            true,
						Validators:          []validator.String{validators.String("an absolute path other than the root", sandbox.CheckRootfs)},
					},
					"runtime": schema.StringAttribute{
						MarkdownDescription: "A system that the platform knows by this name, for example `node24` or `python3.13` (`vercel`).",
						Optional:            true,
						Validators:          []validator.String{validators.Length(1, 1024)},
					},
					"git": gitAttribute(),
					"tarball_url": schema.StringAttribute{
						MarkdownDescription: "The address of a `.tar.gz` whose files the workspace begins with (`vercel`). What is there counts as it was when it was baked.",
						Optional:            true,
						Validators:          []validator.String{validators.Length(1, 1024)},
					},
					"snapshot_id": schema.StringAttribute{
						MarkdownDescription: "A snapshot of the same backend, to bake on top of.",
						Optional:            true,
						Validators:          []validator.String{validators.Length(1, 1024)},
					},
				},
			},
			"system_packages": schema.SetAttribute{
				MarkdownDescription: "Packages that the package manager inside (apt, apk, dnf, microdnf, zypper or pacman) installs as root. A version is written as it takes it, for example `curl=8.5.0-2`.",
				Optional:            true,
				ElementType:         types.StringType,
				Validators:          []validator.Set{validators.Each(validators.String("the name of a package", basesnapshot.CheckPackage))},
			},
			"package_managers": schema.MapAttribute{
				MarkdownDescription: "Programs and their versions, for example `{ npm = \"10.9.2\" }`: after the commands, `<name> --version` has to print that version.",
				Optional:            true,
				ElementType:         types.StringType,
			},
			"commands": schema.ListAttribute{
				MarkdownDescription: "Commands that set the system up, as argument vectors, in order; no shell is involved.",
				Optional:            true,
				ElementType:         argvType,
			},
			"template_files": templatefiles.Attribute("Content, path and mode count for the hash, times do not."),
			"template_version": schema.StringAttribute{
				MarkdownDescription: "A label that counts for the hash, for example of what `commands` download.",
				Optional:            true,
				Validators:          []validator.String{validators.Length(1, 256)},
			},
			"marker_path": schema.StringAttribute{
				MarkdownDescription: "Where the marker is written that tells what the snapshot is, absolute. Default: `" + basesnapshot.DefaultMarker + "` in the workspace.",
				Optional:            true,
				Validators:          []validator.String{validators.String("an absolute path", sandbox.CheckAbsolutePath)},
			},
		},
	}
}

func retentionAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "Which former snapshots of the lane are kept. A snapshot that a workspace was made from always is.",
		Optional:            true,
		Attributes: map[string]schema.Attribute{
			"min_age": schema.StringAttribute{
				MarkdownDescription: "The age from which a snapshot may be deleted, as a duration. `\"0s\"` says that the lane is disposable: only workspaces keep its snapshots then. Default: `\"336h\"`, two weeks.",
				Optional:            true,
				Computed:            true,
				Default:             stringdefault.StaticString(defaultMinAge),
				Validators:          []validator.String{validators.Duration()},
			},
			"keep_previous": schema.Int64Attribute{
				MarkdownDescription: "How many former snapshots are kept to go back to. Default: `1`.",
				Optional:            true,
				Computed:            true,
				Default:             int64default.StaticInt64(defaultKeepPrevious),
				Validators:          []validator.Int64{validators.Between(0, math.MaxInt32)},
			},
			"purge": schema.BoolAttribute{
				MarkdownDescription: "Whether snapshots that neither of them keeps, nor a workspace, are deleted after each rotation. Default: `false`.",
				Optional:            true,
				Computed:            true,
				Default:             booldefault.StaticBool(false),
			},
		},
	}
}

func computedAttributes() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	return map[string]schema.Attribute{
		"id":                   text("The identity of the lane, `<backend>/<app>/<template>`."),
		"record_id":            text("The id of the lane's record in the store; unknown until the lane was made."),
		"attachment_id":        text("By what this state holds the lane. Another state that attaches it writes another id into the record; a destroy here only forgets the lane from then on."),
		"manifest_hash":        text("The hash of everything that the result of a bake depends on, known at plan: the SHA-256 of the canonical JSON of manifest, environment and the names of `environment_allowlist`."),
		"version":              text("The label of the current snapshot: `<manifest.name>-<date of the bake>-<first 8 digits of the hash>`."),
		"snapshot_id":          text("The id of the current snapshot, which new workspaces start from."),
		"status":               text("`ready`, `baking`, `failed` (nothing can start from it; the next apply bakes again) or `retired`."),
		"status_reason":        text("Why `status` is not `ready`; null when it is."),
		"previous_snapshot_id": text("The snapshot that one would go back to; null when there is none."),
		"source_digest":        text("What the source meant when it was baked, as the backend tells it."),
		"size_bytes":           schema.Int64Attribute{MarkdownDescription: "The size of the current snapshot in bytes.", Computed: true},
		"created_at":           text("When the current snapshot was baked, in RFC 3339."),
		"expires_at":           text("When the current snapshot may not be used any more, in RFC 3339; null for never."),
		"history": schema.ListNestedAttribute{
			MarkdownDescription: "All bakes of the lane, the newest first.",
			Computed:            true,
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"version":       text("The label."),
				"snapshot_id":   text("The id of the snapshot; null for a bake that did not come to one."),
				"manifest_hash": text("The hash of its manifest."),
				"status":        text("`baking`, `ready`, `failed` or `retired`."),
				"current":       schema.BoolAttribute{MarkdownDescription: "Whether new workspaces start from it.", Computed: true},
				"last_error":    text("Why the bake failed."),
				"size_bytes":    schema.Int64Attribute{MarkdownDescription: "Its size in bytes.", Computed: true},
				"created_at":    text("When the bake began, in RFC 3339."),
				"ready_at":      text("When it could be used first."),
				"retired_at":    text("When it was retired."),
				"expires_at":    text("When it may not be used any more."),
			}},
		},
	}
}
