// Package provider is Sandlot as Terraform and OpenTofu see it.
package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/basesnapshots"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/cloudhosts"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/command"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/datasources"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/file"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/functions"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/hostaccess"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/sandboxes"
)

// TypeName starts the names of all resources and data sources.
const TypeName = "sandlot"

var (
	_ provider.Provider              = (*sandlot)(nil)
	_ provider.ProviderWithFunctions = (*sandlot)(nil)

	_ provider.ProviderWithEphemeralResources = (*sandlot)(nil)
)

type sandlot struct {
	version string
}

// New returns the constructor of the provider for one version.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &sandlot{version: version} }
}

func (p *sandlot) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = TypeName
	resp.Version = p.version
}

func (p *sandlot) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	settings, diags := resolve(ctx, config)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	made := client.New(settings, observer())
	resp.ResourceData = made
	resp.DataSourceData = made
	resp.EphemeralResourceData = made
}

func (p *sandlot) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		sandboxes.NewSandbox,
		sandboxes.NewPersistentSandbox,
		sandboxes.NewWorkspaceRuntime,
		basesnapshots.New,
		cloudhosts.New,
		file.New,
		command.New,
	}
}

func (p *sandlot) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		datasources.NewBackend,
		datasources.NewSandboxes,
		datasources.NewDirectory,
		datasources.NewFile,
		datasources.NewWorkspaceRuntime,
		datasources.NewBaseSnapshot,
		datasources.NewHandle,
		datasources.NewCloudHost,
		datasources.NewOrphans,
	}
}

func (p *sandlot) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{hostaccess.New}
}

func (p *sandlot) Functions(context.Context) []func() function.Function {
	return []func() function.Function{
		functions.NewSandboxName,
		functions.NewResolvePath,
		functions.NewParseHandle,
		functions.NewManifestHash,
	}
}
