package functions_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider"
)

// send sends one call through the protocol, to a provider that was never configured.
func send(t *testing.T, name string, arguments ...any) *tfprotov6.CallFunctionResponse {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	request := &tfprotov6.CallFunctionRequest{Name: name}
	for _, argument := range arguments {
		value, err := tfprotov6.NewDynamicValue(tftypes.String, tftypes.NewValue(tftypes.String, argument))
		if err != nil {
			t.Fatal(err)
		}
		request.Arguments = append(request.Arguments, &value)
	}
	response, err := server.CallFunction(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// call is [send] for a function that returns a string.
func call(t *testing.T, name string, arguments ...any) (string, *tfprotov6.FunctionError) {
	t.Helper()
	response := send(t, name, arguments...)
	if response.Error != nil {
		return "", response.Error
	}
	value, err := response.Result.Unmarshal(tftypes.String)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	if err := value.As(&text); err != nil {
		t.Fatal(err)
	}
	return text, nil
}

type vector struct {
	name      string
	arguments []any
	want      string
	// position and message are those of the error, when want is empty.
	position int64
	message  string
}

func check(t *testing.T, function string, vectors []vector) {
	t.Helper()
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			got, failure := call(t, function, v.arguments...)
			if v.want != "" {
				if failure != nil || got != v.want {
					t.Fatalf("got %q, %+v; want %q", got, failure, v.want)
				}
				return
			}
			if failure == nil {
				t.Fatalf("got %q; want an error", got)
			}
			if failure.FunctionArgument == nil || *failure.FunctionArgument != v.position {
				t.Errorf("the error is on argument %v, want %d", failure.FunctionArgument, v.position)
			}
			if !strings.Contains(failure.Text, v.message) {
				t.Errorf("got %q; want it to contain %q", failure.Text, v.message)
			}
		})
	}
}

// The hashes were made by sha256sum, for example: printf ticket-4711 | sha256sum.
func TestSandboxName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("p", 40)
	check(t, "sandbox_name", []vector{
		{name: "defaults", arguments: []any{"ticket-4711"}, want: "sandlot-dev-ws-d4f8096d8f88"},
		{name: "trimmed", arguments: []any{" \tticket-4711\n"}, want: "sandlot-dev-ws-d4f8096d8f88"},
		{name: "unicode", arguments: []any{"w\u00f6rk/1"}, want: "sandlot-dev-ws-ab0670a7b599"},
		{name: "inner space", arguments: []any{"a b"}, want: "sandlot-dev-ws-c8687a08aa5d"},
		{name: "prefix", arguments: []any{"a b", "agents"}, want: "agents-dev-ws-c8687a08aa5d"},
		{name: "namespace", arguments: []any{"a b", "sandlot", "prod"}, want: "sandlot-prod-ws-c8687a08aa5d"},
		{name: "first generation", arguments: []any{"a b", "sandlot", "dev", "1"}, want: "sandlot-dev-ws-c8687a08aa5d"},
		{name: "second generation", arguments: []any{"a b", "agents", "prod", "2"}, want: "agents-prod-ws-c8687a08aa5d-g2"},
		{name: "longest", arguments: []any{"a b", long, "abcdef"}, want: long + "-abcdef-ws-c8687a08aa5d"},

		{name: "empty id", arguments: []any{""}, position: 0, message: "the workspace id is empty"},
		{name: "blank id", arguments: []any{" \n"}, position: 0, message: "the workspace id is empty"},
		{name: "long id", arguments: []any{strings.Repeat("x", 1025)}, position: 0, message: "1025 bytes"},
		{name: "empty prefix", arguments: []any{"a", ""}, position: 1, message: `"" is not a sandbox name`},
		{name: "upper-case prefix", arguments: []any{"a", "Sandlot"}, position: 1, message: `"Sandlot" is not a sandbox name`},
		{name: "bad namespace", arguments: []any{"a", "p", "my_team"}, position: 2, message: `"my_team" is not a sandbox name`},
		{name: "too long together", arguments: []any{"a", long, "abcdefg"}, position: 1, message: "make no valid name"},
		{name: "no room for the generation", arguments: []any{"a", long, "abcdef", "2"}, position: 1, message: "make no valid name"},
		{name: "generation zero", arguments: []any{"a", "p", "n", "0"}, position: 3, message: "not a generation"},
		{name: "broken generation", arguments: []any{"a", "p", "n", "1.5"}, position: 3, message: "not a generation"},
		{name: "huge generation", arguments: []any{"a", "p", "n", "1000000"}, position: 3, message: "not a generation"},
		{name: "one too many", arguments: []any{"a", "p", "n", "1", "x"}, position: 4, message: "more values"},
	})
}

func TestResolvePath(t *testing.T) {
	t.Parallel()
	check(t, "resolve_path", []vector{
		{name: "relative", arguments: []any{"/workspace", "docs/TASK.md"}, want: "/workspace/docs/TASK.md"},
		{name: "workspace", arguments: []any{"/workspace", "."}, want: "/workspace"},
		{name: "cleaned", arguments: []any{"/workspace", "./a//b/../c/"}, want: "/workspace/a/c"},
		{name: "absolute", arguments: []any{"/workspace", "/etc/../etc/hosts"}, want: "/etc/hosts"},
		{name: "dots in a name", arguments: []any{"/workspace", "..a/b.."}, want: "/workspace/..a/b.."},
		{name: "root", arguments: []any{"/", "a"}, want: "/a"},

		{name: "escape", arguments: []any{"/workspace", "../etc/passwd"}, position: 1, message: "Code: path_escapes"},
		{name: "escape and return", arguments: []any{"/workspace", "../workspace/a"}, position: 1, message: "Code: path_escapes"},
		{name: "escape from the root", arguments: []any{"/", "../a"}, position: 1, message: "Code: path_escapes"},
		{name: "late escape", arguments: []any{"/workspace", "a/../../workspace2"}, position: 1, message: "leads out of the workspace /workspace"},
		{name: "empty", arguments: []any{"/workspace", ""}, position: 1, message: "the path is empty"},
		{name: "NUL byte", arguments: []any{"/workspace", "a\x00b"}, position: 1, message: "NUL byte"},
		{name: "too long", arguments: []any{"/workspace", strings.Repeat("a", 4096)}, position: 1, message: "longer than 4095"},
		{name: "relative workspace", arguments: []any{"workspace", "a"}, position: 0, message: "not an absolute path"},
		{name: "unclean workspace", arguments: []any{"/workspace/", "a"}, position: 0, message: `write "/workspace"`},
		{name: "empty workspace", arguments: []any{"", "a"}, position: 0, message: "not an absolute path"},
	})
}

// TestDescriptions holds every function and parameter to a text of full sentences.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.GetFunctions(t.Context(), &tfprotov6.GetFunctionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(response.Functions) == 0 {
		t.Fatal("there are no functions")
	}
	for name, function := range response.Functions {
		if function.Summary == "" || !strings.HasSuffix(function.Description, ".") {
			t.Errorf("%s: %q, %q", name, function.Summary, function.Description)
		}
		parameters := function.Parameters
		if function.VariadicParameter != nil {
			parameters = append(parameters, function.VariadicParameter)
		}
		for _, parameter := range parameters {
			if !strings.HasSuffix(parameter.Description, ".") || parameter.DescriptionKind != tfprotov6.StringKindMarkdown {
				t.Errorf("%s, %s: %q", name, parameter.Name, parameter.Description)
			}
		}
	}
}
