package functions

import (
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
)

// handleAttributes are the types of handleModel. They are part of every caller's configuration:
// add to them, never change or remove one.
var handleAttributes = map[string]attr.Type{
	"shape":                 types.StringType,
	"workspace_id":          types.StringType,
	"backend":               types.StringType,
	"name":                  types.StringType,
	"kind":                  types.StringType,
	"handle_kind":           types.StringType,
	"handle":                types.StringType,
	"resource_kind":         types.StringType,
	"session_id":            types.StringType,
	"snapshot_id":           types.StringType,
	"base_snapshot_id":      types.StringType,
	"base_snapshot_version": types.StringType,
	"template_version":      types.StringType,
	"runtime":               types.StringType,
	"state":                 types.StringType,
	"status":                types.StringType,
	"session_key":           types.StringType,
	"owner":                 types.StringType,
	"host":                  types.StringType,
	"directory":             types.StringType,
	"workspace":             types.StringType,
	"user":                  types.StringType,
	"isolated":              types.BoolType,
	"services":              types.MapType{ElemType: types.ObjectType{AttrTypes: serviceAttributes}},
	"metadata":              types.StringType,
	"created_at":            types.StringType,
	"updated_at":            types.StringType,
	"last_used_at":          types.StringType,
	"last_seen_at":          types.StringType,
	"expires_at":            types.StringType,
}

var serviceAttributes = map[string]attr.Type{
	"image":          types.StringType,
	"port":           types.Int64Type,
	"container_port": types.Int64Type,
	"protocol":       types.StringType,
	"command":        types.StringType,
	"internal":       types.BoolType,
}

// handleModel is what parse_handle returns; a nil member is null.
type handleModel struct {
	Shape               *string                 `tfsdk:"shape"`
	WorkspaceID         *string                 `tfsdk:"workspace_id"`
	Backend             *string                 `tfsdk:"backend"`
	Name                *string                 `tfsdk:"name"`
	Kind                *string                 `tfsdk:"kind"`
	HandleKind          *string                 `tfsdk:"handle_kind"`
	Handle              *string                 `tfsdk:"handle"`
	ResourceKind        *string                 `tfsdk:"resource_kind"`
	SessionID           *string                 `tfsdk:"session_id"`
	SnapshotID          *string                 `tfsdk:"snapshot_id"`
	BaseSnapshotID      *string                 `tfsdk:"base_snapshot_id"`
	BaseSnapshotVersion *string                 `tfsdk:"base_snapshot_version"`
	TemplateVersion     *string                 `tfsdk:"template_version"`
	Runtime             *string                 `tfsdk:"runtime"`
	State               *string                 `tfsdk:"state"`
	Status              *string                 `tfsdk:"status"`
	SessionKey          *string                 `tfsdk:"session_key"`
	Owner               *string                 `tfsdk:"owner"`
	Host                *string                 `tfsdk:"host"`
	Directory           *string                 `tfsdk:"directory"`
	Workspace           *string                 `tfsdk:"workspace"`
	User                *string                 `tfsdk:"user"`
	Isolated            *bool                   `tfsdk:"isolated"`
	Services            map[string]serviceModel `tfsdk:"services"`
	Metadata            *string                 `tfsdk:"metadata"`
	CreatedAt           *string                 `tfsdk:"created_at"`
	UpdatedAt           *string                 `tfsdk:"updated_at"`
	LastUsedAt          *string                 `tfsdk:"last_used_at"`
	LastSeenAt          *string                 `tfsdk:"last_seen_at"`
	ExpiresAt           *string                 `tfsdk:"expires_at"`
}

type serviceModel struct {
	Image         *string `tfsdk:"image"`
	Port          *int64  `tfsdk:"port"`
	ContainerPort *int64  `tfsdk:"container_port"`
	Protocol      *string `tfsdk:"protocol"`
	Command       *string `tfsdk:"command"`
	Internal      bool    `tfsdk:"internal"`
}

func newHandleModel(shape handle.Shape, o handle.Object) (handleModel, error) {
	model := handleModel{
		Shape: text(string(shape)), WorkspaceID: text(o.WorkspaceID), Backend: text(o.Backend), Name: text(o.Name),
		Kind: text(o.Kind), HandleKind: text(o.HandleKind()), Handle: text(o.Handle()), ResourceKind: text(o.ResourceKind),
		SessionID: text(o.SessionID), SnapshotID: text(o.SnapshotID),
		BaseSnapshotID: text(o.BaseSnapshotID), BaseSnapshotVersion: text(o.BaseSnapshotVersion),
		TemplateVersion: text(o.TemplateVersion), Runtime: text(o.Runtime),
		State: text(string(o.State)), Status: text(o.Status), SessionKey: text(o.SessionKey),
		Owner: text(o.Owner), Host: text(o.Host), Directory: text(o.Directory), Workspace: text(o.Workspace), User: text(o.User),
		Isolated: o.Isolated, Services: newServices(o.Services),
		CreatedAt: text(handle.FormatTime(o.CreatedAt)), UpdatedAt: text(handle.FormatTime(o.UpdatedAt)),
		LastUsedAt: text(handle.FormatTime(o.LastUsedAt)), LastSeenAt: text(handle.FormatTime(o.LastSeenAt)),
		ExpiresAt: text(handle.FormatTime(o.ExpiresAt)),
	}
	if len(o.Metadata) > 0 {
		metadata, err := json.Marshal(o.Metadata)
		if err != nil {
			return model, err
		}
		model.Metadata = text(string(metadata))
	}
	return model, nil
}

func newServices(services map[string]handle.Service) map[string]serviceModel {
	if services == nil {
		return nil
	}
	models := make(map[string]serviceModel, len(services))
	for name, s := range services {
		models[name] = serviceModel{
			Image: text(s.Image), Port: number(s.Port), ContainerPort: number(s.ContainerPort),
			Protocol: text(s.Protocol), Command: text(s.Command), Internal: s.Internal,
		}
	}
	return models
}

func text(value string) *string {
	if value == "" {
		return nil
	}
	return &value
}

func number(value int) *int64 {
	if value == 0 {
		return nil
	}
	wide := int64(value)
	return &wide
}
