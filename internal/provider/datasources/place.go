package datasources

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
)

// cloudHostIDAttribute is how a data source about a backend says on which host it looks.
func cloudHostIDAttribute() schema.StringAttribute {
	return schema.StringAttribute{
		MarkdownDescription: "The `id` of the `sandlot_cloud_host` to look on; for `docker` only.",
		Optional:            true,
		Validators:          []validator.String{validators.CloudHostID()},
	}
}
