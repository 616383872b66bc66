package functions_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider"
)

// typed turns plain Go values into those that HCL would write.
func typed(t *testing.T, value any) tftypes.Value {
	t.Helper()
	switch value := value.(type) {
	case nil:
		return tftypes.NewValue(tftypes.String, nil)
	case string:
		return tftypes.NewValue(tftypes.String, value)
	case int:
		return tftypes.NewValue(tftypes.Number, value)
	case []any:
		elements, kinds := []tftypes.Value{}, []tftypes.Type{}
		for _, element := range value {
			made := typed(t, element)
			elements, kinds = append(elements, made), append(kinds, made.Type())
		}
		return tftypes.NewValue(tftypes.Tuple{ElementTypes: kinds}, elements)
	case map[string]any:
		members, kinds := map[string]tftypes.Value{}, map[string]tftypes.Type{}
		for name, member := range value {
			members[name] = typed(t, member)
			kinds[name] = members[name].Type()
		}
		return tftypes.NewValue(tftypes.Object{AttributeTypes: kinds}, members)
	}
	t.Fatalf("no value is made of a %T", value)
	return tftypes.Value{}
}

// manifestHash calls the function on a provider that was never configured.
func manifestHash(t *testing.T, values ...any) (string, *tfprotov6.FunctionError) {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	request := &tfprotov6.CallFunctionRequest{Name: "manifest_hash"}
	for _, value := range values {
		argument, err := tfprotov6.NewDynamicValue(tftypes.DynamicPseudoType, typed(t, value))
		if err != nil {
			t.Fatal(err)
		}
		request.Arguments = append(request.Arguments, &argument)
	}
	response, err := server.CallFunction(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if response.Error != nil {
		return "", response.Error
	}
	result, err := response.Result.Unmarshal(tftypes.String)
	if err != nil {
		t.Fatal(err)
	}
	var hash string
	if err := result.As(&hash); err != nil {
		t.Fatal(err)
	}
	return hash, nil
}

func manifestOf(more map[string]any) map[string]any {
	manifest := map[string]any{
		"name": "web", "system_packages": []any{"git", "curl"}, "package_managers": map[string]any{"npm": "10.9.2"},
		"commands": []any{[]any{"npm", "ci"}, []any{"sh", "-c", "echo <é>"}}, "template_version": "7", "marker_path": nil,
	}
	for name, value := range more {
		manifest[name] = value
	}
	return manifest
}

// TestManifestHash holds the function to the hash that a bake goes by: what changes the result of a
// bake flips it, and what does not leaves it.
func TestManifestHash(t *testing.T) {
	t.Parallel()
	want, err := basesnapshot.Hash(basesnapshot.Manifest{
		SchemaVersion: 1, Name: "web", SystemPackages: []string{"curl", "git"}, PackageManagers: map[string]string{"npm": "10.9.2"},
		Commands: [][]string{{"npm", "ci"}, {"sh", "-c", "echo <é>"}}, TemplateVersion: "7",
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		values []any
		same   bool
	}{
		"as it is":                  {[]any{manifestOf(nil)}, true},
		"the version of the format": {[]any{manifestOf(map[string]any{"schema_version": 1})}, true},
		"packages in another order": {[]any{manifestOf(map[string]any{"system_packages": []any{" curl", "git"}})}, true},
		"no environment":            {[]any{manifestOf(nil), map[string]any{}, []any{}}, true},
		"another command":           {[]any{manifestOf(map[string]any{"commands": []any{[]any{"npm", "install"}}})}, false},
		"commands the other way":    {[]any{manifestOf(map[string]any{"commands": []any{[]any{"sh", "-c", "echo <é>"}, []any{"npm", "ci"}}})}, false},
		"a file":                    {[]any{manifestOf(map[string]any{"template_files": map[string]any{"a": map[string]any{"content": "1"}}})}, false},
		"environment":               {[]any{manifestOf(nil), map[string]any{"A": "1"}}, false},
		"allowlist":                 {[]any{manifestOf(nil), map[string]any{}, []any{"LANG"}}, false},
	} {
		hash, failure := manifestHash(t, c.values...)
		if failure != nil || len(hash) != 64 || (hash == want) != c.same {
			t.Errorf("%s: got %q, %+v; want %q: %v", name, hash, failure, want, c.same)
		}
	}
	for name, c := range map[string]struct {
		values []any
		at     int64
		says   string
	}{
		"unknown member":        {[]any{manifestOf(map[string]any{"comands": []any{}})}, 0, "comands"},
		"version of the future": {[]any{manifestOf(map[string]any{"schema_version": 2})}, 0, "schema_version"},
		"missing file":          {[]any{manifestOf(map[string]any{"template_files": map[string]any{"a": map[string]any{"source": "/no/such/file"}}})}, 0, "/no/such/file"},
		"environment of lists":  {[]any{manifestOf(nil), map[string]any{"A": []any{}}}, 1, "a map of texts"},
		"one value too many":    {[]any{manifestOf(nil), map[string]any{}, []any{}, "x"}, 3, "more values"},
	} {
		_, failure := manifestHash(t, c.values...)
		if failure == nil || failure.FunctionArgument == nil || *failure.FunctionArgument != c.at || !strings.Contains(failure.Text, c.says) || !strings.HasSuffix(failure.Text, "Code: invalid_value") {
			t.Errorf("%s: got %+v, want an error on argument %d that says %q", name, failure, c.at, c.says)
		}
	}
}
