package acceptance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// templateLine is a template of one small file.
func templateLine(version string, more ...string) string {
	return fmt.Sprintf(`template = { version = %q, files = { "t/file" = { content = "template", mode = "0640" } }%s }`, version, strings.Join(more, ""))
}

// TestAccTemplate: a new workspace gets the template on top of its base, and an existing one is only
// ever migrated.
func TestAccTemplate(t *testing.T) {
	onOne(t, func(f *fixture) {
		base := f.lane("it", []string{says("base")})
		f.Config(base + f.runtime("it", "w", templateLine("1")))
		f.settled()
		state := f.Show()
		name := state.Text(work, "name")
		if f.read(name, "base.txt") != "base\n" || f.read(name, "t/file") != "template" || state.Text(work, "state") != "ready" {
			f.t.Errorf("the workspace is %s: %q, %q", state.Text(work, "state"), f.read(name, "base.txt"), f.read(name, "t/file"))
		}

		// Another file under the same version is for new workspaces.
		f.Config(base + f.runtime("it", "w", strings.Replace(templateLine("1"), `"template"`, `"other"`, 1)))
		f.Plan().Empty()
		// Another version needs a migration.
		f.Config(base + f.runtime("it", "w", templateLine("2")))
		mentions(f, errorText(f, f.Plan().FailWith("migration_failed"), "migration_failed"), `"1"`, `"2"`, "template.migrate")

		// One that fails leaves the version as it was, and is offered again.
		migrate := func(script, verify string) string {
			return f.runtime("it", "w", templateLine("2", fmt.Sprintf(`, migrate = { command = ["sh", "-c", %q], verify = ["sh", "-c", %q] }`, script, verify)))
		}
		const script = `echo $SANDLOT_TEMPLATE_FROM-$SANDLOT_TEMPLATE_TO > migrated; echo changed > t/file`
		for _, bad := range []struct{ script, verify, says string }{
			{"echo no way >&2; exit 4", "true", "no way"}, {"true", "grep -q 1-2 migrated", "check after the migration"},
		} {
			f.Config(base + migrate(bad.script, bad.verify))
			f.Plan().Does("update " + work).Warn("migrated")
			mentions(f, errorText(f, f.Apply().FailWith("migration_failed"), "migration_failed"), bad.says, "repeated")
			if found := f.Show().Text(work, "applied_template_version"); found != "1" {
				f.t.Errorf("after a failed migration the version is %q", found)
			}
		}
		f.Config(base + migrate(script, "grep -q 1-2 migrated"))
		f.Plan().Does("update " + work).Warn("migrated")
		f.settled()
		if after := f.Show(); after.Text(work, "applied_template_version") != "2" || f.read(name, "migrated") != "1-2\n" || f.read(name, "t/file") != "changed\n" || after.Text(work, "record_id") != state.Text(work, "record_id") {
			f.t.Errorf("the migration led to %v", after.Values(work))
		}
		// And back again, by the same way.
		f.Config(base + strings.Replace(migrate(script, "grep -q 2-1 migrated"), `version = "2", files`, `version = "1", files`, 1))
		f.settled()
	}, everywhere()...)
}

// TestAccOverlayFailure: a workspace whose template could not be put on is an error, never ready, and
// the next apply makes it anew.
func TestAccOverlayFailure(t *testing.T) {
	onEach(t, func(f *fixture) {
		template := `template = { version = "1", files = { "a" = { content = "a" }, "dir/file" = { content = "x" } } }`
		data := fmt.Sprintf("data %q \"it\" {\n  backend = %q\n  workspace_id = %q\n}\n", workspaceRuntime, f.backend, f.Unique("w"))
		config := func(setup string) string {
			return f.block(workspaceRuntime, "it", f.workspaceID("w"), template, fmt.Sprintf(`setup = [{ command = ["sh", "-c", %q] }]`, setup))
		}
		f.Config(config("echo left > left; ln -s /etc dir"))
		mentions(f, errorText(f, f.Apply().FailWith("overlay_failed"), "overlay_failed"), "dir/file", "not ready")
		state := f.Show()
		name := state.Text(work, "name")
		if state.Text(work, "state") != "error" || !state.Tainted(work) || f.read(name, "left") == "" {
			f.t.Errorf("the state says %q, tainted %t", state.Text(work, "state"), state.Tainted(work))
		}
		f.Config(config("true") + data)
		f.Plan().Does("replace " + work)
		other := f.beside(data)
		other.Apply().Succeed()
		if told := other.Show(); told.Text("data."+work, "state") != "error" || !strings.Contains(told.Text("data."+work, "last_error"), "dir/file") {
			f.t.Errorf("others are told %v", told.Values("data."+work))
		}
		f.Config(config("true"))
		f.settled()
		if f.read(name, "left") != "" || f.read(name, "dir/file") != "x" || f.Show().Text(work, "state") != "ready" {
			f.t.Error("the failed workspace was not made anew")
		}
		// One that never was ready goes under either policy.
		f.Destroy().Succeed()
		f.Config(strings.ReplaceAll(config("ln -s /etc dir"), f.Unique("w"), f.Unique("w2")))
		f.Apply().FailWith("overlay_failed")
		f.Destroy().Succeed()
		f.haveBoxes(1)
	}, "local", "vercel")
}

