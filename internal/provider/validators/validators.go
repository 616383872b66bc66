// Package validators adapts the rules of package sandbox to the framework's schema validators.
package validators

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/cloudhost"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// String makes a validator of a rule about one string.
func String(description string, rule func(string) error) validator.String {
	return stringRule{description: description, rule: rule}
}

// Duration accepts a Go duration string that is not negative.
func Duration() validator.String {
	return String("a duration such as \"90s\", \"30m\" or \"2h\"", func(text string) error {
		_, err := sandbox.ParseDuration(text)
		return err
	})
}

// CloudHostID accepts the id of a cloud host.
func CloudHostID() validator.String {
	return String("the id of a cloud host, hetzner/<owner>/<name>", func(id string) error {
		_, _, err := cloudhost.ParseID(id)
		return err
	})
}

type stringRule struct {
	description string
	rule        func(string) error
}

func (r stringRule) Description(context.Context) string         { return r.description }
func (r stringRule) MarkdownDescription(context.Context) string { return r.description }

func (r stringRule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := r.rule(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.Append(diagnostics.AttributeError(req.Path, diagnostics.InvalidValue, "Invalid Value", diagnostics.Sentence(err)))
	}
}

// Int64 makes a validator of a rule about one number.
func Int64(description string, rule func(int64) error) validator.Int64 {
	return int64Rule{description: description, rule: rule}
}

type int64Rule struct {
	description string
	rule        func(int64) error
}

func (r int64Rule) Description(context.Context) string         { return r.description }
func (r int64Rule) MarkdownDescription(context.Context) string { return r.description }

func (r int64Rule) ValidateInt64(_ context.Context, req validator.Int64Request, resp *validator.Int64Response) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := r.rule(req.ConfigValue.ValueInt64()); err != nil {
		resp.Diagnostics.Append(diagnostics.AttributeError(req.Path, diagnostics.InvalidValue, "Invalid Value", diagnostics.Sentence(err)))
	}
}
