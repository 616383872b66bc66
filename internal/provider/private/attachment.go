package private

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// attachmentKey is written by Create and ImportState, by Read only where it is absent, and by no plan.
const attachmentKey = "attachment"

// Attachment returns what the private state says, or what the state itself knows, and whether it was the
// former: core passes no private state for a tainted object.
func Attachment(ctx context.Context, from Reader, recordID, attachmentID types.String, diags *diag.Diagnostics) (sandbox.Attachment, bool) {
	attachment, found := Read[sandbox.Attachment](ctx, from, attachmentKey, diags)
	if !found {
		attachment.Record, attachment.Token = recordID.ValueString(), attachmentID.ValueString()
	}
	return attachment, found
}

// Attach writes an attachment.
func Attach(ctx context.Context, to Writer, attachment sandbox.Attachment, diags *diag.Diagnostics) {
	Write(ctx, to, attachmentKey, attachment, diags)
}

// Reattach writes the attachment of a record where the private state was lost: core drops it when the
// plugin dies in an update. By what token this state holds the object it knows itself.
func Reattach(ctx context.Context, to Writer, recorded sandbox.Attachment, attachmentID types.String, diags *diag.Diagnostics) {
	if token := attachmentID.ValueString(); token != "" {
		recorded.Token = token
	}
	Attach(ctx, to, recorded, diags)
}
