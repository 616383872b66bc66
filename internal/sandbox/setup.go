package sandbox

import (
	"context"
	"fmt"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// OutputShown is how much of a failed command's output stands in the error, in bytes.
const OutputShown = 2048

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
				Detail: fmt.Sprintf("Setup step %d exited with status %d.%s", i+1, result.ExitCode, Said(result, request.Spec.Secrets)),
			}
		}
	}
	return nil
}

// Said returns the end of what a failed command said, without secret values, as a sentence to append;
// "" when it said nothing.
func Said(result backends.ExecResult, secrets map[string]string) string {
	if output := Tail(result, secrets); output != "" {
		return " It said: " + output
	}
	return ""
}

// Tail returns the end of what a command said, without secret values.
func Tail(result backends.ExecResult, secrets map[string]string) string {
	output := strings.TrimSpace(string(result.Stderr))
	if output == "" {
		output = strings.TrimSpace(string(result.Stdout))
	}
	output = backends.Redact(output, secrets)
	if len(output) > OutputShown {
		output = "… " + strings.ToValidUTF8(output[len(output)-OutputShown:], "")
	}
	return output
}
