package sandboxes

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Keys of the private state. The attachment is written by Create and ImportState, by Read only
// where it is absent, and by no plan.
const (
	attachmentKey = "attachment"
	madeKey       = "made"
	priorKey      = "prior"
)

// made is how a sandbox was made, as far as it is known: it tells an attribute that was never set
// from one that an import could not fill.
type made struct {
	Known  bool            `json:"known"`
	Source backends.Source `json:"source"`
}

// prior is what the first leg of a replacement leaves for the second, which sees no state.
type prior struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	WorkspaceID string `json:"workspace_id"`
	Generation  int64  `json:"generation"`
	Purge       bool   `json:"purge,omitempty"`
}

// attachmentOf returns what the private state says, or what the state itself knows: core passes no
// private state for a tainted object.
func attachmentOf(ctx context.Context, from private.Reader, m *common, diags *diag.Diagnostics) (sandbox.Attachment, bool) {
	attachment, found := private.Read[sandbox.Attachment](ctx, from, attachmentKey, diags)
	if !found {
		attachment.Record, attachment.Token = m.RecordID.ValueString(), m.AttachmentID.ValueString()
	}
	return attachment, found
}
