package templatefiles

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/overlay"
)

// Input is one file as a configuration writes it. Records keep it for imports, and a manifest in JSON
// has it.
type Input struct {
	Source  *string `json:"source,omitempty"`
	Content *string `json:"content,omitempty"`
	Mode    *string `json:"mode,omitempty"`
}

// Inputs reads the attribute, nil when it is null: null and empty are kept apart.
func Inputs(ctx context.Context, files types.Map, diags *diag.Diagnostics) map[string]*Input {
	if files.IsNull() {
		return nil
	}
	inputs := map[string]*Input{}
	for target, element := range files.Elements() {
		if file, ok := read(ctx, element, diags); ok {
			inputs[target] = &Input{file.Source.ValueStringPointer(), file.Content.ValueStringPointer(), file.Mode.ValueStringPointer()}
		}
	}
	return inputs
}

// Value is the attribute that [Inputs] read.
func Value(inputs map[string]*Input) types.Map {
	if inputs == nil {
		return types.MapNull(Type)
	}
	values := map[string]attr.Value{}
	for target, file := range inputs {
		values[target] = types.ObjectValueMust(Type.AttrTypes, map[string]attr.Value{
			"source": types.StringPointerValue(file.Source), "content": types.StringPointerValue(file.Content), "mode": types.StringPointerValue(file.Mode),
		})
	}
	return types.MapValueMust(Type, values)
}

// Spec is what to collect for the file.
func (f *Input) Spec() (overlay.Spec, error) {
	if f == nil || (f.Source == nil) == (f.Content == nil) {
		return overlay.Spec{}, errors.New("exactly one of source and content is needed")
	}
	spec := overlay.Spec{}
	if f.Source != nil {
		spec.Source = *f.Source
	} else {
		spec.Content = []byte(*f.Content)
	}
	if f.Mode == nil {
		return spec, nil
	}
	mode, err := ParseMode(*f.Mode)
	spec.Mode = mode
	return spec, err
}
