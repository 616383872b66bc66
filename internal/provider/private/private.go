// Package private reads and writes keys of a resource's private state as JSON.
package private

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// Reader is the part of a request's private state that is read.
type Reader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

// Writer is the part of a response's private state that is written.
type Writer interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// Read reads one key; the zero value and false when it is absent.
func Read[T any](ctx context.Context, from Reader, key string, diags *diag.Diagnostics) (T, bool) {
	var value T
	raw, readDiags := from.GetKey(ctx, key)
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

// Write writes one key.
func Write(ctx context.Context, to Writer, key string, value any, diags *diag.Diagnostics) {
	raw, err := json.Marshal(value)
	if err != nil {
		diags.AddError("Private State Cannot Be Written", fmt.Sprintf("The key %q: %s.", key, err))
		return
	}
	diags.Append(to.SetKey(ctx, key, raw)...)
}
