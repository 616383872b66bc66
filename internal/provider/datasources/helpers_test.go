package datasources_test

import (
	"reflect"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// want compares the attributes of a data source, as `show -json` has them: numbers are float64.
func want(t *testing.T, state *acctest.State, address string, attributes map[string]any) {
	t.Helper()
	found := state.Values(address)
	for name, wanted := range attributes {
		if !reflect.DeepEqual(found[name], wanted) {
			t.Errorf("%s: %s is %#v, want %#v", address, name, found[name], wanted)
		}
	}
}

// failsOn runs a plan that must fail with one code, on one attribute.
func failsOn(t *testing.T, w *acctest.Workspace, config, code, attribute string) {
	t.Helper()
	w.Config(config)
	var plan *acctest.Plan
	untouched(t, w, func() { plan = w.Plan() })
	plan.FailWith(code)
	for _, d := range plan.Diagnostics.Errors() {
		if d.Attribute() != attribute {
			t.Errorf("the error is on %q, want %q:\n%s", d.Attribute(), attribute, d)
		}
	}
}

// untouched holds that work alters nothing in the data directory. What SQLite shares between the
// processes that have the store open is left out: it holds no data of its own.
func untouched(t *testing.T, w *acctest.Workspace, work func()) {
	t.Helper()
	before := acctest.ReadTree(t, w.DataDir)
	work()
	after := acctest.ReadTree(t, w.DataDir)
	for _, shared := range []string{"sandlot.db-shm", "sandlot.db-wal"} {
		delete(before, shared)
		delete(after, shared)
	}
	for _, line := range before.Diff(after) {
		t.Errorf("looking touched %s", line)
	}
}