// TestAccRuntimeRetained: what was destroyed under retain comes back with its data, whatever the base
// is by then, and purge removes it.
func TestAccRuntimeRetained(t *testing.T) {
	onOne(t, func(f *fixture) {
		config := func(text string, lines ...string) string {
			return f.lane("it", []string{says(text)}, purgeLine, `retention = { min_age = "0s" }`) + f.runtime("it", "w", append([]string{seed, templateLine("1")}, lines...)...)
		}
		f.Config(config("one"))
		f.settled()
		before := f.Show()
		name := before.Text(work, "name")
		hash := f.mustHash(name)
		f.Destroy(acctest.Target(work)).Succeed().Warn("retained")
		if f.running(name) {
			f.t.Error("the retained workspace still runs")
		}
		f.Config(config("two"))
		f.Apply().Succeed().Warn("reattached")
		f.Plan().Empty()
		after := f.Show()
		for _, attribute := range []string{"id", "record_id", "applied_base_snapshot_id", "applied_template_version"} {
			if is, was := after.Text(work, attribute), before.Text(work, attribute); is != was {
				f.t.Errorf("%s is %s, and was %s", attribute, is, was)
			}
		}
		if f.mustHash(name) != hash || f.read(name, "base.txt") != "one\n" {
			f.t.Error("the data is not what was retained")
		}
		f.Config(config("two", purgeLine))
		f.settled()
		f.Destroy().Succeed()
		f.nothingLeft()
	}, everywhere()...)
}

// TestAccRuntimeIdentity: another kind or another resource of the name is refused before anything is
// touched, and a generation starts over from the present base.
func TestAccRuntimeIdentity(t *testing.T) {
	onOne(t, func(f *fixture) {
		base := f.lane("it", []string{says("one")})
		f.Config(base + f.runtime("it", "w", seed) + f.block(persistent, "it", f.workspaceID("p"), seed))
		f.settled()
		name := f.nameOf(work)
		hash := f.mustHash(name)
		f.Config(base + f.runtime("it", "w", seed, `kind = "session"`) + f.block(persistent, "it", f.workspaceID("p"), seed))
		found := f.Plan().FailWith("purge_first").Diagnostics.Errors()[0]
		if found.Attribute() != "kind" {
			f.t.Errorf("the error is on %s", found)
		}
		for _, namesake := range []string{f.block(persistent, "it", f.workspaceID("w")), f.runtime("it", "p", "base_snapshot = null", f.source()), f.runtime("it", "w", "base_snapshot = null", f.source(), `kind = "session"`)} {
			other := f.beside(namesake)
			other.Plan().FailWith("other_kind")
		}
		f.Config(base + f.runtime("it", "w", seed) + f.runtime("two", "w", seed))
		f.Plan().FailWith("duplicate_workspace")

		// What a workspace started from may leave the configuration: nothing but the state changes.
		f.Config(base + f.runtime("it", "w", seed, "base_snapshot = null", f.source()))
		f.Plan().Does("update "+work, "delete "+persistent+".it")
		f.settled()
		if f.mustHash(name) != hash {
			f.t.Error("the data changed")
		}

		f.Config(f.lane("it", []string{says("two")}) + f.runtime("it", "w", seed, `generation = 2`))
		f.Plan().Does("update "+lane, "replace "+work).Warn("retained")
		f.settled()
		if next := f.nameOf(work); next != name+"-g2" || f.read(next, "base.txt") != "two\n" || f.mustHash(name) != hash {
			f.t.Errorf("the second generation is %s with %q", next, f.read(next, "base.txt"))
		}
		f.Config(f.lane("it", []string{says("two")}) + f.runtime("it", "w", seed, `generation = 2`, purgeLine))
		f.settled()
		f.Config(f.lane("it", []string{says("two")}) + f.runtime("it", "w", seed, `generation = 2`, purgeLine, `kind = "session"`))
		plan := f.Plan().Does("replace " + work)
		plan.Warn("data_lost")
		if paths := plan.JSON().Resource(work).Change.ReplacePaths; !slices.ContainsFunc(paths, func(path any) bool { return fmt.Sprint(path) == "[kind]" }) {
			f.t.Errorf("the replacement is for %v", paths)
		}
		f.settled()
	}, "local", "vercel")
}
