// Package convert turns framework values into plain ones, and back. What is null or unknown becomes a
// zero value, so that what is known can be judged before the rest is.
package convert

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Object reads a nested object; false when it is null or unknown.
func Object[T any](ctx context.Context, value attr.Value, diags *diag.Diagnostics) (T, bool) {
	var target T
	nested, ok := value.(types.Object)
	if !ok || nested.IsNull() || nested.IsUnknown() {
		return target, false
	}
	diags.Append(nested.As(ctx, &target, basetypes.ObjectAsOptions{})...)
	return target, true
}

// Texts reads the known texts of a collection, nil when there is none.
func Texts(values []attr.Value) []string {
	var texts []string
	for _, value := range values {
		if text, ok := value.(types.String); ok && !text.IsNull() && !text.IsUnknown() {
			texts = append(texts, text.ValueString())
		}
	}
	return texts
}

// TextMap reads the known texts of a map, nil when there is none.
func TextMap(value types.Map) map[string]string {
	var texts map[string]string
	for name, element := range value.Elements() {
		text, ok := element.(types.String)
		if !ok || text.IsNull() || text.IsUnknown() {
			continue
		}
		if texts == nil {
			texts = map[string]string{}
		}
		texts[name] = text.ValueString()
	}
	return texts
}

// Duration reads a value that the schema has checked; the zero value stands for none.
func Duration(value types.String) time.Duration {
	duration, err := sandbox.ParseDuration(value.ValueString())
	if err != nil {
		return 0
	}
	return duration
}

// TextOrNull is null for an empty text.
func TextOrNull(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

// Int64OrNull is null for 0.
func Int64OrNull(number int64) types.Int64 {
	if number == 0 {
		return types.Int64Null()
	}
	return types.Int64Value(number)
}

// TimeOrNull is null for the zero time, otherwise RFC 3339 in UTC.
func TimeOrNull(t time.Time) types.String {
	if t.IsZero() {
		return types.StringNull()
	}
	return types.StringValue(t.UTC().Format(time.RFC3339))
}

// Map is a map of texts; nil makes an empty one.
func Map(texts map[string]string) types.Map {
	values := make(map[string]attr.Value, len(texts))
	for name, text := range texts {
		values[name] = types.StringValue(text)
	}
	return types.MapValueMust(types.StringType, values)
}

// List is a list of texts; nil makes an empty one.
func List(texts []string) types.List {
	return types.ListValueMust(types.StringType, values(texts))
}

// Set is a set of texts; nil makes an empty one.
func Set(texts []string) types.Set {
	return types.SetValueMust(types.StringType, values(texts))
}

func values(texts []string) []attr.Value {
	values := make([]attr.Value, len(texts))
	for i, text := range texts {
		values[i] = types.StringValue(text)
	}
	return values
}

// Hold plans what the state has. Core accepts the prior value where configuration and prior state both
// have one.
func Hold[T attr.Value](plan *T, state, config T) {
	if !state.IsNull() && !config.IsNull() {
		*plan = state
	}
}
