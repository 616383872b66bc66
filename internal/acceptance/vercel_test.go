package acceptance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// vercelBox is a persistent sandbox with all that only a platform has.
func (f *fixture) vercelBox(lines ...string) string {
	return f.block(persistent, "it", append([]string{f.named("box"), seed}, lines...)...)
}

const vercelAddress = persistent + ".it"

// TestVercelLife carries a persistent sandbox through its life: made, changed in place by every
// attribute that can be, stopped, started, retained, taken back and purged. One name, one identity.
func TestVercelLife(t *testing.T) {
	onOne(t, func(f *fixture) {
		name := f.Unique("box")
		f.Setenv("TF_VAR_token", "canary-"+f.Tag)
		secret := []string{`secret_environment_wo = { TOKEN = var.token }`, `secret_environment_wo_version = 1`}
		f.Config(secretVariable + f.vercelBox(append(secret, `environment = { A = "1" }`)...))
		f.settled()
		hash, record := f.mustHash(name), f.mark(name, "record")
		if got := f.cloud.must(name); !got.Persistent || got.Env["A"] != "1" || got.Env["TOKEN"] != "canary-"+f.Tag || got.Tags["sandlot-owner"] != f.Owner {
			f.t.Errorf("the sandbox is %+v", got)
		}
		if strings.Contains(string(f.StateFile()), "canary-") {
			f.t.Error("the state holds a secret")
		}

		changed := append(slices.Clone(secret), `environment = { A = "2" }`, `cpus = 4`, `labels = { team = "a" }`, `timeout = "20m"`,
			`ports = [{ port = 3000, public = true }]`, `network = { mode = "restricted", allow_domains = ["example.com"] }`,
			`snapshot_retention = { keep_last = 3 }`)
		f.Config(secretVariable + f.vercelBox(changed...))
		f.Plan().Does("update " + vercelAddress)
		f.settled()
		if got := f.cloud.must(name); got.Env["A"] != "2" || got.Env["TOKEN"] != "canary-"+f.Tag || got.Tags["team"] != "a" {
			f.t.Errorf("after the change the sandbox is %+v", got)
		}
		endpoints, _ := f.Show().Values(vercelAddress)["endpoints"].(map[string]any)
		if address, _ := endpoints["3000/tcp"].(string); !strings.HasPrefix(address, "https://") {
			f.t.Errorf("the endpoints are %v", endpoints)
		}

		f.Config(secretVariable + f.vercelBox(append(slices.Clone(changed), `desired_state = "stopped"`)...))
		f.settled()
		if f.running(name) {
			f.t.Error("it runs")
		}
		f.Config(secretVariable + f.vercelBox(append(slices.Clone(changed), `desired_state = "running"`)...))
		f.settled()
		if f.mustHash(name) != hash || f.mark(name, "record") != record {
			f.t.Error("the data or the record changed")
		}

		f.Destroy().Succeed()
		if f.running(name) {
			f.t.Error("a retained sandbox runs")
		}
		f.Config(secretVariable + f.vercelBox(append(slices.Clone(changed), `desired_state = "running"`, `on_destroy = "purge"`)...))
		f.settled()
		if f.mustHash(name) != hash {
			f.t.Error("the data changed")
		}
		f.Destroy().Succeed()
		left := f.cloud.server.Inventory()
		for _, snapshot := range left.Snapshots {
			if !snapshot.Deleted {
				f.t.Errorf("the snapshot %s is left", snapshot.ID)
			}
		}
		if len(left.Sandboxes) > 0 {
			f.t.Errorf("there are %+v", left.Sandboxes)
		}
	}, "vercel")
}

// TestVercelLooking: a plan and a refresh of stopped sandboxes with files in them make no session.
func TestVercelLooking(t *testing.T) {
	onOne(t, func(f *fixture) {
		name := f.Unique("box")
		f.Config(f.vercelBox() + `
resource "sandlot_file" "it" {
  sandbox_id = sandlot_persistent_sandbox.it.id
  path       = "notes/a.txt"
  content    = "text"
}
resource "sandlot_command" "it" {
  sandbox_id = sandlot_file.it.sandbox_id
  command    = ["sh", "-c", "pwd; cat notes/a.txt"]
}
`)
		f.settled()
		if output := f.Show().Text("sandlot_command.it", "stdout"); output != "/workspace\ntext" {
			f.t.Errorf("the command printed %q", output)
		}
		f.cloud.stop(name)
		before := f.cloud.sessions()
		f.Plan().Empty()
		f.Apply(acctest.Args("-refresh-only")).Succeed()
		f.Plan().Empty()
		if made := f.cloud.sessions() - before; made != 0 {
			f.t.Errorf("looking made %d sessions", made)
		}
	}, "vercel")
}

// TestVercelImport brings a sandbox into a state of its own; the plan after it is empty.
func TestVercelImport(t *testing.T) {
	onOne(t, func(f *fixture) {
		f.Config(f.vercelBox(`cpus = 2`, `environment = { A = "1" }`, `vercel = { region = "iad1" }`, `timeout = "300s"`))
		f.settled()
		f.StateRm(vercelAddress)
		f.Import(vercelAddress, f.id(f.Unique("box"))).Succeed()
		f.Plan().Empty()
	}, "vercel")
}

