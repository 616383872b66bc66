package command

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func list(texts ...string) types.List {
	var elements []attr.Value
	for _, text := range texts {
		elements = append(elements, types.StringValue(text))
	}
	return types.ListValueMust(types.StringType, elements)
}

func pairs(name, value string) types.Map {
	return types.MapValueMust(types.StringType, map[string]attr.Value{name: types.StringValue(value)})
}

// TestRunsAgain covers what an update runs the command for, and what it only notes.
func TestRunsAgain(t *testing.T) {
	t.Parallel()
	state := model{Command: list("a", "b"), Triggers: pairs("t", "1"), Environment: pairs("A", "1"), WorkingDirectory: types.StringValue("/srv")}
	for _, test := range []struct {
		name  string
		alter func(plan, state *model)
		want  bool
	}{
		{"nothing", func(*model, *model) {}, false},
		{"command", func(plan, _ *model) { plan.Command = list("a") }, true},
		{"unknown command", func(plan, _ *model) { plan.Command = types.ListUnknown(types.StringType) }, true},
		{"triggers", func(plan, _ *model) { plan.Triggers = pairs("t", "2") }, true},
		{"environment", func(plan, _ *model) { plan.Environment = pairs("A", "2") }, true},
		{"directory", func(plan, _ *model) { plan.WorkingDirectory = types.StringNull() }, true},
		{"user", func(plan, _ *model) { plan.User = types.StringValue("root") }, true},
		{"timeout", func(plan, _ *model) { plan.Timeout = types.StringValue("1m") }, false},
		{"destroy command", func(plan, _ *model) { plan.DestroyCommand = list("x") }, false},
		{"adopted after an import", func(_, state *model) { *state = model{Command: types.ListNull(types.StringType)} }, false},
	} {
		plan, before := state, state
		test.alter(&plan, &before)
		if found := runsAgain(plan, before); found != test.want {
			t.Errorf("%s: runs again is %v, want %v", test.name, found, test.want)
		}
	}
}

func TestNewID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		id := newID("local/a")
		if seen[id] || len(id) != len("local/a:")+12 {
			t.Fatalf("the id %q is not a new one of 12 digits", id)
		}
		seen[id] = true
	}
}
