package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/basesnapshots"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
)

// Positions of the arguments.
const (
	manifestArgument = iota
	environmentArgument
	allowlistArgument
	hashArgumentCount
)

var _ function.Function = (*manifestHash)(nil)

type manifestHash struct{}

// NewManifestHash returns the function manifest_hash.
func NewManifestHash() function.Function { return &manifestHash{} }

func (f *manifestHash) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "manifest_hash"
}

func (f *manifestHash) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "The hash of a base snapshot's manifest",
		MarkdownDescription: "Returns the `manifest_hash` that `sandlot_base_snapshot` plans for a manifest: 64 hex digits. Template files are read and hashed where the function runs.\n\n" +
			"A member that the resource does not know is an error.",
		Parameters: []function.Parameter{
			function.DynamicParameter{
				Name:                "manifest",
				MarkdownDescription: "The manifest, with the members of the attribute `manifest`. Those left out or null have their defaults.",
			},
		},
		VariadicParameter: function.DynamicParameter{
			Name:                "environment",
			MarkdownDescription: "Up to two more values, in this order: `environment`, a map of texts, and `environment_allowlist`, a collection of names.",
		},
		Return: function.StringReturn{},
	}
}

func (f *manifestHash) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var manifest types.Dynamic
	var more []types.Dynamic
	if resp.Error = req.Arguments.Get(ctx, &manifest, &more); resp.Error != nil {
		return
	}
	hash, failure := hashManifest(ctx, manifest, more)
	if failure != nil {
		resp.Error = failure
		return
	}
	resp.Error = resp.Result.Set(ctx, hash)
}

func hashManifest(ctx context.Context, manifest types.Dynamic, more []types.Dynamic) (string, *function.FuncError) {
	wrong := func(argument int, err error) (string, *function.FuncError) {
		return "", invalid(argument, diagnostics.InvalidValue, err)
	}
	if len(more) >= hashArgumentCount {
		return wrong(hashArgumentCount, errors.New("there are more values than environment and environment_allowlist"))
	}
	var input basesnapshots.ManifestInput
	raw, err := asJSON(manifest)
	if err == nil {
		input, err = basesnapshots.ParseManifest(raw)
	}
	if err != nil {
		return wrong(manifestArgument, err)
	}
	parsed, err := input.Collect(ctx)
	if err == nil {
		err = parsed.Check()
	}
	if err != nil {
		return wrong(manifestArgument, err)
	}
	var environment map[string]string
	var allowlist []string
	for i, value := range more {
		target := any(&environment)
		if i == 1 {
			target = &allowlist
		}
		if err := decode(value, target); err != nil {
			return wrong(environmentArgument+i, err)
		}
	}
	hash, err := basesnapshot.Hash(parsed, environment, allowlist)
	if err != nil {
		return wrong(manifestArgument, err)
	}
	return hash, nil
}

func decode(value types.Dynamic, target any) error {
	raw, err := asJSON(value)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, target); err != nil {
		return errors.New("a map of texts is expected for environment, and a collection of texts for environment_allowlist")
	}
	return nil
}

// asJSON writes any value as JSON.
func asJSON(value attr.Value) ([]byte, error) {
	plain, err := plainValue(value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(plain)
}

func plainValue(value attr.Value) (any, error) {
	if value == nil || value.IsNull() {
		return nil, nil
	}
	switch value := value.(type) {
	case types.Dynamic:
		return plainValue(value.UnderlyingValue())
	case types.String:
		return value.ValueString(), nil
	case types.Bool:
		return value.ValueBool(), nil
	case types.Number:
		return plainNumber(value.ValueBigFloat())
	case types.Object:
		return plainMembers(value.Attributes())
	case types.Map:
		return plainMembers(value.Elements())
	case types.List:
		return plainElements(value.Elements())
	case types.Set:
		return plainElements(value.Elements())
	case types.Tuple:
		return plainElements(value.Elements())
	}
	return nil, fmt.Errorf("a value of the type %T is not possible here", value)
}

func plainNumber(number *big.Float) (any, error) {
	whole, accuracy := number.Int64()
	if accuracy != big.Exact {
		return nil, fmt.Errorf("%s is not a whole number", number)
	}
	return whole, nil
}

func plainMembers(values map[string]attr.Value) (any, error) {
	plain := map[string]any{}
	for name, value := range values {
		var err error
		if plain[name], err = plainValue(value); err != nil {
			return nil, err
		}
	}
	return plain, nil
}

func plainElements(values []attr.Value) (any, error) {
	plain := make([]any, len(values))
	for i, value := range values {
		var err error
		if plain[i], err = plainValue(value); err != nil {
			return nil, err
		}
	}
	return plain, nil
}
