package acceptance_test

import (
	"fmt"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

const lostCode = "workspace_lost"

// TestAccSessionRuntime: the files of a session outlive its stop, its destroy under retain, and its
// loss, as far as they were saved.
func TestAccSessionRuntime(t *testing.T) {
	onOne(t, func(f *fixture) {
		base := f.lane("it", []string{says("base")})
		with := func(lines ...string) string {
			return base + f.runtime("it", "w", append([]string{`kind = "session"`, seed}, lines...)...)
		}
		f.Config(with())
		f.settled()
		state := f.Show()
		name, record := state.Text(work, "name"), state.Text(work, "record_id")
		hash := f.mustHash(name)
		if state.Text(work, "handle_kind") != "session" {
			f.t.Errorf("the handle is of the kind %q", state.Text(work, "handle_kind"))
		}
		same := func(when string) {
			f.t.Helper()
			if found := f.mustHash(name); found != hash || f.Show().Text(work, "record_id") != record {
				f.t.Errorf("%s: the data or the record is another one", when)
			}
			if handle := f.Show().Text(work, "handle"); f.cloud != nil && handle != f.sessionOf(name) {
				f.t.Errorf("%s: the handle is %q, and the session %q", when, handle, f.sessionOf(name))
			}
		}
		f.Config(with(`desired_state = "stopped"`))
		f.Plan().Does("update " + work).NoWarning()
		f.settled()
		stopped := f.Show()
		if f.running(name) || stopped.Text(work, "state") != "stopped" || (stopped.Text(work, "current_snapshot_id") == "") != f.docker() {
			f.t.Errorf("stopped it is %v", stopped.Values(work))
		}
		f.Config(with(`desired_state = "running"`))
		f.Plan().Does("update " + work)
		f.settled()
		same("started again")

		f.Destroy(acctest.Target(work)).Succeed().Warn("retained")
		f.Config(with())
		f.settled()
		same("declared again")

		// A checkpoint leaves it running, whatever it costs the backend.
		for i, state := range []string{`desired_state = "running"`, ""} {
			f.Config(with(fmt.Sprintf("checkpoint_trigger = \"checkpoint-%d\"", i), state))
			f.settled()
			same("after a checkpoint")
			if !f.running(name) {
				f.t.Errorf("a checkpoint stopped the session, with %q", state)
			}
		}

		// Lost with a checkpoint: a visible update that says what it restores and what is lost.
		f.Config(with(`checkpoint_trigger = "1"`))
		f.settled()
		checkpoint := f.Show().Text(work, "current_snapshot_id")
		f.vanish(name)
		plan := f.Plan().Does("update " + work).Warn("interrupted")
		mentions(f, plan.Diagnostics.Warnings().Code("interrupted")[0].Detail, checkpoint, "is lost then")
		f.settled()
		same("restored")

		// Lost with its snapshot: a conflict, and nothing is made.
		f.vanish(name)
		f.loseSnapshot(f.Show().Text(work, "current_snapshot_id"))
		mentions(f, errorText(f, f.Plan().FailWith(lostCode), lostCode), "raise `generation` to 2", "state rm")
		f.Apply().FailWith(lostCode)
		f.haveBoxes(0)
		f.StateRm(work).Succeed()
		f.Apply().FailWith(lostCode)
		f.haveBoxes(0)
		f.Config(with(`generation = 2`))
		f.settled()
		if f.read(name+"-g2", "base.txt") != "base\n" {
			f.t.Error("the new generation does not start from the base")
		}
	}, "local", "vercel")
}

// TestAccSavesAreRetained: each stop of a session saves it. All of that stays, unless snapshot_retention says
// otherwise, and a purge takes it all along.
func TestAccSavesAreRetained(t *testing.T) {
	onOne(t, func(f *fixture) {
		with := func(state string, lines ...string) string {
			return f.runtime("it", "w", append([]string{"base_snapshot = null", f.source(), `kind = "session"`, purgeLine, fmt.Sprintf("desired_state = %q", state)}, lines...)...)
		}
		cycle := func(lines ...string) {
			for _, state := range []string{"stopped", "running"} {
				f.Config(with(state, lines...))
				f.settled()
			}
		}
		f.Config(with("running"))
		f.settled()
		cycle()
		cycle()
		f.haveSnapshots(2)
		cycle(`snapshot_retention = { keep_last = 2 }`)
		f.haveSnapshots(2)
		cycle(`snapshot_retention = { keep_last = 1 }`)
		f.haveSnapshots(1)
		cycle()
		f.haveSnapshots(2)
		f.Destroy().Succeed()
		f.nothingLeft()
	}, "local", "vercel")
}

// TestAccSessionRuntimeOnEngine is the part of it where an engine keeps the files of a stopped session.
func TestAccSessionRuntimeOnEngine(t *testing.T) {
	onOne(t, func(f *fixture) {
		with := func(lines ...string) string {
			return f.runtime("it", "w", append([]string{"base_snapshot = null", f.source(), `kind = "session"`, seed}, lines...)...)
		}
		f.Config(with())
		f.settled()
		name := f.nameOf(work)
		hash := f.mustHash(name)
		f.Config(with(`desired_state = "stopped"`, `checkpoint_trigger = "1"`))
		f.settled()
		f.Destroy().Succeed().Warn("retained")
		f.Config(with(`desired_state = "running"`, `checkpoint_trigger = "1"`))
		f.settled()
		if f.mustHash(name) != hash || !f.running(name) {
			f.t.Error("the session did not come back with its files")
		}
		f.vanish(name)
		f.Plan().Does("update " + work).Warn("interrupted")
		f.settled()
		if f.mustHash(name) != hash {
			f.t.Error("the session was not restored from its checkpoint")
		}
	}, "docker")
}

// TestAccLostRuntime: a persistent workspace that is gone is an error with three ways on, never an
// empty one in its place.
func TestAccLostRuntime(t *testing.T) {
	onOne(t, func(f *fixture) {
		base := f.lane("it", []string{says("base")})
		with := func(lines ...string) string {
			return base + f.runtime("it", "w", append([]string{seed}, lines...)...) + f.runtime("other", "other")
		}
		f.Config(with())
		f.settled()
		name := f.nameOf(work)
		f.vanish(name)
		plan := f.Plan().FailWith(lostCode)
		mentions(f, errorText(f, plan, lostCode), "raise `generation` to 2", "state rm", "on_missing", "-refresh=false")
		if found := plan.Diagnostics.Errors()[0]; found.Address != work {
			f.t.Errorf("the error is on %s", found.Address)
		}
		f.Plan(acctest.Target(workspaceRuntime + ".other")).Empty()
		f.Destroy().FailWith(lostCode)
		f.haveBoxes(1)
		f.Config(with(`on_missing = "keep"`))
		f.Apply().Succeed()
		f.Plan().Empty()
		f.Config(with())
		// Another state finds the row, and no data: a conflict at its apply, too.
		other := f.beside(f.runtime("it", "w", "base_snapshot = null", f.source()))
		other.Apply().FailWith(lostCode)
		f.haveBoxes(1)

		f.Config(with(`generation = 2`))
		f.Plan().Does("replace " + work).Warn("replaced")
		f.settled()
		if found := fmt.Sprint(f.read(name+"-g2", "base.txt"), f.exists(name)); found != "base\nfalse" {
			f.t.Errorf("the second generation: %q", found)
		}
	}, everywhere()...)
}
