// Package templatefiles holds the attribute that names template files: those baked into a base
// snapshot, and those that a new workspace gets.
package templatefiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/overlay"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
)

// MaxBytes is the most that template files may ever hold together.
const MaxBytes = 1 << 30

// Model is one element of the attribute.
type Model struct {
	Source  types.String `tfsdk:"source"`
	Content types.String `tfsdk:"content"`
	Mode    types.String `tfsdk:"mode"`
}

// Type is the type of one element.
var Type = types.ObjectType{AttrTypes: map[string]attr.Type{
	"source": types.StringType, "content": types.StringType, "mode": types.StringType,
}}

// Attribute is the map of target paths to files. lasting says what becomes of later values.
func Attribute(lasting string) schema.Attribute {
	return schema.MapNestedAttribute{
		MarkdownDescription: "Files by their target path, which is relative to the workspace or absolute. " + lasting,
		Optional:            true,
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"source": schema.StringAttribute{
				MarkdownDescription: "A file or directory of the machine that Terraform runs on. Of a directory all regular files are taken but those that its `" + overlay.IgnoreFile + "` names; links are refused. Exactly one of `source` and `content` is required.",
				Optional:            true,
				Validators:          []validator.String{validators.Length(1, 4095)},
			},
			"content": schema.StringAttribute{
				MarkdownDescription: "What the file holds. It stands in the state: no secrets.",
				Optional:            true,
			},
			"mode": schema.StringAttribute{
				MarkdownDescription: "The permission bits of a file, in octal. Absent: `0755` where the source is executable, else `0644`. Files of a directory keep their own executable bits.",
				Optional:            true,
				Validators:          []validator.String{validators.String("three or four octal digits", checkMode)},
			},
		}},
	}
}

func checkMode(text string) error {
	_, err := ParseMode(text)
	return err
}

// ParseMode reads permission bits in octal.
func ParseMode(text string) (fs.FileMode, error) {
	bits, err := strconv.ParseUint(text, 8, 32)
	if err != nil || len(text) < 3 || len(text) > 4 || bits&^uint64(fs.ModePerm) != 0 || bits == 0 {
		return 0, fmt.Errorf("%q is no mode: expected permission bits in octal, for example \"0644\"", text)
	}
	return fs.FileMode(bits), nil
}

// Unknown tells whether something of the attribute is not known yet.
func Unknown(files types.Map) bool {
	if files.IsUnknown() {
		return true
	}
	for _, element := range files.Elements() {
		object, ok := element.(types.Object)
		if !ok || object.IsUnknown() {
			return true
		}
		for _, member := range object.Attributes() {
			if member.IsUnknown() {
				return true
			}
		}
	}
	return false
}

// Check judges the elements at a path as far as they are known. It reads no file.
func Check(ctx context.Context, at path.Path, files types.Map) diag.Diagnostics {
	var diags diag.Diagnostics
	for target, element := range files.Elements() {
		file, ok := read(ctx, element, &diags)
		if !ok {
			continue
		}
		where := at.AtMapKey(target)
		if err := overlay.CheckTarget(target, !file.Source.IsNull()); err != nil {
			diags.Append(diagnostics.AttributeError(where, diagnostics.InvalidValue, "Invalid Target Path", fmt.Sprintf("The target path %q cannot be used: %s.", target, err)))
		}
		switch {
		case file.Source.IsNull() && file.Content.IsNull():
			diags.Append(diagnostics.AttributeError(where, diagnostics.InvalidValue, "Content Missing", "One of `source` and `content` is required. A misspelled member is dropped unseen before it reaches the provider."))
		case !file.Source.IsNull() && !file.Content.IsNull():
			diags.Append(diagnostics.AttributeError(where, diagnostics.InvalidValue, "Content Given Twice", "Only one of `source` and `content` may be set."))
		}
	}
	return diags
}

// Collect looks at the files, which have to be known, and hashes them. Errors stand at the element of
// the path that they are about.
func Collect(ctx context.Context, at path.Path, files types.Map, limit int64) (overlay.Set, diag.Diagnostics) {
	var diags diag.Diagnostics
	specs := map[string]overlay.Spec{}
	for target, input := range Inputs(ctx, files, &diags) {
		spec, err := input.Spec()
		if err != nil {
			diags.Append(diagnostics.AttributeError(at.AtMapKey(target), diagnostics.InvalidValue, "Template File Cannot Be Used", err.Error()))
		}
		specs[target] = spec
	}
	if diags.HasError() {
		return overlay.Set{}, diags
	}
	set, err := overlay.Collect(ctx, specs, limit)
	for _, problem := range problems(err) {
		var typed *overlay.Error
		if errors.As(problem, &typed) {
			diags.Append(diagnostics.AttributeError(at.AtMapKey(typed.Key), diagnostics.InvalidValue, "Template File Cannot Be Used", typed.Error()))
			continue
		}
		diags.Append(diagnostics.FromAttributeError(at, "Template Files Cannot Be Read", problem))
	}
	return set, diags
}

// problems takes joined errors apart.
func problems(err error) []error {
	switch err := err.(type) { //nolint:errorlint // what the error is itself is asked, not what it wraps
	case nil:
		return nil
	case *overlay.Error:
		return []error{err}
	case interface{ Unwrap() []error }:
		return err.Unwrap()
	}
	return []error{err}
}

func read(ctx context.Context, element attr.Value, diags *diag.Diagnostics) (Model, bool) {
	var file Model
	object, ok := element.(types.Object)
	if !ok || object.IsUnknown() || object.IsNull() {
		return file, false
	}
	converted := object.As(ctx, &file, basetypes.ObjectAsOptions{})
	diags.Append(converted...)
	return file, !converted.HasError()
}
