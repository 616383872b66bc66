package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/postgres"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/seal"
)

type model struct {
	Owner      types.String `tfsdk:"owner"`
	Namespace  types.String `tfsdk:"namespace"`
	NamePrefix types.String `tfsdk:"name_prefix"`
	OnDestroy  types.String `tfsdk:"on_destroy"`
	DataDir    types.String `tfsdk:"data_dir"`
	Local      types.Object `tfsdk:"local"`
	Docker     types.Object `tfsdk:"docker"`
	Vercel     types.Object `tfsdk:"vercel"`
	Hetzner    types.Object `tfsdk:"hetzner"`
	Store      types.Object `tfsdk:"store"`
}

type storeModel struct {
	PostgresURL   types.String `tfsdk:"postgres_url"`
	EncryptionKey types.String `tfsdk:"encryption_key"`
}

type hetznerModel struct {
	Token        types.String `tfsdk:"token"`
	Endpoint     types.String `tfsdk:"endpoint"`
	PollInterval types.String `tfsdk:"poll_interval"`
	Rebind       types.Bool   `tfsdk:"rebind"`
}

type vercelModel struct {
	Token     types.String `tfsdk:"token"`
	TeamID    types.String `tfsdk:"team_id"`
	ProjectID types.String `tfsdk:"project_id"`
	BaseURL   types.String `tfsdk:"base_url"`
}

type localModel struct {
	Isolation      types.String `tfsdk:"isolation"`
	BubblewrapPath types.String `tfsdk:"bubblewrap_path"`
}

type dockerModel struct {
	Host     types.String `tfsdk:"host"`
	Context  types.String `tfsdk:"context"`
	CAFile   types.String `tfsdk:"ca_file"`
	CertFile types.String `tfsdk:"cert_file"`
	KeyFile  types.String `tfsdk:"key_file"`
}

func (p *sandlot) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	namePart := validators.String("lower-case letters, digits and hyphens", sandbox.CheckName)
	absolute := validators.String("an absolute path", sandbox.CheckAbsolutePath)
	resp.Schema = schema.Schema{
		MarkdownDescription: "Sandlot declares the machines that AI coding agents work in: one schema over several backends, a plan that shows every loss of data, and nothing purged unless asked.\n\n" +
			"Every value is taken from the attribute, else from the environment, else from the default. Nothing is contacted before it is used.",
		Attributes: map[string]schema.Attribute{
			"owner": schema.StringAttribute{
				MarkdownDescription: "Who owns what this configuration makes. It is written on every object, and objects of another owner are never touched. Environment: `SANDLOT_OWNER`. Default: a random id, made once for each `data_dir`, or for each database. Required where `CI` is set.",
				Optional:            true,
				Validators:          []validator.String{validators.String("1 to 128 bytes without line breaks", sandbox.CheckOwner)},
			},
			"namespace": schema.StringAttribute{
				MarkdownDescription: "The part of derived names that tells environments apart. Environment: `SANDLOT_NAMESPACE`. Default: `dev`.",
				Optional:            true,
				Validators:          []validator.String{namePart},
			},
			"name_prefix": schema.StringAttribute{
				MarkdownDescription: "The first part of derived names. Environment: `SANDLOT_NAME_PREFIX`. Default: `sandlot`.",
				Optional:            true,
				Validators:          []validator.String{namePart},
			},
			"on_destroy": schema.StringAttribute{
				MarkdownDescription: "The default of the resources' own `on_destroy`: `retain` or `purge`. Default: `retain`.",
				Optional:            true,
				Validators:          []validator.String{validators.OneOf("retain", "purge")},
			},
			"data_dir": schema.StringAttribute{
				MarkdownDescription: "The directory of the embedded store and of local sandboxes, absolute. It is made by the first apply and is readable by its user only. Environment: `SANDLOT_DATA_DIR`. Default: `$XDG_STATE_HOME/sandlot`, else `~/.local/state/sandlot`.",
				Optional:            true,
				Validators:          []validator.String{validators.String("an absolute path without line break, NUL byte or % sign", sandbox.CheckDataDir)},
			},
			"store": schema.SingleNestedAttribute{
				MarkdownDescription: "Where records are kept. Without it they are in an embedded database in `data_dir`, which serves one machine; PostgreSQL serves CI runners and teams. See the guide *The store*.",
				Optional:            true,
				Attributes: map[string]schema.Attribute{
					"postgres_url": schema.StringAttribute{
						MarkdownDescription: "The address of a PostgreSQL database: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Off the loopback interface TLS is verified (`sslmode=verify-full`). Prefer the environment: `SANDLOT_POSTGRES_URL`. Plans read only: a role that may only read is enough for them.",
						Optional:            true,
						Sensitive:           true,
						Validators:          []validator.String{validators.String("the address of a PostgreSQL database", postgres.Check)},
					},
					"encryption_key": schema.StringAttribute{
						MarkdownDescription: "What the private keys of cloud hosts are encrypted with in the store: an age X25519 identity, as `age-keygen` prints it. Several are separated by commas: the first encrypts, all decrypt. A database keeps no private key without one. Plans and refresh need none. Prefer the environment, which counts for the embedded store, too: `SANDLOT_ENCRYPTION_KEY`.",
						Optional:            true,
						Sensitive:           true,
						Validators:          []validator.String{validators.String("age X25519 identities, separated by commas", checkEncryptionKey)},
					},
				},
			},
			"local": schema.SingleNestedAttribute{
				MarkdownDescription: "Settings of the `local` backend.",
				Optional:            true,
				Attributes: map[string]schema.Attribute{
					"isolation": schema.StringAttribute{
						MarkdownDescription: "`bubblewrap` (default) isolates every command. `none` runs commands on the bare host and must be asked for: use it only inside a machine that is itself thrown away.",
						Optional:            true,
						Validators:          []validator.String{validators.OneOf("bubblewrap", "none")},
					},
					"bubblewrap_path": schema.StringAttribute{
						MarkdownDescription: "The absolute path of `bwrap`. Default: found on `PATH`.",
						Optional:            true,
						Validators:          []validator.String{absolute},
					},
				},
			},
			"docker": schema.SingleNestedAttribute{
				MarkdownDescription: "Settings of the `docker` backend. Without them the Docker client's own environment and current context count.",
				Optional:            true,
				Attributes: map[string]schema.Attribute{
					"host": schema.StringAttribute{
						MarkdownDescription: "The engine's address: `unix://`, `tcp://` or `ssh://`. Environment: `DOCKER_HOST`.",
						Optional:            true,
						Validators: []validator.String{
							validators.String("the address of an engine", sandbox.CheckEngineAddress),
							validators.Coded(stringvalidator.ConflictsWith(path.MatchRelative().AtParent().AtName("context"))),
						},
					},
					"context": schema.StringAttribute{
						MarkdownDescription: "The name of a context of the Docker CLI. Environment: `DOCKER_CONTEXT`.",
						Optional:            true,
						Validators:          []validator.String{validators.Length(1, 255)},
					},
					"ca_file":   fileAttribute("The file of the certificate authority that signed the engine's certificate.", absolute),
					"cert_file": fileAttribute("The file of the client certificate.", absolute),
					"key_file":  fileAttribute("The file of the client certificate's key.", absolute),
				},
			},
			"vercel":  vercelAttribute(),
			"hetzner": hetznerAttribute(),
		},
	}
}

func vercelAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "Settings of the `vercel` backend. Token, team and project come together. An OIDC token brings team and project itself.",
		Optional:            true,
		Attributes: map[string]schema.Attribute{
			"token": schema.StringAttribute{
				MarkdownDescription: "An access token or an OIDC token. Prefer the environment: `VERCEL_TOKEN`, else `VERCEL_OIDC_TOKEN`.",
				Optional:            true,
				Sensitive:           true,
				Validators:          []validator.String{validators.Length(1, 16384)},
			},
			"team_id": schema.StringAttribute{
				MarkdownDescription: "The id of the team. Environment: `VERCEL_TEAM_ID`.",
				Optional:            true,
				Validators:          []validator.String{validators.Length(1, 255)},
			},
			"project_id": schema.StringAttribute{
				MarkdownDescription: "The id or the slug of the project. Sandboxes are bound to it as it is written here: keep to one of the two. Environment: `VERCEL_PROJECT_ID`.",
				Optional:            true,
				Validators:          []validator.String{validators.Length(1, 255)},
			},
			"base_url": schema.StringAttribute{
				MarkdownDescription: "The address of the API. It is https, except on the loopback interface. Default: `https://vercel.com/api`.",
				Optional:            true,
				Validators:          []validator.String{validators.Length(1, 1024)},
			},
		},
	}
}

func hetznerAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "Settings of cloud hosts at Hetzner Cloud.",
		Optional:            true,
		Attributes: map[string]schema.Attribute{
			"token": schema.StringAttribute{
				MarkdownDescription: "An API token of the project, with write access. Prefer the environment: `HCLOUD_TOKEN`.",
				Optional:            true,
				Sensitive:           true,
				Validators:          []validator.String{validators.Length(1, 1024)},
			},
			"endpoint": schema.StringAttribute{
				MarkdownDescription: "The address of the API, with its version. It is https, except on the loopback interface. Environment: `HCLOUD_ENDPOINT`. Default: `https://api.hetzner.cloud/v1`.",
				Optional:            true,
				Validators:          []validator.String{validators.Length(1, 1024)},
			},
			"poll_interval": schema.StringAttribute{
				MarkdownDescription: "How long the first wait for an action is, as a duration; each next one is twice as long, up to 10 seconds. Default: `500ms`.",
				Optional:            true,
				Validators:          []validator.String{validators.String("a duration of at least 1ms", checkPollInterval)},
			},
			"rebind": schema.BoolAttribute{
				MarkdownDescription: "Whether hosts that were made with another token are accepted with the present one, once their own label was seen with it. Set it for the apply after a token was rotated, and remove it again. Default: `false`.",
				Optional:            true,
			},
		},
	}
}

// checkEncryptionKey judges the form of the keys. Its errors never quote one.
func checkEncryptionKey(keys string) error {
	ring, err := seal.Parse(keys)
	if err == nil && ring.Empty() {
		err = errors.New("the value is empty")
	}
	return err
}

func checkPollInterval(text string) error {
	interval, err := sandbox.ParseDuration(text)
	if err == nil && interval < time.Millisecond {
		err = fmt.Errorf("%s is too short: at least 1ms", text)
	}
	return err
}

func fileAttribute(description string, absolute validator.String) schema.StringAttribute {
	return schema.StringAttribute{
		MarkdownDescription: description + " An absolute path. Environment: `DOCKER_CERT_PATH`.",
		Optional:            true,
		Validators:          []validator.String{absolute},
	}
}
