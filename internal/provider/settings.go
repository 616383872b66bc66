package provider

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/postgres"
)

// resolve applies the precedence attribute, environment, default. It reads the environment and
// touches no file.
func resolve(ctx context.Context, config model) (client.Settings, diag.Diagnostics) {
	var diags diag.Diagnostics
	settings := client.Settings{
		Owner:      first(config.Owner, "SANDLOT_OWNER", ""),
		Namespace:  first(config.Namespace, "SANDLOT_NAMESPACE", "dev"),
		NamePrefix: first(config.NamePrefix, "SANDLOT_NAME_PREFIX", "sandlot"),
		OnDestroy:  first(config.OnDestroy, "", "retain"),
		DataDir:    first(config.DataDir, "SANDLOT_DATA_DIR", defaultDataDir()),
		Unknown:    map[string]bool{},
		CI:         continuousIntegration(os.Getenv("CI")),
		DataDirSet: !config.DataDir.IsNull() || os.Getenv("SANDLOT_DATA_DIR") != "",
	}
	for _, checked := range []struct {
		attribute string
		value     types.String
		rule      func(string) error
		variable  string
	}{
		{"namespace", settings.Namespace, sandbox.CheckName, "SANDLOT_NAMESPACE"},
		{"name_prefix", settings.NamePrefix, sandbox.CheckName, "SANDLOT_NAME_PREFIX"},
		{"data_dir", settings.DataDir, sandbox.CheckDataDir, "SANDLOT_DATA_DIR"},
		{"owner", settings.Owner, sandbox.CheckOwner, "SANDLOT_OWNER"},
	} {
		if checked.value.IsUnknown() || checked.value.IsNull() {
			continue
		}
		if err := checked.rule(checked.value.ValueString()); err != nil {
			diags.Append(diagnostics.AttributeError(path.Root(checked.attribute), diagnostics.InvalidValue,
				"Invalid Provider Setting", err.Error()+". The value comes from the attribute, or from "+checked.variable+"."))
		}
	}
	resolveStore(ctx, config.Store, &settings, &diags)
	settings.Unknown["local"] = resolveLocal(ctx, config.Local, &settings, &diags)
	settings.Unknown["docker"] = resolveDocker(ctx, config.Docker, &settings, &diags)
	settings.Unknown["vercel"] = resolveVercel(ctx, config.Vercel, &settings, &diags)
	settings.Unknown["hetzner"] = resolveHetzner(ctx, config.Hetzner, &settings, &diags)
	return settings, diags
}

// resolveVercel fills in the vercel backend's settings and tells whether one is unknown. Whether the
// credentials are complete is told when they are used.
func resolveVercel(ctx context.Context, object types.Object, settings *client.Settings, diags *diag.Diagnostics) bool {
	if object.IsUnknown() {
		return true
	}
	var config vercelModel
	if !object.IsNull() {
		diags.Append(object.As(ctx, &config, basetypes.ObjectAsOptions{})...)
	}
	for _, value := range []types.String{config.Token, config.TeamID, config.ProjectID, config.BaseURL} {
		if value.IsUnknown() {
			return true
		}
	}
	account := &settings.Backends.Vercel
	account.Token, account.TeamID, account.ProjectID = config.Token.ValueString(), config.TeamID.ValueString(), config.ProjectID.ValueString()
	account.BaseURL = config.BaseURL.ValueString()
	*account = account.WithEnvironment(os.Getenv)
	return false
}

// resolveStore finds the database of the records. Its address holds a password, so that no message
// repeats it.
func resolveStore(ctx context.Context, object types.Object, settings *client.Settings, diags *diag.Diagnostics) {
	var config storeModel
	if !object.IsNull() && !object.IsUnknown() {
		diags.Append(object.As(ctx, &config, basetypes.ObjectAsOptions{})...)
	}
	settings.PostgresURL = first(config.PostgresURL, "SANDLOT_POSTGRES_URL", "")
	settings.EncryptionKey = first(config.EncryptionKey, "SANDLOT_ENCRYPTION_KEY", "")
	if object.IsUnknown() {
		settings.PostgresURL, settings.EncryptionKey = types.StringUnknown(), types.StringUnknown()
	}
	if !object.IsNull() && settings.PostgresURL.IsNull() {
		diags.Append(diagnostics.AttributeError(path.Root("store").AtName("postgres_url"), diagnostics.InvalidValue, "Database Missing",
			"`store` asks for a database, and neither `postgres_url` nor SANDLOT_POSTGRES_URL names one. Set one of them, or leave `store` out for the embedded store, whose key comes by SANDLOT_ENCRYPTION_KEY."))
	}
	if keys := settings.EncryptionKey.ValueString(); keys != "" {
		if err := checkEncryptionKey(keys); err != nil {
			diags.Append(diagnostics.AttributeError(path.Root("store").AtName("encryption_key"), diagnostics.InvalidValue,
				"Invalid Provider Setting", diagnostics.Sentence(err)+" The value comes from the attribute, or from SANDLOT_ENCRYPTION_KEY."))
		}
	}
	if url := settings.PostgresURL.ValueString(); url != "" {
		if err := postgres.Check(url); err != nil {
			diags.Append(diagnostics.AttributeError(path.Root("store").AtName("postgres_url"), diagnostics.InvalidValue,
				"Invalid Provider Setting", diagnostics.Sentence(err)+" The value comes from the attribute, or from SANDLOT_POSTGRES_URL."))
		}
	}
}

