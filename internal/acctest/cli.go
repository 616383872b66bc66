package acctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// CLI is one of the programs that read configurations.
type CLI struct {
	// Name is "terraform" or "opentofu", the part's name for testkit.Need.
	Name string
	// Path is the absolute path of the program.
	Path string
}

// Terraform tells whether this is HashiCorp's program.
func (c CLI) Terraform() bool { return c.Name == "terraform" }

// known are the supported programs: the variable that names each, and its own name.
var known = []struct{ name, variable, program, hint string }{
	{"terraform", "SANDLOT_TEST_TERRAFORM", "terraform", "put terraform 1.11 or later on PATH, or name it in SANDLOT_TEST_TERRAFORM"},
	{"opentofu", "SANDLOT_TEST_TOFU", "tofu", "run make .build/bin/tofu, put tofu on PATH, or name it in SANDLOT_TEST_TOFU"},
}

// CLIs returns the programs that are there. For each that is not, a subtest of its name is skipped,
// or fails where it is required.
func CLIs(t *testing.T) []CLI {
	t.Helper()
	var found []CLI
	for _, k := range known {
		path := look(k.variable, k.program)
		if path == "" {
			t.Run(k.name, func(t *testing.T) { testkit.Need(t, k.name, false, k.hint) })
			continue
		}
		found = append(found, CLI{Name: k.name, Path: path})
	}
	return found
}

// EachCLI runs a parallel subtest for each program.
func EachCLI(t *testing.T, test func(t *testing.T, cli CLI)) {
	t.Helper()
	for _, cli := range CLIs(t) {
		t.Run(cli.Name, func(t *testing.T) {
			t.Parallel()
			test(t, cli)
		})
	}
}

func look(variable, program string) string {
	candidates := []string{os.Getenv(variable), program, filepath.Join(Root(), ".build", "bin", program)}
	for _, candidate := range candidates {
		if candidate == "" {
			continue
		}
		path, err := exec.LookPath(candidate)
		if err != nil {
			continue
		}
		if absolute, err := filepath.Abs(path); err == nil {
			return absolute
		}
	}
	return ""
}
