package datasources_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

const twoBoxes = `
resource "sandlot_persistent_sandbox" "kept" {
  backend = "local"
  name    = "keep-b"
}

resource "sandlot_sandbox" "task" {
  backend = "local"
  name    = "task-a"
}
`

const listings = `
data "sandlot_sandboxes" "ours" {
  backend = "local"
}

data "sandlot_sandboxes" "all" {
  backend    = "local"
  all_owners = true
}

data "sandlot_sandboxes" "persistent" {
  backend = "local"
  kind    = "persistent"
}

data "sandlot_sandboxes" "prefix" {
  backend     = "local"
  name_prefix = "task-"
}

data "sandlot_sandboxes" "none" {
  backend     = "local"
  kind        = "persistent"
  name_prefix = "task-"
}
`

func TestAccSandboxes(t *testing.T) {
	t.Parallel()
	testkit.Bubblewrap(t)
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		w := acctest.NewWorkspace(t, cli, "")
		w.Config(listings)
		w.Apply().Succeed()
		if _, err := os.Lstat(w.DataDir); err == nil {
			t.Error("looking made the data directory")
		}
		names(t, w.Show(), "ours")

		w.Config(twoBoxes)
		w.Apply().Succeed()
		other := w.Beside()
		other.Owner = "other-" + w.Tag
		other.Provider("")
		other.Config("resource \"sandlot_sandbox\" \"theirs\" {\n  backend = \"local\"\n  name    = \"a-theirs\"\n}\n")
		other.Apply().Succeed()

		w.Config(twoBoxes + listings)
		untouched(t, w, func() {
			w.Apply().Succeed()
			w.Plan().Empty()
		})
		state := w.Show()
		names(t, state, "ours", "keep-b", "task-a")
		names(t, state, "all", "a-theirs", "keep-b", "task-a")
		names(t, state, "persistent", "keep-b")
		names(t, state, "prefix", "task-a")
		names(t, state, "none")
		kept := rows(t, state, "persistent")[0]
		made, _ := kept["created_at"].(string)
		if _, err := time.Parse(time.RFC3339, made); err != nil {
			t.Error(err)
		}
		delete(kept, "created_at")
		for name, wanted := range map[string]string{
			"id": "local/keep-b", "name": "keep-b", "kind": "persistent", "owner": w.Owner, "status": "running",
			"record_id": state.Text("sandlot_persistent_sandbox.kept", "record_id"),
		} {
			if kept[name] != wanted {
				t.Errorf("%s is %v, want %q", name, kept[name], wanted)
			}
		}
		if owner := rows(t, state, "all")[0]["owner"]; owner != other.Owner {
			t.Errorf("the owner of the other sandbox is %v", owner)
		}

		// What no configuration holds any more is still listed.
		w.Config("\n")
		w.Apply().Succeed().Warn("retained")
		w.Config(listings)
		w.Apply().Succeed()
		names(t, w.Show(), "ours", "keep-b")

		for _, prefix := range []string{"-a", "a_b", "Task", strings.Repeat("a", 64)} {
			w.Config("data \"sandlot_sandboxes\" \"a\" {\n  backend     = \"local\"\n  name_prefix = \"" + prefix + "\"\n}\n")
			if d := w.Validate().FailWith("invalid_value").Diagnostics.Errors()[0]; d.Attribute() != "name_prefix" {
				t.Errorf("the error on %q is on %q", prefix, d.Attribute())
			}
		}
	})
}

// TestAccSandboxesUnreachable holds that a silent engine is never an empty list.
func TestAccSandboxesUnreachable(t *testing.T) {
	t.Parallel()
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		w := acctest.NewWorkspace(t, cli, "")
		w.Provider("  docker = { host = \"unix:///nonexistent/engine.sock\" }\n")
		failsOn(t, w, "data \"sandlot_sandboxes\" \"a\" {\n  backend = \"docker\"\n}\n", "not_running", "backend")
	})
}

func rows(t *testing.T, state *acctest.State, label string) []map[string]any {
	t.Helper()
	list, ok := state.Values("data.sandlot_sandboxes." + label)["sandboxes"].([]any)
	if !ok {
		t.Fatalf("%s has no list", label)
	}
	var found []map[string]any
	for _, element := range list {
		row, ok := element.(map[string]any)
		if !ok {
			t.Fatalf("%s holds %T", label, element)
		}
		found = append(found, row)
	}
	return found
}

func names(t *testing.T, state *acctest.State, label string, wanted ...string) {
	t.Helper()
	var found []string
	for _, row := range rows(t, state, label) {
		name, _ := row["name"].(string)
		found = append(found, name)
	}
	if !slices.Equal(found, wanted) {
		t.Errorf("%s lists %q, want %q", label, found, wanted)
	}
}
