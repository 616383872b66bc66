package acceptance_test

import (
	"fmt"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// TestAccPurgeFirst: a data holder changes its type only in two applies, the first of which says
// that the data may go.
func TestAccPurgeFirst(t *testing.T) {
	onEach(t, func(f *fixture) {
		const address = persistent + ".a"
		f.Config(f.block(persistent, "a", f.named("a"), seed))
		f.settled()
		hash := f.mustHash(f.Unique("a"))

		// Both at once is refused: the state still says retain.
		f.Config(f.block(persistent, "a", f.named("b"), seed, `on_destroy = "purge"`))
		f.Plan().FailWith("purge_first")
		f.Apply().FailWith("purge_first")
		if f.mustHash(f.Unique("a")) != hash {
			f.t.Error("a refused change touched the data")
		}

		f.Config(f.block(persistent, "a", f.named("a"), seed, `on_destroy = "purge"`))
		f.Plan().Does("update " + address).NoWarning()
		f.settled()
		f.Config(f.block(persistent, "a", f.named("b"), seed))
		plan := f.Plan()
		plan.Does("replace " + address).Warn("data_lost")
		planned := plan.JSON().Resource(address)
		if planned.Change.Before["on_destroy"] != "purge" || fmt.Sprint(planned.Change.ReplacePaths) != "[[name]]" {
			f.t.Errorf("a policy could not see the purge: before %v, replaced for %v", planned.Change.Before["on_destroy"], planned.Change.ReplacePaths)
		}
		f.settled()
		if f.exists(f.Unique("a")) {
			f.t.Error("the purged one is still there")
		}
		if f.docker() {
			if left := f.engine.Objects("sandlot.name=" + f.Unique("a")); len(left.Volumes)+len(left.Images)+len(left.Containers) > 0 {
				f.t.Errorf("the purge left %+v", left)
			}
		}
	}, everywhere()...)
}

// TestAccUnknownTypeAtPlan: a value that is not known yet replaces nothing. It is judged at apply.
func TestAccUnknownTypeAtPlan(t *testing.T) {
	onEach(t, func(f *fixture) {
		const address = persistent + ".a"
		f.Config(`
variable "workspace" {
  type = string
}
variable "round" {
  type = string
}
resource "terraform_data" "id" {
  input            = var.workspace
  triggers_replace = var.round
}
` + f.block(persistent, "a", `workspace_id = terraform_data.id.output`, seed, `labels = { round = var.round }`))
		with := func(workspace, round string) []acctest.Option {
			return []acctest.Option{acctest.Var("workspace", f.Unique(workspace)), acctest.Var("round", round)}
		}
		f.settled(with("a", "1")...)
		before := f.Show()
		name := before.Text(address, "name")
		hash := f.mustHash(name)

		// The same value after all.
		f.Plan(with("a", "2")...).Does("replace terraform_data.id", "update "+address)
		f.settled(with("a", "2")...)
		// Another one.
		f.Plan(with("b", "3")...).Does("replace terraform_data.id", "update "+address)
		f.Apply(with("b", "3")...).FailWith("purge_first")
		f.Plan(with("b", "3")...).FailWith("purge_first")
		after := f.Show()
		if after.Text(address, "id") != before.Text(address, "id") || f.mustHash(name) != hash {
			f.t.Error("the refused change touched the sandbox")
		}
		f.Destroy(append(with("b", "3"), acctest.NoRefresh())...).Succeed()
	}, everywhere()...)
}

// TestAccDestroyWarnings: each destroy says at plan what stays or what is lost.
func TestAccDestroyWarnings(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.block(persistent, "keep", f.named("keep"), seed) +
			f.block(persistent, "lose", f.named("lose"), `on_destroy = "purge"`, seed) +
			f.block(session, "keep", f.named("session"), seed) +
			f.block(session, "lose", f.named("session-lose"), `on_destroy = "purge"`))
		f.settled()
		hash := f.mustHash(f.Unique("keep"))
		recordID := f.Show().Text(persistent+".keep", "record_id")
		check := func(plan *acctest.Plan) {
			f.t.Helper()
			plan.Does("delete "+persistent+".keep", "delete "+persistent+".lose", "delete "+session+".keep", "delete "+session+".lose")
			warnings := plan.Diagnostics.Warnings()
			if len(warnings.Code("retained")) != 1 || len(warnings.Code("data_lost")) != 3 {
				f.t.Errorf("expected one warning for what is retained and three for what is lost:\n%s", plan)
			}
			if before := plan.JSON().Resource(persistent + ".lose").Change.Before; before["on_destroy"] != "purge" {
				f.t.Errorf("the plan's JSON does not say that this is a purge: %v", before["on_destroy"])
			}
		}
		check(f.PlanDestroy())
		config := f.block(persistent, "keep", f.named("keep"), seed)
		f.Config("")
		check(f.Plan())
		f.Apply().Succeed().Warn("retained").Warn("data_lost")
		if !f.exists(f.Unique("keep")) || f.running(f.Unique("keep")) || f.mustHash(f.Unique("keep")) != hash {
			f.t.Error("the retained one is not stopped with its data")
		}
		for _, lost := range []string{"lose", "session", "session-lose"} {
			if f.exists(f.Unique(lost)) {
				f.t.Errorf("%s is still there", lost)
			}
		}
		// Declared again, it is the same one.
		f.Config(config)
		f.Plan().Does("create " + persistent + ".keep").Warn("reattached")
		f.settled()
		if f.mustHash(f.Unique("keep")) != hash || f.Show().Text(persistent+".keep", "record_id") != recordID {
			f.t.Error("the re-attached one is another")
		}
		if f.docker() {
			left := f.engine.Objects("sandlot.owner=" + f.Owner)
			if len(left.Containers) != 1 || len(left.Volumes) != 1 {
				f.t.Errorf("more is left than the retained sandbox: %+v", left)
			}
		}
	}, everywhere()...)
}

// TestAccOtherKind: a name does not change its kind.
func TestAccOtherKind(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.block(persistent, "a", f.named("a"), seed))
		f.settled()
		f.StateRm(persistent + ".a").Succeed()
		f.Config(f.block(session, "a", f.named("a")))
		f.Plan().FailWith("other_kind")
		if f.mustHash(f.Unique("a")) == "" {
			f.t.Error("the data is gone")
		}
	}, "local", "vercel")
}
