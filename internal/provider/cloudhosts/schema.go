package cloudhosts

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/limits"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Default time limits. A create includes the installation of Docker.
const (
	createTimeout = 20 * time.Minute
	readTimeout   = 2 * time.Minute
	updateTimeout = 15 * time.Minute
	deleteTimeout = 15 * time.Minute
)

// Defaults, those of the source document of the cloud integration (rule CH13).
const (
	defaultServerType  = "cx23"
	defaultLocation    = "fsn1"
	defaultImage       = "ubuntu-24.04"
	defaultIdleTimeout = "30m"
)

func (r *hostResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A server at Hetzner Cloud that Sandlot owns: one server, one address and one SSH key of its own, ready for Docker. Its host key is made before the server is and pinned.\n\n" +
			"A sleeping server is billed like a running one, and so is its address: only a purge ends the costs. " +
			"Destroying the resource shuts the server down and keeps it, unless the last applied `on_destroy` was `purge`. See the guide *Cloud hosts*.",
		Attributes: attributes(ctx),
	}
}

func attributes(ctx context.Context) map[string]schema.Attribute {
	all := computedAttributes()
	all["name"] = schema.StringAttribute{
		MarkdownDescription: "The name of the host: " + sandbox.NameRule + ". It is unique per owner. Changing this replaces the host.",
		Required:            true,
		Validators:          []validator.String{validators.String(sandbox.NameRule, sandbox.CheckName)},
	}
	all["server_type"] = replacing("The type of the server, by its name at Hetzner.", defaultServerType)
	all["location"] = replacing("Where the server stands, by its name at Hetzner.", defaultLocation)
	all["image"] = replacing("The system image, by its name at Hetzner: an Ubuntu or a Debian, with systemd.", defaultImage)
	all["docker_packages"] = schema.StringAttribute{
		MarkdownDescription: "Where the host gets Docker Engine, Compose and Buildx from: `docker` (Docker's own repository), `distribution` (the system's packages) or `none` (nothing is installed, nor waited for). It is used when the host is made; a later value changes nothing. Default: `docker`.",
		Optional:            true,
		Computed:            true,
		Default:             stringdefault.StaticString(cloudhost.PackagesDocker),
		Validators:          []validator.String{validators.OneOf(cloudhost.PackagesDocker, cloudhost.PackagesDistribution, cloudhost.PackagesNone)},
	}
	all["authorized_keys"] = schema.SetAttribute{
		MarkdownDescription: "Further public keys that may log in as root, each a line of an `authorized_keys` file without options. Changed in place over SSH; on a sleeping host, when it is woken next.",
		Optional:            true,
		ElementType:         types.StringType,
		Validators:          []validator.Set{validators.Each(validators.String("a public key in the form of OpenSSH", checkAuthorizedKey))},
	}
	all["labels"] = schema.MapAttribute{
		MarkdownDescription: "Labels on server, address and key. Names that start with `sandlot.` are kept for Sandlot. Changed in place; the server is not touched.",
		Optional:            true,
		ElementType:         types.StringType,
	}
	all["idle_timeout"] = schema.StringAttribute{
		MarkdownDescription: "After how long without use the host may be put to sleep, as a duration; `\"0s\"` says never. It is kept for whoever looks after hosts: Sandlot itself has no timer. Default: `30m`.",
		Optional:            true,
		Computed:            true,
		Default:             stringdefault.StaticString(defaultIdleTimeout),
		Validators:          []validator.String{validators.Duration()},
	}
	all["expires_at"] = schema.StringAttribute{
		MarkdownDescription: "Until when the host is meant to be used, in RFC 3339. Afterwards it is neither made nor woken; it can still be refreshed, extended, put to sleep and purged. Nothing happens by itself when the time comes.",
		Optional:            true,
		Validators:          []validator.String{validators.String("a time in RFC 3339, such as 2030-01-31T18:00:00Z", checkTime)},
	}
	all["desired_state"] = schema.StringAttribute{
		MarkdownDescription: "`running` or `sleeping`. A host goes to sleep by a graceful shutdown that is waited for, never by a power cut; disk, address and key stay, and are billed. Unset leaves the run state alone.",
		Optional:            true,
		Validators:          []validator.String{validators.OneOf(cloudhost.DesiredRunning, cloudhost.DesiredSleeping)},
	}
	all["on_destroy"] = schema.StringAttribute{
		MarkdownDescription: "`retain` or `purge`; see the guide *What destroy does*. With `retain` the host is shut down and kept, and is billed on. It is read from the last applied state, so a purge takes two steps: set it and apply, then destroy. Default: the provider's `on_destroy`, which is `retain` unless set.",
		Optional:            true,
		Computed:            true,
		Validators:          []validator.String{validators.OneOf("retain", "purge")},
	}
	all["on_missing"] = schema.StringAttribute{
		MarkdownDescription: "What the plan does when the server is gone: `error` (default) stops it and names the ways on, `keep` warns, so that one lost host does not stop all others.",
		Optional:            true,
		Computed:            true,
		Default:             stringdefault.StaticString("error"),
		Validators:          []validator.String{validators.OneOf("error", "keep")},
	}
	all["timeouts"] = limits.Attribute(ctx, limits.Defaults{Create: createTimeout, Read: readTimeout, Update: updateTimeout, Delete: deleteTimeout})
	return all
}