// TestVercelOutside: what is changed by hand shows as that and nothing else, and an apply mends it; what
// is gone stops the plan.
func TestVercelOutside(t *testing.T) {
	onOne(t, func(f *fixture) {
		name := f.Unique("box")
		f.Config(f.vercelBox(`labels = { team = "a" }`, `environment = { A = "1" }`))
		f.settled()
		f.cloud.relabel(name, "team", "b")
		f.Plan().Does("update " + vercelAddress)
		f.settled()
		if got := f.cloud.must(name).Tags["team"]; got != "a" {
			f.t.Errorf("the label is %q", got)
		}
		f.vanish(name)
		f.Plan().FailWith(missingCode)
		if f.exists(name) {
			f.t.Error("it was made anew")
		}
	}, "vercel")
}

// TestVercelKindOutside: made non-persistent outside, a sandbox would lose its files with its next stop. The
// plan says so, and an apply makes it persistent again before that.
func TestVercelKindOutside(t *testing.T) {
	onOne(t, func(f *fixture) {
		name := f.Unique("box")
		f.Config(f.vercelBox())
		f.settled()
		hash, fleeting := f.mustHash(name), false
		_, err := f.cloud.client.UpdateSandbox(f.t.Context(), name, api.UpdateRequest{Persistent: &fleeting})
		f.cloud.check(err)
		plan := f.Plan().Does("update " + vercelAddress)
		mentions(f, fmt.Sprint(plan.Diagnostics.Warnings()), "no longer so, by somebody outside")
		f.settled()
		f.stopOutside(name)
		if !f.cloud.must(name).Persistent || f.mustHash(name) != hash {
			f.t.Error("it is not persistent again, or lost its file")
		}
	}, "vercel")
}

// TestVercelSnapshotGone: a stopped sandbox whose snapshot is gone is still there, and says that it cannot be
// resumed. It is neither made anew nor deleted unasked; a new generation starts over beside it.
func TestVercelSnapshotGone(t *testing.T) {
	onOne(t, func(f *fixture) {
		name := f.Unique("box")
		f.Config(f.vercelBox())
		f.settled()
		f.stopOutside(name)
		f.loseSnapshot(f.cloud.must(name).Snapshot)
		f.Plan().Empty()
		f.Apply(acctest.Args("-refresh-only")).Succeed()
		if resumable := f.Show().Text(vercelAddress, "resumable"); resumable != "false" {
			f.t.Errorf("resumable is %s", resumable)
		}
		f.Config(f.vercelBox(`desired_state = "running"`))
		mentions(f, errorText(f, f.Apply().FailWith("expired"), "expired"), name, "expired or was deleted")
		if made := f.cloud.sessions(); made != 1 || !f.exists(name) {
			f.t.Errorf("there were %d sessions, and that the sandbox exists is %t", made, f.exists(name))
		}
		f.Config(f.vercelBox(`desired_state = "running"`, `generation = 2`))
		f.Plan().Does("replace " + vercelAddress)
		f.settled()
		if !f.exists(name) || f.mustHash(name+"-g2") == "" {
			f.t.Error("the new generation is not beside the old one")
		}
	}, "vercel")
}

// TestVercelCredentials: a plan of what is new needs no credentials, and an apply says which are absent.
func TestVercelCredentials(t *testing.T) {
	onOne(t, func(f *fixture) {
		f.Setenv("VERCEL_TEAM_ID", "")
		f.Setenv("VERCEL_PROJECT_ID", "")
		f.Config(f.vercelBox())
		f.Plan().Does("create " + vercelAddress)
		result := f.Apply()
		result.FailWith("unauthorized")
		for _, absent := range []string{"VERCEL_TEAM_ID", "VERCEL_PROJECT_ID"} {
			if !strings.Contains(result.Stdout, absent) {
				f.t.Errorf("the error does not name %s:\n%s", absent, result)
			}
		}
		if made := f.cloud.sessions(); made != 0 {
			f.t.Errorf("%d sessions were made", made)
		}
	}, "vercel")
}

// TestVercelBaseSnapshot bakes on the platform, which chooses the snapshot's id, and makes a sandbox from
// it. Nothing else of the bake is left.
func TestVercelBaseSnapshot(t *testing.T) {
	onOne(t, func(f *fixture) {
		f.Config(f.block(baseSnapshot, "it", `app = "agent"`, `template = "plain"`,
			`manifest = { schema_version = 1, name = "plain", commands = [["sh", "-c", "echo baked > baked.txt"]] }`) +
			f.block(persistent, "it", f.named("box"), `source = { snapshot_id = sandlot_base_snapshot.it.snapshot_id }`,
				`setup = [{ command = ["sh", "-c", "grep baked baked.txt"] }]`))
		f.settled()
		left := f.cloud.server.Inventory()
		if len(left.Sandboxes) != 1 || len(left.Snapshots) != 1 || left.Snapshots[0].Deleted || left.Snapshots[0].ID != f.Show().Text(baseSnapshot+".it", "snapshot_id") {
			f.t.Errorf("there are %+v", left)
		}
	}, "vercel")
}
