package cloudhosts

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
)

// ValidateConfig judges what is known without a provider.
func (r *hostResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(check(&config)...)
}

// check judges a configuration across attributes.
func check(m *model) diag.Diagnostics {
	var diags diag.Diagnostics
	for name, element := range m.Labels.Elements() {
		at := path.Root("labels").AtMapKey(name)
		value, ok := element.(types.String)
		if ok && value.IsNull() {
			diags.Append(diagnostics.AttributeError(at, diagnostics.InvalidValue, "Missing Value", "A null value is not possible here: leave the label out."))
			continue
		}
		if err := cloudhost.CheckLabels(map[string]string{name: value.ValueString()}); err != nil {
			diags.Append(diagnostics.AttributeError(at, diagnostics.InvalidValue, "Invalid Label", diagnostics.Sentence(err)))
		}
	}
	return diags
}

func checkAuthorizedKey(line string) error { return cloudhost.CheckAuthorizedKeys([]string{line}) }

func checkTime(text string) error {
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return fmt.Errorf("%q is not a time in RFC 3339, such as 2030-01-31T18:00:00Z", text)
	}
	return nil
}

// checkCatalog refuses what the platform does not offer. Where the catalog cannot be read, for want
// of a token or of a network, the plan goes on: the apply is told by the platform itself.
func (p *planner) checkCatalog() {
	plan := p.plan
	if plan.ServerType.IsUnknown() || plan.Location.IsUnknown() || plan.Image.IsUnknown() {
		return
	}
	manager, err := p.client.CloudHosts()
	if err != nil {
		return // not known yet
	}
	problems, err := manager.CheckCatalog(p.ctx, plan.ServerType.ValueString(), plan.Location.ValueString(), plan.Image.ValueString())
	if err != nil {
		return
	}
	for _, problem := range problems {
		at := path.Root(problem.Attribute)
		if problem.Warning {
			p.warn(at, diagnostics.InvalidValue, "Hardly Offered", problem.Detail)
			continue
		}
		p.error(at, diagnostics.InvalidValue, "Not Offered", problem.Detail)
	}
}
