package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// setupOutputShown is how much of a failed step's output stands in the error, in bytes.
const setupOutputShown = 2048

// runSetup runs the steps in order and stops at the first that fails.
func (m *Manager) runSetup(ctx context.Context, request Request) error {
	for i, step := range request.Setup {
		result, err := m.Backend.Exec(ctx, request.Name, step)
		if err != nil {
			return &Refusal{Code: CodeSetupFailed, Detail: fmt.Sprintf("Setup step %d could not be run.", i+1), Err: err}
		}
		if result.ExitCode != 0 {
			return &Refusal{
				Code:   CodeSetupFailed,
				Detail: fmt.Sprintf("Setup step %d exited with status %d.%s", i+1, result.ExitCode, tail(result, request.Spec)),
			}
		}
	}
	return nil
}

// tail returns the end of what a failed command said, without secret values.
func tail(result backends.ExecResult, spec backends.Spec) string {
	output := strings.TrimSpace(string(result.Stderr))
	if output == "" {
		output = strings.TrimSpace(string(result.Stdout))
	}
	output = Redact(output, spec.Secrets)
	if len(output) > setupOutputShown {
		output = "… " + strings.ToValidUTF8(output[len(output)-setupOutputShown:], "")
	}
	if output == "" {
		return ""
	}
	return " It said: " + output
}

// Redact replaces every secret value in text. Values shorter than four bytes are left alone: they
// would turn the text into noise and hide nothing. Longer ones go first: a secret that starts with
// another one would leave its rest behind.
func Redact(text string, secrets map[string]string) string {
	names := slices.SortedFunc(maps.Keys(secrets), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(secrets[b]), len(secrets[a])), cmp.Compare(a, b))
	})
	for _, name := range names {
		if value := secrets[name]; len(value) >= 4 {
			text = strings.ReplaceAll(text, value, "("+name+" redacted)")
		}
	}
	return text
}
