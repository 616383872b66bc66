package diagnostics

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// kinds reads the constants of type ErrorKind out of the source, so that none is forgotten.
func kinds(t *testing.T) []backends.ErrorKind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../backends/errors.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all []backends.ErrorKind
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		kind, isKind := spec.Type.(*ast.Ident)
		literal, isLiteral := spec.Values[0].(*ast.BasicLit)
		if isKind && isLiteral && kind.Name == "ErrorKind" {
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, backends.ErrorKind(text))
		}
		return true
	})
	if len(all) < 15 {
		t.Fatalf("only %d kinds were found: %q", len(all), all)
	}
	return all
}

// wantDiagnostic checks the code, and that the parts of the detail come in their order.
func wantDiagnostic(t *testing.T, d diag.Diagnostic, code string, parts ...string) {
	t.Helper()
	if !strings.HasSuffix(d.Detail(), "\n\nCode: "+code) || strings.Count(d.Detail(), "Code: ") != 1 {
		t.Errorf("the detail does not end in the code %s:\n%s", code, d.Detail())
	}
	rest := d.Detail()
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("%q does not stand in its place:\n%s", part, d.Detail())
		}
		rest = after
	}
}

// TestEveryKindHasItsCode: each kind of failure becomes one diagnostic that says what happened, what
// is left, what to do and the cause, under a code that never changes.
func TestEveryKindHasItsCode(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range kinds(t) {
		code := string(kind)
		if seen[code] || code != strings.ToLower(code) || strings.ContainsAny(code, " -") {
			t.Errorf("%q is no code, or is used twice", code)
		}
		seen[code] = true
		failure := &backends.Error{
			Kind: kind, Backend: "docker", Operation: "create sandbox", Object: "box", Detail: "It did not work.",
			Remedy: "Try this.", Left: []string{"the volume box-workspace"}, Err: errors.New("the cause"),
		}
		parts := []string{
			`The docker backend could not create sandbox "box": ` + strings.ReplaceAll(code, "_", " ") + ". It did not work.",
			"Left behind: the volume box-workspace.", "Try this.", "Cause: the cause",
		}
		for _, err := range []error{failure, fmt.Errorf("in a step: %w", failure)} {
			d := FromError(`Unable to Create Sandbox "box"`, err)
			wantDiagnostic(t, d, code, parts...)
			if d.Severity() != diag.SeverityError || d.Summary() != `Unable to Create Sandbox "box"` {
				t.Errorf("%s: got %v, %q", code, d.Severity(), d.Summary())
			}
			placed, ok := FromAttributeError(path.Root("name"), "Unable", err).(diag.DiagnosticWithPath)
			if !ok || !placed.Path().Equal(path.Root("name")) {
				t.Errorf("%s: it is not on its attribute", code)
				continue
			}
			wantDiagnostic(t, placed, code, parts...)
		}
	}
}

// TestOtherFailuresHaveCodes covers what no backend reports.
func TestOtherFailuresHaveCodes(t *testing.T) {
	t.Parallel()
	refusal := &sandbox.Refusal{Code: sandbox.CodeMissing, Detail: "It is gone.", Remedy: "Choose.", Err: errors.New("seen by nobody")}
	wantDiagnostic(t, FromError("Unable", fmt.Errorf("wrapped: %w", refusal)), "sandbox_missing", "It is gone.", "Choose.", "Cause: seen by nobody")
	for target, says := range map[error]string{
		store.ErrNewerSchema: "Upgrade the provider", store.ErrCorrupt: "from a backup", store.ErrReadOnly: "permissions",
		store.ErrFull: "no space left", store.ErrConflict: "Apply again",
	} {
		wantDiagnostic(t, FromError("Unable", fmt.Errorf("the store: %w", target)), StoreFailed, says, "Cause: the store")
	}
	wantDiagnostic(t, FromError("Unable", errors.New("something else")), string(backends.Failed), "something else")
	for _, d := range []diag.Diagnostic{
		Warning(Retained, "Kept", "It stays.\n\n"), AttributeWarning(path.Root("a"), Retained, "Kept", "It stays. "), AttributeError(path.Root("a"), Retained, "Kept", "It stays."),
	} {
		wantDiagnostic(t, d, "retained", "It stays.")
	}
}
