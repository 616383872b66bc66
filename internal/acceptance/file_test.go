package acceptance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// inSandbox is a configuration of one sandbox with more resources inside, which name it by
// sandlot_persistent_sandbox.it.id.
func (f *fixture) inSandbox(more string) string {
	return f.block(persistent, "it", f.workspaceID("files")) + more
}

// content reads a file of the sandbox past the provider, "" when there is none.
func (f *fixture) content(file string) string {
	f.t.Helper()
	return f.read(f.nameOf(keptAddress), file)
}

func (f *fixture) holds(file, wanted string) {
	f.t.Helper()
	if found := f.content(file); found != wanted {
		f.t.Errorf("%s holds %q; expected %q", file, found, wanted)
	}
}

const seededFile = `
variable "path" { default = "notes.txt" }
resource "sandlot_file" "it" {
  sandbox_id = sandlot_persistent_sandbox.it.id
  path       = var.path
  content    = "seed"
  overwrite  = false
}
resource "sandlot_command" "it" {
  sandbox_id = sandlot_file.it.sandbox_id
  command    = ["sh", "-c", "echo edited > notes.txt; chmod 600 notes.txt"]
}
`

// TestFilePathInAnotherSpelling writes one path in several ways: the file that was edited inside
// stays as it is, its mode included. A real rename takes it along.
func TestFilePathInAnotherSpelling(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.inSandbox(seededFile))
		f.Apply().Succeed()
		f.Plan().Empty()
		for _, path := range []string{"./notes.txt", "/workspace/notes.txt"} {
			f.Apply(acctest.Var("path", path)).Succeed()
			f.holds("notes.txt", "edited\n")
			f.Plan(acctest.Var("path", path)).Empty()
		}
		f.Apply(acctest.Var("path", "moved/notes.txt")).Succeed()
		f.holds("moved/notes.txt", "edited\n")
		f.holds("notes.txt", "")
	}, everywhere()...)
}

// TestFilesMoveUp drops the first element of a list, so that each file takes the path of the one
// before: all that are left hold their own content. Where that content stands nowhere else the plan
// is refused.
func TestFilesMoveUp(t *testing.T) {
	onEach(t, func(f *fixture) {
		files := func(overwrite bool, names ...string) string {
			return f.inSandbox(fmt.Sprintf(`
resource "sandlot_file" "list" {
  count      = %d
  sandbox_id = sandlot_persistent_sandbox.it.id
  path       = "${["%s"][count.index]}.txt"
  content    = ["%s"][count.index]
  overwrite  = %t
  on_destroy = "purge"
}
`, len(names), strings.Join(names, `", "`), strings.Join(names, `", "`), overwrite))
		}
		f.Config(files(true, "a", "b", "c", "d"))
		f.Apply().Succeed()
		f.Config(files(true, "b", "c", "d"))
		f.Apply().Succeed()
		f.Plan().Empty()
		for _, name := range []string{"b", "c", "d"} {
			f.holds(name+".txt", name)
		}
		f.Config(files(false, "b", "c", "d"))
		f.Apply().Succeed()
		f.Config(files(false, "c", "b", "d"))
		f.Plan().FailWith("duplicate_file")
		f.holds("b.txt", "b")
	}, everywhere()...)
}

// TestReplacedFileBlocksNothing puts a directory and a link that leads out in the place of files: the
// owner's plan and destroy still work.
func TestReplacedFileBlocksNothing(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.inSandbox(`
resource "sandlot_file" "one" {
  sandbox_id = sandlot_persistent_sandbox.it.id
  path       = "one.txt"
  content    = "1"
}
resource "sandlot_file" "two" {
  sandbox_id = sandlot_persistent_sandbox.it.id
  path       = "two.txt"
  content    = "2"
}
resource "sandlot_command" "it" {
  sandbox_id = sandlot_persistent_sandbox.it.id
  command    = ["sh", "-c", "rm one.txt two.txt; mkdir one.txt; ln -s /etc/passwd two.txt"]
  depends_on = [sandlot_file.one, sandlot_file.two]
}
`))
		f.Apply().Succeed()
		f.Plan().Does("create sandlot_file.one", "create sandlot_file.two")
		f.Destroy().Succeed()
	}, everywhere()...)
}

// TestFailedCommandShowsNoSecret prints a secret before it fails.
func TestFailedCommandShowsNoSecret(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.block(persistent, "it", f.workspaceID("fails"),
			`secret_environment_wo = { TOKEN = "canary-in-output" }`, "secret_environment_wo_version = 1") + `
resource "sandlot_command" "it" {
  sandbox_id = sandlot_persistent_sandbox.it.id
  command    = ["sh", "-c", "echo $TOKEN; echo using $TOKEN >&2; exit 3"]
}
`)
		result := f.Apply()
		result.FailWith("command_failed")
		f.silent("the error", []byte(result.Stdout+result.Stderr), []string{"canary-in-output"})
		if !strings.Contains(result.Stdout, "TOKEN redacted") {
			f.t.Errorf("the error does not show what the command said:\n%s", result)
		}
	}, everywhere()...)
}
