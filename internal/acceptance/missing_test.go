package acceptance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

const missingCode = "sandbox_missing"

// TestAccMissing: a persistent sandbox that vanished stops the plan, and every way on that the
// error names works.
func TestAccMissing(t *testing.T) {
	onEach(t, func(f *fixture) {
		const gone, other = persistent + ".gone", persistent + ".other"
		base := []string{f.named("gone"), seed}
		rest := f.block(persistent, "other", f.named("other"), seed) + f.block(session, "short", f.named("short"))
		with := func(lines ...string) string {
			return f.block(persistent, "gone", append(slices.Clone(base), lines...)...) + rest
		}
		f.Config(with())
		f.settled()
		kept := f.mustHash(f.Unique("other"))
		f.vanish(f.Unique("gone"))
		f.vanish(f.Unique("short"))

		plan := f.Plan()
		plan.FailWith(missingCode)
		found := plan.Diagnostics.Errors()[0]
		for _, way := range []string{"`generation`", "state rm", "block", "-refresh=false", "on_missing"} {
			if !strings.Contains(found.Detail, way) {
				f.t.Errorf("the error does not name %s:\n%s", way, found)
			}
		}
		if found.Address != gone {
			f.t.Errorf("the error is on %s", found.Address)
		}
		f.Apply().FailWith(missingCode)
		f.Destroy().FailWith(missingCode)
		f.Plan(acctest.Target(other)).Empty()
		if f.exists(f.Unique("gone")) || f.exists(f.Unique("short")) {
			f.t.Error("something was made anew")
		}

		// Recorded as missing, it is an error without looking too.
		f.Apply(acctest.Args("-refresh-only")).Succeed()
		if status := f.Show().Text(gone, "status"); status != "missing" {
			f.t.Errorf("the status is %q", status)
		}
		f.Plan(acctest.NoRefresh()).FailWith(missingCode)

		// Starting over. The session sandbox comes back by itself.
		f.Config(with(`generation = 2`))
		f.Plan().Does("replace "+gone, "create "+session+".short").Warn("replaced")
		f.settled()
		if id := f.Show().Text(gone, "id"); id != f.id(f.Unique("gone")+"-g2") {
			f.t.Errorf("the id is %s", id)
		}

		// Keeping it in the state.
		f.vanish(f.Unique("gone") + "-g2")
		f.Config(with(`generation = 2`, `on_missing = "keep"`))
		f.Apply().Succeed().Warn(missingCode)
		f.Plan().Empty().Warn(missingCode)
		if f.exists(f.Unique("gone") + "-g2") {
			f.t.Error("a kept one was made anew")
		}
		f.Config(with(`generation = 2`))
		f.Plan().FailWith(missingCode)

		// Letting go of it, then making it anew.
		f.StateRm(gone).Succeed()
		f.settled()
		if !f.exists(f.Unique("gone") + "-g2") {
			f.t.Error("it was not made")
		}

		// Deleting the block.
		f.vanish(f.Unique("gone") + "-g2")
		f.Config(rest)
		f.Plan().Does("delete " + gone)
		f.settled()

		// And a destroy that does not look.
		f.vanish(f.Unique("other"))
		f.Destroy().FailWith(missingCode)
		f.Destroy(acctest.NoRefresh()).Succeed()
		if left := f.Show().Addresses(); len(left) > 0 {
			f.t.Errorf("the state still has %q", left)
		}
		if kept == "" {
			f.t.Error("there was no file to lose")
		}
	}, everywhere()...)
}

// TestAccComesBack: what was only out of sight is found again by the next plan.
func TestAccComesBack(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.block(persistent, "a", f.named("a"), seed))
		f.settled()
		hash := f.mustHash(f.Unique("a"))
		f.engine.Remove(f.Unique("a")) // the volume is there: lost, not missing
		f.Plan().Does("update " + persistent + ".a").Warn("interrupted")
		f.settled()
		if f.mustHash(f.Unique("a")) != hash {
			f.t.Error("the recovered sandbox has other data")
		}
	}, "docker")
}

// TestAccDestroyInRefusedStates: whatever stops a plan, a destroy that does not refresh goes
// through.
func TestAccDestroyInRefusedStates(t *testing.T) {
	for _, state := range []struct {
		name string
		code string
		// refuse leads into the state.
		refuse func(f *fixture)
	}{
		{"missing", missingCode, func(f *fixture) { f.vanish(f.Unique("a")) }},
		{"recorded as missing", missingCode, func(f *fixture) {
			f.vanish(f.Unique("a"))
			f.Apply(acctest.Args("-refresh-only")).Succeed()
		}},
		{"purge first", "purge_first", func(f *fixture) { f.Config(f.block(persistent, "a", f.named("b"))) }},
		{"generation lowered", "generation_lowered", func(f *fixture) { f.Config(f.block(persistent, "a", f.named("a"), `generation = 1`)) }},
		{"owner required", "owner_required", func(f *fixture) {
			f.ProviderBlock("data_dir = \"" + f.DataDir + "\"")
			f.Setenv("CI", "true")
			f.Config(f.block(persistent, "a", f.named("a"), `generation = 2`) + f.block(persistent, "new", f.named("new")))
		}},
		{"duplicate", "duplicate_workspace", func(f *fixture) {
			f.Config(f.block(persistent, "a", f.named("a"), `generation = 2`) + f.block(persistent, "b", f.named("a"), `generation = 2`))
		}},
	} {
		t.Run(state.name, func(t *testing.T) {
			onEach(t, func(f *fixture) {
				if state.name == "owner required" {
					f.ProviderBlock("data_dir = \"" + f.DataDir + "\"")
				}
				f.Config(f.block(persistent, "a", f.named("a"), `generation = 2`))
				if state.name == "missing" || state.name == "recorded as missing" || state.name == "purge first" {
					f.Config(f.block(persistent, "a", f.named("a")))
				}
				f.Apply().Succeed()
				state.refuse(f)
				f.Plan().FailWith(state.code)
				f.Destroy().FailWith(state.code)
				f.Destroy(acctest.NoRefresh()).Succeed()
				if left := f.Show().Addresses(); len(left) > 0 {
					f.t.Errorf("the state still has %q", left)
				}
			}, "local", "vercel")
		})
	}
}
