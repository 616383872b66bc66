package sandboxes

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Members of sets are optional only: a default or computed member inside a set corrupts plans.

func sourceAttribute() schema.Attribute {
	notEmpty := validators.Length(1, 1024)
	return schema.SingleNestedAttribute{
		MarkdownDescription: "Where the file system comes from: exactly one member. Without it, `local` uses the host's system read-only and `vercel` the platform's default image; `docker` needs one.",
		Optional:            true,
		Attributes: map[string]schema.Attribute{
			"image": schema.StringAttribute{
				MarkdownDescription: "An OCI image reference (`docker`, `vercel`). Changing this replaces the sandbox.",
				Optional:            true,
				Validators:          []validator.String{validators.String("an OCI image reference", sandbox.CheckImage)},
			},
			"rootfs": schema.StringAttribute{
				MarkdownDescription: "The absolute path of a directory on the host that holds a root file system; it is used read-only (`local`). What `mounts` may not show may not be in it. Changing this replaces the sandbox.",
				Optional:            true,
				Validators:          []validator.String{validators.String("an absolute path other than the root", sandbox.CheckRootfs)},
			},
			"runtime": schema.StringAttribute{
				MarkdownDescription: "A system that the platform knows by this name, for example `node24` or `python3.13` (`vercel`). Changing this replaces the sandbox.",
				Optional:            true,
				Validators:          []validator.String{notEmpty},
			},
			"git": schema.SingleNestedAttribute{
				MarkdownDescription: "A repository whose files the workspace begins with (`vercel`). Used at creation only; a later value is no diff.",
				Optional:            true,
				Attributes: map[string]schema.Attribute{
					"url": schema.StringAttribute{
						MarkdownDescription: "The address to clone from, without credentials.",
						Required:            true,
						Validators:          []validator.String{notEmpty},
					},
					"revision": schema.StringAttribute{
						MarkdownDescription: "A branch, tag or commit. Absent: the default branch.",
						Optional:            true,
						Validators:          []validator.String{notEmpty},
					},
					"depth": schema.Int64Attribute{
						MarkdownDescription: "How many commits of history. Absent: the platform's choice.",
						Optional:            true,
						Validators:          []validator.Int64{validators.Between(1, 1<<31)},
					},
				},
			},
			"tarball_url": schema.StringAttribute{
				MarkdownDescription: "The address of a `.tar.gz` whose files the workspace begins with (`vercel`). Used at creation only; a later value is no diff.",
				Optional:            true,
				Validators:          []validator.String{notEmpty},
			},
			"snapshot_id": schema.StringAttribute{
				MarkdownDescription: "A snapshot of the same backend, for example `current_snapshot_id` of a persistent sandbox. Used at creation only; a later value is no diff.",
				Optional:            true,
				Validators:          []validator.String{notEmpty},
			},
			"clone_of": schema.StringAttribute{
				MarkdownDescription: "The id of a sandbox of the same backend, whose files are copied. Used at creation only; a later value is no diff.",
				Optional:            true,
				Validators:          []validator.String{validators.String("a sandbox id", checkSandboxID)},
			},
		},
	}
}

func portsAttribute() schema.Attribute {
	return schema.SetNestedAttribute{
		MarkdownDescription: "Ports that are published on the host.",
		Optional:            true,
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"port": schema.Int64Attribute{
				MarkdownDescription: "The port inside the sandbox.",
				Required:            true,
				Validators:          []validator.Int64{validators.Int64("1 to 65535", sandbox.CheckPort)},
			},
			"protocol": schema.StringAttribute{
				MarkdownDescription: "`tcp` or `udp`. Absent: `tcp`.",
				Optional:            true,
				Validators:          []validator.String{validators.OneOf("tcp", "udp")},
			},
			"published_port": schema.Int64Attribute{
				MarkdownDescription: "The port on the host. Absent: any free one; `endpoints` tells which.",
				Optional:            true,
				Validators:          []validator.Int64{validators.Int64("1 to 65535", sandbox.CheckPort)},
			},
			"public": schema.BoolAttribute{
				MarkdownDescription: "Whether it is published on all interfaces instead of the loopback interface. On `vercel` every port is open to everybody, so `true` is required. Absent: `false`.",
				Optional:            true,
			},
		}},
	}
}

func mountsAttribute(absolute validator.String) schema.Attribute {
	return schema.SetNestedAttribute{
		MarkdownDescription: "Directories or files of the host that the sandbox sees. The data directory, what is in it and what is above it are refused.",
		Optional:            true,
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"source": schema.StringAttribute{
				MarkdownDescription: "The absolute path on the host. It must exist.",
				Required:            true,
				Validators:          []validator.String{absolute},
			},
			"target": schema.StringAttribute{
				MarkdownDescription: "The absolute path inside the sandbox; `/workspace` is possible.",
				Required:            true,
				Validators:          []validator.String{validators.String("an absolute path that can be mounted over", sandbox.CheckTarget)},
			},
			"read_only": schema.BoolAttribute{
				MarkdownDescription: "Whether the sandbox may only read it. Absent: `false`.",
				Optional:            true,
			},
		}},
	}
}

