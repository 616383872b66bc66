// Package datasources holds the data sources of the provider. They only read: nothing is started,
// woken, made, adopted or deleted, and no file is written.
package datasources

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
)

const (
	// readTimeout bounds one read, so that a backend that never answers does not hang a plan.
	readTimeout = 2 * time.Minute
	// probeTimeout is shorter, since a probe asks one question.
	probeTimeout = 20 * time.Second
)

// configured is embedded by every data source and keeps what Configure hands over.
type configured struct {
	client *client.Client
}

// Configure implements [datasource.DataSourceWithConfigure].
func (c *configured) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	made, diags := client.From(req.ProviderData)
	resp.Diagnostics.Append(diags...)
	c.client = made
}

// notKnownYet is the error of a data source that cannot answer before the provider is configured.
func notKnownYet(at path.Path, summary string) diag.Diagnostic {
	return diagnostics.AttributeError(at, diagnostics.ConfigurationUnsure, summary,
		"The provider configuration depends on something that is still to be applied, so nothing can be read yet. "+
			"Apply that first, or let the data source depend on it with `depends_on`, so that it is read during the apply.")
}
