package cloudhosts

import (
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// model is the resource's plan, state or configuration. Collections stay framework values, since any
// of them can be unknown.
type model struct {
	ID                 types.String   `tfsdk:"id"`
	RecordID           types.String   `tfsdk:"record_id"`
	AttachmentID       types.String   `tfsdk:"attachment_id"`
	Name               types.String   `tfsdk:"name"`
	ServerType         types.String   `tfsdk:"server_type"`
	Location           types.String   `tfsdk:"location"`
	Image              types.String   `tfsdk:"image"`
	DockerPackages     types.String   `tfsdk:"docker_packages"`
	AuthorizedKeys     types.Set      `tfsdk:"authorized_keys"`
	Labels             types.Map      `tfsdk:"labels"`
	IdleTimeout        types.String   `tfsdk:"idle_timeout"`
	ExpiresAt          types.String   `tfsdk:"expires_at"`
	DesiredState       types.String   `tfsdk:"desired_state"`
	OnDestroy          types.String   `tfsdk:"on_destroy"`
	OnMissing          types.String   `tfsdk:"on_missing"`
	ServerID           types.Int64    `tfsdk:"server_id"`
	IPv4Address        types.String   `tfsdk:"ipv4_address"`
	HostKeyFingerprint types.String   `tfsdk:"host_key_fingerprint"`
	SSHConfigPath      types.String   `tfsdk:"ssh_config_path"`
	Status             types.String   `tfsdk:"status"`
	CreatedAt          types.String   `tfsdk:"created_at"`
	Details            types.Object   `tfsdk:"details"`
	Timeouts           timeouts.Value `tfsdk:"timeouts"`
}

var (
	detailsType = map[string]attr.Type{
		"ssh_key_id": types.Int64Type, "primary_ip_id": types.Int64Type,
		"committed": types.BoolType, "created_for_start": types.BoolType, "destroying": types.BoolType,
	}
	timeoutsType = map[string]attr.Type{
		"create": types.StringType, "read": types.StringType, "update": types.StringType, "delete": types.StringType,
	}
)

// null makes every value null, of the right type, where an import has nothing yet.
func (m *model) null() {
	*m = model{
		AuthorizedKeys: types.SetNull(types.StringType), Labels: types.MapNull(types.StringType), Details: types.ObjectNull(detailsType),
	}
	m.Timeouts.Object = types.ObjectNull(timeoutsType)
}
