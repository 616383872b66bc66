package acceptance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

const keptAddress = "sandlot_persistent_sandbox.it"

// dataConfig has one persistent sandbox whose random file was written by a command inside.
func (f *fixture) dataConfig(more ...string) string {
	lines := append([]string{f.workspaceID("data"), "generation = var.generation", "on_destroy = var.on_destroy", seed}, more...)
	return "variable \"generation\" { default = 1 }\nvariable \"on_destroy\" { default = \"retain\" }\n" + f.block(persistent, "it", lines...)
}

// TestRetainedDataComesBack destroys with retain and applies again: same content, same id, same
// record. Then a new generation is empty, and the old one keeps its name and data.
func TestRetainedDataComesBack(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.dataConfig())
		f.Apply().Succeed()
		before := f.Show()
		name := before.Text(keptAddress, "name")
		hash := f.fileHash(name, keptFile)
		if hash == "" {
			f.t.Fatal("the command inside wrote nothing")
		}
		f.Destroy().Succeed().Warn("retained")
		if left := f.Show().Addresses(); len(left) > 0 {
			f.t.Fatalf("the state still holds %v", left)
		}
		if f.running(name) {
			f.t.Error("the retained sandbox still runs")
		}

		f.Apply().Succeed().Warn("reattached")
		f.Plan().Empty()
		after := f.Show()
		for _, attribute := range []string{"id", "record_id", "name"} {
			if was, is := before.Text(keptAddress, attribute), after.Text(keptAddress, attribute); was != is {
				f.t.Errorf("%s changed from %q to %q", attribute, was, is)
			}
		}
		if now := f.fileHash(name, keptFile); now != hash {
			f.t.Errorf("the file changed: %s, before %s", now, hash)
		}

		second := acctest.Var("generation", "2")
		f.Plan(second).Does("replace " + keptAddress).Warn("retained")
		f.Apply(second).Succeed()
		f.Plan(second).Empty()
		newName := f.Show().Text(keptAddress, "name")
		if newName != name+"-g2" {
			f.t.Errorf("the second generation is named %q", newName)
		}
		if now := f.fileHash(newName, keptFile); now == hash || now == "" {
			f.t.Errorf("the second generation is no new one: its file has the hash %q, the first's has %q", now, hash)
		}
		if now := f.fileHash(name, keptFile); now != hash {
			f.t.Errorf("the first generation changed: %s, before %s", now, hash)
		}
	}, everywhere()...)
}

// TestCreateBeforeDestroyKeepsData replaces with create_before_destroy and purge: the new instance
// adopts the object, and the old one's delete only forgets it.
func TestCreateBeforeDestroyKeepsData(t *testing.T) {
	onEach(t, func(f *fixture) {
		purge := acctest.Var("on_destroy", "purge")
		f.Config(f.dataConfig("lifecycle {\n    create_before_destroy = true\n  }"))
		f.Apply(purge).Succeed()
		name := f.Show().Text(keptAddress, "name")
		hash := f.fileHash(name, keptFile)
		for _, way := range []string{"-replace", "taint"} {
			if way == "taint" {
				f.Taint(keptAddress).Succeed()
				f.Apply(purge).Succeed()
			} else {
				f.Apply(purge, acctest.Replace(keptAddress)).Succeed()
			}
			f.Plan(purge).Empty()
			if now := f.fileHash(name, keptFile); now != hash {
				f.t.Errorf("%s: the file has the hash %q, before %q", way, now, hash)
			}
		}
		f.Destroy(purge).Succeed()
		f.nothingLeft()
	}, everywhere()...)
}

// TestTwoStatesOneWorkspace applies one workspace id from two states at the same moment, each with a
// CLI of its own where both are there: one identity results, and a purge by the one that lost it
// does not touch the other's data.
func TestTwoStatesOneWorkspace(t *testing.T) {
	const rounds = 20
	t.Parallel()
	clis := acctest.CLIs(t)
	if len(clis) == 0 {
		t.Skip("no CLI is there")
	}
	for _, backend := range chosen(everywhere()) {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, clis[0], backend)
			for round := range rounds {
				f.twoStates(round, clis[round%len(clis)], clis[(round+1)%len(clis)])
			}
		})
	}
}

func (f *fixture) twoStates(round int, one, other acctest.CLI) {
	first, second := f.Beside(), f.Beside()
	first.CLI, second.CLI = one, other
	purge := acctest.Var("on_destroy", "purge")
	for _, w := range []*acctest.Workspace{first, second} {
		w.Config(f.dataConfig())
	}
	// The barrier: both have planned before either creates.
	plans := []*acctest.Plan{first.Plan(purge).Planned(), second.Plan(purge).Planned()}
	var together sync.WaitGroup
	results := make([]*acctest.Result, 2)
	for i, w := range []*acctest.Workspace{first, second} {
		together.Go(func() { results[i] = w.ApplyPlan(plans[i]) })
	}
	together.Wait()
	for _, result := range results {
		result.Succeed()
	}
	records := []string{first.Show().Text(keptAddress, "record_id"), second.Show().Text(keptAddress, "record_id")}
	if records[0] != records[1] || records[0] == "" {
		f.t.Fatalf("round %d: two identities, %q", round, records)
	}
	if rows := strings.Count(storeRows(f.t, f.DataDir), "row:"); rows != 1 {
		f.t.Fatalf("round %d: %d records", round, rows)
	}
	name := first.Show().Text(keptAddress, "name")
	hash := f.fileHash(name, keptFile)

	// Whoever was adopted from is told, and may not purge.
	loser, winner := first, second
	if len(second.Plan(purge).Diagnostics.Warnings().Code("taken_over")) > 0 {
		loser, winner = second, first
	}
	loser.Plan(purge).Warn("taken_over")
	loser.Destroy(purge).Succeed()
	if now := f.fileHash(name, keptFile); now != hash {
		f.t.Fatalf("round %d: the purge of the first state changed the second's file: %q, before %q", round, now, hash)
	}
	winner.Plan(purge).Empty()
	winner.Destroy(purge).Succeed()
	f.nothingLeft()
}