// resolveHetzner fills in the settings of cloud hosts and tells whether one is unknown. Whether there is
// a token is told when it is used.
func resolveHetzner(ctx context.Context, object types.Object, settings *client.Settings, diags *diag.Diagnostics) bool {
	if object.IsUnknown() {
		return true
	}
	var config hetznerModel
	if !object.IsNull() {
		diags.Append(object.As(ctx, &config, basetypes.ObjectAsOptions{})...)
	}
	token, endpoint := first(config.Token, "HCLOUD_TOKEN", ""), first(config.Endpoint, "HCLOUD_ENDPOINT", "")
	if token.IsUnknown() || endpoint.IsUnknown() || config.PollInterval.IsUnknown() || config.Rebind.IsUnknown() {
		return true
	}
	if err := hetzner.CheckEndpoint(endpoint.ValueString()); endpoint.ValueString() != "" && err != nil {
		diags.Append(diagnostics.AttributeError(path.Root("hetzner").AtName("endpoint"), diagnostics.InvalidValue,
			"Invalid Provider Setting", diagnostics.Sentence(err)+" The value comes from the attribute, or from HCLOUD_ENDPOINT."))
	}
	settings.Hetzner = hetzner.Config{
		Token: token.ValueString(), Endpoint: endpoint.ValueString(), PollInterval: convert.Duration(config.PollInterval),
	}
	settings.Rebind = config.Rebind.ValueBool()
	return false
}

// resolveLocal fills in the local backend's settings and tells whether one is unknown.
func resolveLocal(ctx context.Context, object types.Object, settings *client.Settings, diags *diag.Diagnostics) bool {
	if object.IsNull() || object.IsUnknown() {
		return object.IsUnknown()
	}
	var config localModel
	diags.Append(object.As(ctx, &config, basetypes.ObjectAsOptions{})...)
	settings.Backends.Local.Isolation = config.Isolation.ValueString()
	settings.Backends.Local.BubblewrapPath = config.BubblewrapPath.ValueString()
	return config.Isolation.IsUnknown() || config.BubblewrapPath.IsUnknown()
}

// resolveDocker fills in the docker backend's settings and tells whether one is unknown.
func resolveDocker(ctx context.Context, object types.Object, settings *client.Settings, diags *diag.Diagnostics) bool {
	settings.DockerHost = os.Getenv("DOCKER_HOST")
	if object.IsNull() || object.IsUnknown() {
		return object.IsUnknown()
	}
	var config dockerModel
	diags.Append(object.As(ctx, &config, basetypes.ObjectAsOptions{})...)
	engine := &settings.Backends.Docker
	engine.Host, engine.Context = config.Host.ValueString(), config.Context.ValueString()
	engine.CACert, engine.ClientCert, engine.ClientKey = config.CAFile.ValueString(), config.CertFile.ValueString(), config.KeyFile.ValueString()
	if engine.Host != "" {
		settings.DockerHost = engine.Host
	}
	for _, value := range []types.String{config.Host, config.Context, config.CAFile, config.CertFile, config.KeyFile} {
		if value.IsUnknown() {
			return true
		}
	}
	return false
}

// first returns the attribute when it is set or unknown, else the environment variable when it is
// not empty, else the fallback; null when that is empty too.
func first(attribute types.String, variable, fallback string) types.String {
	if !attribute.IsNull() {
		return attribute
	}
	if variable != "" {
		if value := os.Getenv(variable); value != "" {
			return types.StringValue(value)
		}
	}
	if fallback == "" {
		return types.StringNull()
	}
	return types.StringValue(fallback)
}

// defaultDataDir follows the XDG base directory specification: relative values do not count.
func defaultDataDir() string {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "sandlot")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state", "sandlot")
}

// continuousIntegration reads the variable that CI systems set.
func continuousIntegration(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "false", "no":
		return false
	}
	return true
}