func volumesAttribute() schema.Attribute {
	return schema.MapNestedAttribute{
		MarkdownDescription: "Named volumes that belong to this sandbox, by name. A retaining destroy keeps them, and so does taking one out of this map; a purge removes them all.",
		Optional:            true,
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"target": schema.StringAttribute{
				MarkdownDescription: "The absolute path inside the sandbox.",
				Required:            true,
				Validators:          []validator.String{validators.String("an absolute path that can be mounted over", sandbox.CheckTarget)},
			},
		}},
	}
}

func setupAttribute(absolute validator.String) schema.Attribute {
	return schema.ListNestedAttribute{
		MarkdownDescription: "Commands that run once, in order, when the sandbox is made. One that fails fails the create, and what was made is removed. A later value is no diff.",
		Optional:            true,
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"command": schema.ListAttribute{
				MarkdownDescription: "The command as an argument vector; no shell is involved.",
				Required:            true,
				ElementType:         types.StringType,
				Validators:          []validator.List{validators.NotEmpty()},
			},
			"environment": schema.MapAttribute{
				MarkdownDescription: "Environment variables for this command only, beside those of the sandbox. They stand in the state.",
				Optional:            true,
				ElementType:         types.StringType,
			},
			"working_directory": schema.StringAttribute{
				MarkdownDescription: "The directory it starts in, absolute. Default: the sandbox's.",
				Optional:            true,
				Validators:          []validator.String{absolute},
			},
			"user": schema.StringAttribute{
				MarkdownDescription: "The user it runs as, where the backend has the capability `user`. Default: the sandbox's.",
				Optional:            true,
				Validators:          []validator.String{validators.String("a user name or uid", sandbox.CheckUser)},
			},
			"timeout": schema.StringAttribute{
				MarkdownDescription: "How long it may run, as a duration. Absent: as long as the create.",
				Optional:            true,
				Validators:          []validator.String{validators.Duration()},
			},
		}},
	}
}

func networkList(description string) schema.Attribute {
	return schema.SetAttribute{
		MarkdownDescription: description,
		Optional:            true,
		ElementType:         types.StringType,
		Validators:          []validator.Set{validators.Each(validators.Length(1, 255))},
	}
}

func vercelAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "What only `vercel` has.",
		Optional:            true,
		Attributes: map[string]schema.Attribute{
			"region": schema.StringAttribute{
				MarkdownDescription: "The region that sessions run in, for example `iad1` or `fra1`. A snapshot can be used in its own region only. Absent: the platform's choice, `iad1`.",
				Optional:            true,
				Validators:          []validator.String{validators.Length(1, 32)},
			},
			"failover_regions": schema.ListAttribute{
				MarkdownDescription: "Regions that are tried in this order when `region`, which has to be set, has no room. Absent: none.",
				Optional:            true,
				ElementType:         types.StringType,
			},
		},
	}
}

func dockerAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "What only `docker` has. By default a container gets no new privileges, few capabilities, an init process and a limit of processes.",
		Optional:            true,
		Attributes: map[string]schema.Attribute{
			"runtime": schema.StringAttribute{
				MarkdownDescription: "The OCI runtime by its name in the engine, for example `runsc` (gVisor) or `kata-runtime`. Absent: the engine's default.",
				Optional:            true,
				Validators:          []validator.String{validators.Length(1, 255)},
			},
			"pids_limit": schema.Int64Attribute{
				MarkdownDescription: "The most processes. Absent: `1024`.",
				Optional:            true,
				Validators:          []validator.Int64{validators.Between(1, 4194304)},
			},
			"add_capabilities": schema.SetAttribute{
				MarkdownDescription: "Linux capabilities to add, by their names without `CAP_`.",
				Optional:            true,
				ElementType:         types.StringType,
				Validators: []validator.Set{validators.Each(
					validators.String("the name of a Linux capability without CAP_", sandbox.CheckLinuxCapability))},
			},
			"allow_engine_socket": schema.BoolAttribute{
				MarkdownDescription: "Whether `mounts` may show the engine's socket. Whoever reaches it controls the host. Absent: `false`.",
				Optional:            true,
			},
			"pull_policy": schema.StringAttribute{
				MarkdownDescription: "When the image is pulled: `missing`, `always` or `never`. Absent: `missing`.",
				Optional:            true,
				Validators:          []validator.String{validators.OneOf("missing", "always", "never")},
			},
		},
	}
}
