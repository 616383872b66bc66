package sandboxes

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
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

type privateReader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

type privateWriter interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// readPrivate reads one key; the zero value and false when it is absent.
func readPrivate[T any](ctx context.Context, private privateReader, key string, diags *diag.Diagnostics) (T, bool) {
	var value T
	raw, readDiags := private.GetKey(ctx, key)
	diags.Append(readDiags...)
	if len(raw) == 0 {
		return value, false
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		diags.AddError("Private State Cannot Be Read", fmt.Sprintf("The key %q holds no valid JSON: %s.", key, err))
		return value, false
	}
	return value, true
}

func writePrivate(ctx context.Context, private privateWriter, key string, value any, diags *diag.Diagnostics) {
	raw, err := json.Marshal(value)
	if err != nil {
		diags.AddError("Private State Cannot Be Written", fmt.Sprintf("The key %q: %s.", key, err))
		return
	}
	diags.Append(private.SetKey(ctx, key, raw)...)
}

// attachmentOf returns what the private state says, or what the state itself knows: core passes no
// private state for a tainted object.
func attachmentOf(ctx context.Context, private privateReader, m *common, diags *diag.Diagnostics) (sandbox.Attachment, bool) {
	attachment, found := readPrivate[sandbox.Attachment](ctx, private, attachmentKey, diags)
	if !found {
		attachment.Record, attachment.Token = m.RecordID.ValueString(), m.AttachmentID.ValueString()
	}
	return attachment, found
}