// nothingLeft checks that a purge left no object and no record.
func (f *fixture) nothingLeft() {
	f.t.Helper()
	if rows := storeRows(f.t, f.DataDir); strings.Contains(rows, "row:") || strings.Contains(rows, "snapshot:") {
		f.t.Errorf("records are left:\n%s", rows)
	}
	if f.docker() {
		left := f.engine.Objects("sandlot.owner=" + f.Owner)
		if len(left.Containers)+len(left.Volumes)+len(left.Images)+len(left.Networks) > 0 {
			f.t.Errorf("left over: %s", names(left))
		}
		return
	}
	if f.cloud != nil {
		if boxes, snapshots := f.cloud.boxes(), f.cloud.allSnapshots(); len(boxes)+len(snapshots) > 0 {
			f.t.Errorf("left over: sandboxes %v, snapshots %v", boxes, snapshots)
		}
		return
	}
	for _, folder := range []string{"sandboxes", "snapshots", "staging", "trash"} {
		for file := range acctest.ReadTree(f.t, filepath.Join(f.DataDir, "local", folder)) {
			if file != "." {
				f.t.Errorf("left over in %s: %s", folder, file)
			}
		}
	}
}

// TestTaintAfterTakeoverKeepsData taints and purges in a state from which another one has taken the
// sandbox over: core passes no private state then, and the data must still be there.
func TestTaintAfterTakeoverKeepsData(t *testing.T) {
	onEach(t, func(f *fixture) {
		purge := acctest.Var("on_destroy", "purge")
		first, second := f.Beside(), f.Beside()
		for _, w := range []*acctest.Workspace{first, second} {
			w.Config(f.dataConfig())
			w.Apply(purge).Succeed()
		}
		name := second.Show().Text(keptAddress, "name")
		hash := f.fileHash(name, keptFile)
		first.Taint(keptAddress).Succeed()
		first.Apply(purge).Succeed()
		if now := f.fileHash(name, keptFile); now != hash || hash == "" {
			f.t.Errorf("the file has the hash %q, before %q", now, hash)
		}
		first.Plan(purge).Empty()
		first.Destroy(purge).Succeed()
		f.nothingLeft()
	}, everywhere()...)
}

// TestPurgedByAnotherStateIsMissing purges in the state that took a sandbox over. The one that lost it
// finds it missing, and makes no empty one in its place.
func TestPurgedByAnotherStateIsMissing(t *testing.T) {
	onEach(t, func(f *fixture) {
		first, second := f.Beside(), f.Beside()
		purge := acctest.Var("on_destroy", "purge")
		first.Config(f.dataConfig())
		second.Config(f.dataConfig())
		first.Apply().Succeed()
		second.Apply(purge).Succeed()
		second.Destroy(purge).Succeed()
		first.Plan().FailWith("sandbox_missing")
	}, everywhere()...)
}

// TestForeignNamesakeIsLeftAlone lets somebody else make a sandbox of the same name after ours was
// removed by hand: our destroy does not touch it, whatever it says.
func TestForeignNamesakeIsLeftAlone(t *testing.T) {
	onEach(t, func(f *fixture) {
		theirs := f.Beside()
		theirs.ProviderBlock(fmt.Sprintf("data_dir = %q\nowner = \"theirs-%s\"", f.DataDir, f.Tag))
		if f.docker() {
			f.engine.CleanUp("sandlot.owner=theirs-" + f.Tag)
		}
		for _, policy := range []string{"retain", "purge"} {
			f.Config(f.dataConfig())
			theirs.Config(f.dataConfig())
			f.Apply(acctest.Var("on_destroy", policy)).Succeed()
			name := f.Show().Text(keptAddress, "name")
			f.vanish(name)
			theirs.Apply(acctest.Var("on_destroy", "purge")).Succeed()
			hash := f.fileHash(name, keptFile)
			f.Destroy(acctest.NoRefresh()).Succeed()
			theirs.Plan(acctest.Var("on_destroy", "purge")).Empty()
			if now := f.fileHash(name, keptFile); now != hash || hash == "" {
				f.t.Errorf("%s: their file has the hash %q, before %q", policy, now, hash)
			}
			if !f.running(name) {
				f.t.Errorf("%s: their sandbox was stopped", policy)
			}
			theirs.Destroy(acctest.Var("on_destroy", "purge")).Succeed()
		}
	}, everywhere()...)
}

// TestMountBehindLinks mounts links that lead to the data directory and to an engine's socket.
func TestMountBehindLinks(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Config(f.block(persistent, "it", f.workspaceID("links")))
		f.Apply().Succeed()
		for what, target := range map[string]string{"data": f.DataDir, "run": "/var/run"} {
			link := filepath.Join(f.Home, what)
			if err := os.Symlink(target, link); err != nil {
				f.t.Fatal(err)
			}
			f.Config(f.block(persistent, "it", f.workspaceID("links"), fmt.Sprintf(`mounts = [{ source = %q, target = "/mnt" }]`, link)))
			f.Plan().FailWith("invalid_value")
		}
	})
}
