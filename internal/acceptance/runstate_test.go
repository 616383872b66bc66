package acceptance_test

import (
	"fmt"
	"slices"
	"testing"
)

// runRow is one cell of {wanted} × {found}.
type runRow struct{ wanted, found string }

func (r runRow) name() string {
	if r.wanted == "" {
		return "unset-" + r.found
	}
	return r.wanted + "-" + r.found
}

// after is how the sandbox has to stand after an apply.
func (r runRow) after() string {
	if r.wanted == "" {
		return r.found
	}
	return r.wanted
}

// TestAccDesiredState: unset leaves the run state alone whatever else is changed; set, it is
// brought about, and nothing but it is planned.
func TestAccDesiredState(t *testing.T) {
	onEach(t, func(f *fixture) {
		var rows []runRow
		for _, wanted := range []string{"", "running", "stopped"} {
			for _, found := range []string{"running", "stopped"} {
				rows = append(rows, runRow{wanted, found})
			}
		}
		config := func(value string) string {
			text := ""
			for _, row := range rows {
				lines := []string{f.named(row.name()), fmt.Sprintf(`environment = { VALUE = %q }`, value)}
				if row.wanted != "" {
					lines = append(lines, fmt.Sprintf("desired_state = %q", row.wanted))
				}
				text += f.block(persistent, row.name(), lines...)
				text += fmt.Sprintf("resource \"sandlot_file\" %q {\n  sandbox_id = %s.%s.id\n  path = \"file\"\n  content = %q\n}\n", row.name(), persistent, row.name(), value)
			}
			return text
		}
		check := func(when string) {
			f.t.Helper()
			for _, row := range rows {
				if running := f.running(f.Unique(row.name())); running != (row.after() == "running") {
					f.t.Errorf("%s: %s runs: %t", when, row.name(), running)
				}
			}
		}
		f.Config(config("1"))
		f.settled()
		for _, row := range rows {
			name := f.Unique(row.name())
			switch running := f.running(name); {
			case running && row.found == "stopped":
				f.stopOutside(name)
			case !running && row.found == "running":
				f.startOutside(name)
			}
		}

		plan := f.Plan()
		plan.Succeed()
		planned := plan.JSON()
		for _, row := range rows {
			change := planned.Resource(persistent + "." + row.name())
			expected := "no-op"
			if row.wanted != "" && row.wanted != row.found {
				expected = "update"
			}
			if !slices.Equal(change.Change.Actions, []string{expected}) {
				f.t.Errorf("%s: the plan is %q %v, expected %s", row.name(), change.Change.Actions, change.Differences(), expected)
			}
			if expected != "update" {
				continue
			}
			shown := slices.DeleteFunc(change.Differences(), func(name string) bool { return slices.Contains(volatile, name) })
			if !slices.Equal(shown, []string{"status"}) {
				f.t.Errorf("%s: the plan changes %q", row.name(), shown)
			}
		}
		f.settled()
		check("after an apply without changes")

		// Other changes, of the configuration and of a file inside, do not touch it either.
		f.Config(config("2"))
		f.settled()
		check("after other changes")
		for _, row := range rows {
			if f.fileHash(f.Unique(row.name()), "file") != sum("2") {
				f.t.Errorf("%s: the file was not written", row.name())
			}
		}
	}, everywhere()...)
}
