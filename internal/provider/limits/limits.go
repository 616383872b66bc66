// Package limits holds the `timeouts` attribute that all resources have.
package limits

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Defaults are the limits where the configuration has none.
type Defaults struct {
	Create, Read, Update, Delete time.Duration
}

// Attribute is `timeouts`, described, and with every limit more than nothing.
func Attribute(ctx context.Context, defaults Defaults) schema.Attribute {
	attribute, ok := timeouts.AttributesAll(ctx).(schema.SingleNestedAttribute)
	if !ok {
		panic("the timeouts are no nested attribute")
	}
	attribute.MarkdownDescription = "How long each operation may take."
	for name, limit := range map[string]struct {
		what     string
		standard time.Duration
	}{
		"create": {"the create", defaults.Create},
		"read":   {"each read of a refresh", defaults.Read},
		"update": {"an update", defaults.Update},
		"delete": {"the delete; it counts once it was applied", defaults.Delete},
	} {
		attribute.Attributes[name] = schema.StringAttribute{
			MarkdownDescription: fmt.Sprintf("The limit of %s, as a duration. Default: `\"%dm\"`.", limit.what, int(limit.standard.Minutes())),
			Optional:            true,
			Validators:          []validator.String{validators.String("a duration of at least one second", sandbox.CheckLimit)},
		}
	}
	return attribute
}
