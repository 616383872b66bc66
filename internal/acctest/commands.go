package acctest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Plan is a plan that was made, or failed to be.
type Plan struct {
	*Result
	// File is the saved plan.
	File string
}

// Plan plans. Its exit code is 0 without changes, 2 with some, 1 on failure.
func (w *Workspace) Plan(options ...Option) *Plan {
	w.T.Helper()
	file := filepath.Join(w.T.TempDir(), "plan")
	options = append([]Option{Args("-json", "-input=false", "-detailed-exitcode", "-out="+file)}, options...)
	return &Plan{Result: w.Run("plan", options...), File: file}
}

// PlanDestroy plans a destroy.
func (w *Workspace) PlanDestroy(options ...Option) *Plan {
	w.T.Helper()
	return w.Plan(append([]Option{Args("-destroy")}, options...)...)
}

// Empty fails the test unless the plan shows no change at all, in outputs neither.
func (p *Plan) Empty() *Plan {
	p.w.T.Helper()
	if p.ExitCode == 0 {
		return p
	}
	differences := ""
	if p.ExitCode == 2 {
		differences = p.JSON().Describe()
	}
	p.w.T.Fatalf("the plan is not empty:\n%s%s", p, differences)
	return p
}

// Planned fails the test unless the plan was made, with or without changes.
func (p *Plan) Planned() *Plan {
	p.w.T.Helper()
	p.Succeed()
	return p
}

// Does fails the test unless the plan succeeded and does exactly this, written as "action address".
func (p *Plan) Does(changes ...string) *Plan {
	p.w.T.Helper()
	p.Succeed()
	var found []string
	for _, change := range p.Changes {
		found = append(found, change.Action+" "+change.Address)
	}
	slices.Sort(found)
	slices.Sort(changes)
	if !slices.Equal(found, changes) {
		p.w.T.Fatalf("the plan does %q; expected %q:\n%s%s", found, changes, p, p.JSON().Describe())
	}
	return p
}

// Apply plans and applies in one step.
func (w *Workspace) Apply(options ...Option) *Result {
	w.T.Helper()
	return w.Run("apply", append([]Option{Args("-json", "-input=false", "-auto-approve")}, options...)...)
}

// ApplyPlan applies a saved plan.
func (w *Workspace) ApplyPlan(plan *Plan, options ...Option) *Result {
	w.T.Helper()
	return w.Run("apply", append(append([]Option{Args("-json", "-input=false")}, options...), Args(plan.File))...)
}

// Destroy plans a destroy and applies it.
func (w *Workspace) Destroy(options ...Option) *Result {
	w.T.Helper()
	return w.Run("destroy", append([]Option{Args("-json", "-input=false", "-auto-approve")}, options...)...)
}

// Validate checks the configuration.
func (w *Workspace) Validate(options ...Option) *Result {
	w.T.Helper()
	return w.Run("validate", append([]Option{Args("-json")}, options...)...)
}

// Import imports an object by id. Its output is for people, on both CLIs: the diagnostics are
// taken out of the text.
func (w *Workspace) Import(address, id string, options ...Option) *Result {
	w.T.Helper()
	result := w.Run("import", append(append([]Option{Args("-no-color", "-input=false")}, options...), Args(address, id))...)
	result.readText()
	return result
}

// StateRm lets go of addresses.
func (w *Workspace) StateRm(addresses ...string) *Result {
	w.T.Helper()
	return w.Run("state", Args("rm"), Args(addresses...))
}

// Taint marks an address for replacement.
func (w *Workspace) Taint(address string) *Result {
	w.T.Helper()
	return w.Run("taint", Args(address))
}

// Show returns the state, as the CLI prints it. It reads no provider.
func (w *Workspace) Show() *State {
	w.T.Helper()
	result := w.Run("show", Args("-json")).Succeed()
	state := &State{w: w}
	if err := json.Unmarshal([]byte(result.Stdout), &state.content); err != nil {
		w.T.Fatalf("the state is no JSON: %v\n%s", err, result)
	}
	return state
}

// StateFile returns the content of the state file; nil when there is none.
func (w *Workspace) StateFile() []byte {
	content, _ := os.ReadFile(filepath.Join(w.Dir, "terraform.tfstate"))
	return content
}

var textDiagnostic = regexp.MustCompile(`(?m)^(?:[│╷╵] ?)*(Error|Warning): (.*)$`)

// readText takes diagnostics out of text for people.
func (r *Result) readText() {
	text := r.Stdout + "\n" + r.Stderr
	found := textDiagnostic.FindAllStringSubmatchIndex(text, -1)
	for i, at := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		detail := strings.TrimSpace(strings.ReplaceAll(text[at[1]:end], "│ ", ""))
		r.add(Diagnostic{Severity: strings.ToLower(text[at[2]:at[3]]), Summary: text[at[4]:at[5]], Detail: detail})
	}
}
