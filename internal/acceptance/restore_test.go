package acceptance_test

import (
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// TestAccRestoreOrder: with a row, a workspace comes from what has its data, in this order: its name on a
// platform that keeps one, its live session, its own snapshot. Never from the base, and never empty. Without
// a row it comes from the base, and without that from the source.
func TestAccRestoreOrder(t *testing.T) {
	onOne(t, func(f *fixture) {
		base := f.lane("it", []string{says("base")})
		kinds := map[string]string{"name": `kind = "persistent"`, "session": `kind = "session"`, "snapshot": `kind = "session"`}
		config := func(text string) string {
			all := f.lane("it", []string{says(text)})
			for label, kind := range kinds {
				all += f.runtime(label, label, kind, seed)
			}
			return all + f.runtime("bare", "bare", "base_snapshot = null", f.source())
		}
		f.Config(base)
		f.Apply().Succeed()
		f.Config(config("base"))
		f.settled()
		state := f.Show()
		names, hashes, records := map[string]string{}, map[string]string{}, map[string]string{}
		for label := range kinds {
			address := workspaceRuntime + "." + label
			names[label], records[label] = state.Text(address, "name"), state.Text(address, "record_id")
			hashes[label] = f.mustHash(names[label])
			if found := f.read(names[label], "base.txt"); found != "base\n" {
				f.t.Errorf("without a row %s begins with %q", label, found)
			}
		}
		if found := f.read(state.Text(workspaceRuntime+".bare", "name"), "base.txt"); found != "" {
			f.t.Errorf("without a base it begins with %q", found)
		}

		// Another state finds the rows: by name, stopped; live; and saved, its session ended.
		f.stopOutside(names["name"])
		f.Destroy(acctest.Target(workspaceRuntime + ".snapshot")).Succeed()
		live := f.sessionOf(names["session"])
		other := f.beside(config("other base"))
		other.Apply().Succeed()
		other.Plan().Empty()
		after := other.Show()
		for label := range kinds {
			address := workspaceRuntime + "." + label
			if after.Text(address, "record_id") != records[label] || after.Text(address, "name") != names[label] || f.mustHash(names[label]) != hashes[label] || !f.running(names[label]) {
				f.t.Errorf("%s is not what it was, or does not run: %v", label, after.Values(address))
			}
			if found := f.read(names[label], "base.txt"); found != "base\n" {
				f.t.Errorf("with a row %s has the base %q", label, found)
			}
		}
		if f.sessionOf(names["session"]) != live {
			f.t.Error("the live session was not taken over, but made anew")
		}

		// The base gone, and what has the data: nothing is left to restore from.
		for _, label := range []string{"name", "session"} {
			f.vanish(names[label])
		}
		boxes := len(f.boxes())
		f.beside(f.runtime("name", "name", kinds["name"], "base_snapshot = null", f.source())).Apply().FailWith(lostCode)
		f.beside(f.runtime("session", "session", kinds["session"], "base_snapshot = null", f.source())).Apply().FailWith(lostCode)
		f.haveBoxes(boxes)
	}, "local", "vercel")
}

// sessionOf is the id of the present session, as the backend has it.
func (f *fixture) sessionOf(name string) string {
	f.t.Helper()
	if f.cloud != nil {
		return f.cloud.must(name).Session
	}
	id, _ := f.readRecord(name)["session_id"].(string)
	return id
}

// TestAccWokenSleepsAgain: what an apply does in a stopped sandbox wakes it once, and it is stopped again after
// it, with one session more than there were; what only looks makes none.
func TestAccWokenSleepsAgain(t *testing.T) {
	onOne(t, func(f *fixture) {
		config := func(text string) string {
			return f.block(persistent, "it", f.workspaceID("asleep"), `desired_state = "stopped"`, seed) + `
resource "sandlot_file" "it" {
  sandbox_id = sandlot_persistent_sandbox.it.id
  path       = "notes.txt"
  content    = "` + text + `"
}
`
		}
		f.Config(config("one"))
		f.settled()
		name := f.nameOf(keptAddress)
		hash := f.mustHash(name)
		watched := f.watch()
		f.Plan().Empty()
		f.Apply(acctest.Args("-refresh-only")).Succeed()
		f.PlanDestroy().Succeed()
		watched.onlyReads("looking at a stopped sandbox")

		f.Config(config("two"))
		f.Plan().Does("update sandlot_file.it")
		watched.onlyReads("the plan of a file in it")
		before := f.cloud.sessions()
		f.Apply().Succeed()
		if made := f.cloud.sessions() - before; made != 1 {
			f.t.Errorf("a file was written in %d sessions", made)
		}
		if f.running(name) || f.mustHash(name) != hash || f.read(name, "notes.txt") != "two" {
			f.t.Error("it does not sleep again, or its files are not what they should be")
		}
		f.Plan().Empty()
		f.Config(f.block(persistent, "it", f.workspaceID("asleep"), `desired_state = "stopped"`, seed))
		f.settled()
		if f.running(name) {
			f.t.Error("the file let go of, it runs")
		}
	}, "vercel")
}