// replacing is an attribute that the server is made with for good.
func replacing(description, standard string) schema.Attribute {
	return schema.StringAttribute{
		MarkdownDescription: description + " It is checked against the catalog where that can be read. Changing this replaces the host. Default: `" + standard + "`.",
		Optional:            true,
		Computed:            true,
		Default:             stringdefault.StaticString(standard),
		Validators:          []validator.String{validators.Length(1, 128)},
	}
}

func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{
			MarkdownDescription: "The identity, `hetzner/<owner>/<name>`.",
			Computed:            true,
		},
		"record_id": schema.StringAttribute{
			MarkdownDescription: "The id of the record in the store, which also stands on server, address and key as the label `sandlot.record`; unknown until the host was made. Data sources and ephemeral resources about one host take it.",
			Computed:            true,
		},
		"attachment_id": schema.StringAttribute{
			MarkdownDescription: "By what this state holds the host. Another state that attaches the host writes another id into the record; a destroy here only forgets the host from then on.",
			Computed:            true,
		},
		"server_id": schema.Int64Attribute{
			MarkdownDescription: "The id of the server at Hetzner.",
			Computed:            true,
		},
		"ipv4_address": schema.StringAttribute{
			MarkdownDescription: "The address of the server. It stays the same while the host sleeps.",
			Computed:            true,
		},
		"host_key_fingerprint": schema.StringAttribute{
			MarkdownDescription: "The SHA-256 fingerprint of the host key that is pinned, as `ssh-keygen -l` prints it.",
			Computed:            true,
		},
		"ssh_config_path": schema.StringAttribute{
			MarkdownDescription: "A configuration for `ssh -F PATH NAME` on this machine, with the pinned host key; null where the keys are not.",
			Computed:            true,
		},
		"status": schema.StringAttribute{
			MarkdownDescription: "`running`, `sleeping`, `starting`, `stopping`, `missing` (the server is gone), `incomplete` or `interrupted` (a run was cut short; the next apply finishes it), `destroying` (a purge was cut short; the next destroy finishes it), `busy` or `unknown` (the platform is at work on it, or does not know).",
			Computed:            true,
		},
		"created_at": schema.StringAttribute{
			MarkdownDescription: "When the server was made, in RFC 3339.",
			Computed:            true,
		},
		"details": schema.SingleNestedAttribute{
			MarkdownDescription: "What else is known of the host.",
			Computed:            true,
			Attributes: map[string]schema.Attribute{
				"ssh_key_id":        schema.Int64Attribute{MarkdownDescription: "The id of the SSH key at Hetzner.", Computed: true},
				"primary_ip_id":     schema.Int64Attribute{MarkdownDescription: "The id of the address at Hetzner.", Computed: true},
				"committed":         schema.BoolAttribute{MarkdownDescription: "Whether the host was ready once. One that was not is removed when it is destroyed, whatever `on_destroy` says.", Computed: true},
				"created_for_start": schema.BoolAttribute{MarkdownDescription: "Whether the host was made by the run that is still getting it ready.", Computed: true},
				"destroying":        schema.BoolAttribute{MarkdownDescription: "Whether a purge has begun.", Computed: true},
			},
		},
	}
}
