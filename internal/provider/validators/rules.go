package validators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
)

// The validators below do what those of the framework do, but their errors carry a code.

// OneOf accepts one of a closed set of texts.
func OneOf(allowed ...string) validator.String {
	list := `"` + strings.Join(allowed, `", "`) + `"`
	return String("one of "+list, func(text string) error {
		if !slices.Contains(allowed, text) {
			return fmt.Errorf("%q is not possible here: allowed are %s", text, list)
		}
		return nil
	})
}

// Length accepts a text of so many bytes.
func Length(least, most int) validator.String {
	return String(fmt.Sprintf("%d to %d bytes", least, most), func(text string) error {
		switch {
		case text == "" && least > 0:
			return errors.New("the value is empty")
		case len(text) < least || len(text) > most:
			return fmt.Errorf("the value has %d bytes: allowed are %d to %d", len(text), least, most)
		}
		return nil
	})
}

// Between accepts a number of a range.
func Between(least, most int64) validator.Int64 {
	return Int64(fmt.Sprintf("%d to %d", least, most), func(number int64) error {
		if number < least || number > most {
			return fmt.Errorf("%d is out of range: allowed are %d to %d", number, least, most)
		}
		return nil
	})
}

// FloatBetween accepts a number of a range.
func FloatBetween(least, most float64) validator.Float64 {
	return floatRange{least, most}
}

type floatRange struct{ least, most float64 }

func (r floatRange) Description(context.Context) string {
	return fmt.Sprintf("%g to %g", r.least, r.most)
}
func (r floatRange) MarkdownDescription(ctx context.Context) string { return r.Description(ctx) }

func (r floatRange) ValidateFloat64(_ context.Context, req validator.Float64Request, resp *validator.Float64Response) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if number := req.ConfigValue.ValueFloat64(); number < r.least || number > r.most {
		resp.Diagnostics.Append(diagnostics.AttributeError(req.Path, diagnostics.InvalidValue, "Invalid Value",
			fmt.Sprintf("%g is out of range: allowed are %g to %g.", number, r.least, r.most)))
	}
}

// NotEmpty accepts a list with at least one element.
func NotEmpty() validator.List { return notEmpty{} }

type notEmpty struct{}

func (notEmpty) Description(context.Context) string         { return "at least one element" }
func (notEmpty) MarkdownDescription(context.Context) string { return "at least one element" }

func (notEmpty) ValidateList(_ context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	if !req.ConfigValue.IsNull() && !req.ConfigValue.IsUnknown() && len(req.ConfigValue.Elements()) == 0 {
		resp.Diagnostics.Append(diagnostics.AttributeError(req.Path, diagnostics.InvalidValue, "Invalid Value", "At least one element is needed."))
	}
}

// Each accepts a set whose texts all fit a validator. A null element is none of them.
func Each(rule validator.String) validator.Set { return each{rule} }

type each struct{ rule validator.String }

func (e each) Description(ctx context.Context) string {
	return "each element: " + e.rule.Description(ctx)
}
func (e each) MarkdownDescription(ctx context.Context) string { return e.Description(ctx) }

func (e each) ValidateSet(ctx context.Context, req validator.SetRequest, resp *validator.SetResponse) {
	for _, element := range req.ConfigValue.Elements() {
		at := req.Path.AtSetValue(element)
		text, ok := element.(types.String)
		if !ok || text.IsNull() {
			resp.Diagnostics.Append(diagnostics.AttributeError(at, diagnostics.InvalidValue, "Missing Value", "A null value is not possible here: leave the element out."))
			continue
		}
		var answer validator.StringResponse
		e.rule.ValidateString(ctx, validator.StringRequest{Path: at, PathExpression: at.Expression(), ConfigValue: text, Config: req.Config}, &answer)
		resp.Diagnostics.Append(answer.Diagnostics...)
	}
}

// Coded adds a code to the errors of a validator of the framework.
func Coded(inner validator.String) validator.String { return coded{inner} }

type coded struct{ validator.String }

func (c coded) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	var answer validator.StringResponse
	c.String.ValidateString(ctx, req, &answer)
	for _, found := range answer.Diagnostics {
		at := req.Path
		if placed, ok := found.(diag.DiagnosticWithPath); ok {
			at = placed.Path()
		}
		resp.Diagnostics.Append(diagnostics.AttributeError(at, diagnostics.InvalidValue, found.Summary(), found.Detail()))
	}
}
