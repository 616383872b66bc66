package sandboxes

import "github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"

// Keys of the private state, beside the attachment.
const (
	madeKey  = "made"
	priorKey = "prior"
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
