package acctest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// ResourceChange is one resource in the JSON of a plan.
type ResourceChange struct {
	Address string `json:"address"`
	Change  struct {
		Actions      []string       `json:"actions"`
		Before       map[string]any `json:"before"`
		After        map[string]any `json:"after"`
		AfterUnknown map[string]any `json:"after_unknown"`
		ReplacePaths []any          `json:"replace_paths"`
		Importing    map[string]any `json:"importing"`
	} `json:"change"`
}

// Differences are the names of the attributes that the change alters, sorted. Those that become
// unknown end in "?".
func (c ResourceChange) Differences() []string {
	var names []string
	for name, after := range c.Change.After {
		if !reflect.DeepEqual(c.Change.Before[name], after) {
			names = append(names, name)
		}
	}
	for name, unknown := range c.Change.AfterUnknown {
		if unknown == true {
			names = append(names, name+"?")
		}
	}
	slices.Sort(names)
	return names
}

// PlanJSON is the part of a plan's JSON that tests look at.
type PlanJSON struct {
	w               *Workspace
	Raw             []byte           `json:"-"`
	ResourceChanges []ResourceChange `json:"resource_changes"`
	ResourceDrift   []ResourceChange `json:"resource_drift"`
}

// JSON returns the saved plan, as the CLI prints it.
func (p *Plan) JSON() *PlanJSON {
	p.w.T.Helper()
	result := p.w.Run("show", Args("-json", p.File)).Succeed()
	parsed := &PlanJSON{w: p.w, Raw: []byte(result.Stdout)}
	if err := json.Unmarshal(parsed.Raw, parsed); err != nil {
		p.w.T.Fatalf("the plan is no JSON: %v\n%s", err, result)
	}
	return parsed
}

// Resource returns what the plan does to an address.
func (p *PlanJSON) Resource(address string) ResourceChange {
	p.w.T.Helper()
	for _, change := range p.ResourceChanges {
		if change.Address == address {
			return change
		}
	}
	p.w.T.Fatalf("the plan says nothing of %s", address)
	return ResourceChange{}
}

// Drift returns what the refresh found changed at an address; false when nothing.
func (p *PlanJSON) Drift(address string) (ResourceChange, bool) {
	for _, change := range p.ResourceDrift {
		if change.Address == address {
			return change, true
		}
	}
	return ResourceChange{}, false
}

// Describe lists what differs, for failure messages.
func (p *PlanJSON) Describe() string {
	var b strings.Builder
	describe := func(kind string, changes []ResourceChange) {
		for _, c := range changes {
			if slices.Equal(c.Change.Actions, []string{"no-op"}) {
				continue
			}
			fmt.Fprintf(&b, "  %s %v %s\n", kind, c.Change.Actions, c.Address)
			for _, name := range c.Differences() {
				fmt.Fprintf(&b, "    %s: %v -> %v\n", name, c.Change.Before[strings.TrimSuffix(name, "?")], c.Change.After[name])
			}
		}
	}
	describe("drift", p.ResourceDrift)
	describe("change", p.ResourceChanges)
	return b.String()
}

// State is a state as the CLI prints it.
type State struct {
	w       *Workspace
	content struct {
		Values struct {
			Outputs map[string]struct {
				Value any `json:"value"`
			} `json:"outputs"`
			RootModule struct {
				Resources []stateResource `json:"resources"`
			} `json:"root_module"`
		} `json:"values"`
	}
}

type stateResource struct {
	Address string         `json:"address"`
	Tainted bool           `json:"tainted"`
	Values  map[string]any `json:"values"`
}

// Addresses returns what is in the state, sorted.
func (s *State) Addresses() []string {
	addresses := map[string]bool{}
	for _, r := range s.content.Values.RootModule.Resources {
		addresses[r.Address] = true
	}
	return slices.Sorted(maps.Keys(addresses))
}

// Tainted tells whether an address is tainted.
func (s *State) Tainted(address string) bool {
	return slices.ContainsFunc(s.content.Values.RootModule.Resources, func(r stateResource) bool { return r.Address == address && r.Tainted })
}

// Values returns the attributes of an address. It fails the test when there is no such address.
func (s *State) Values(address string) map[string]any {
	s.w.T.Helper()
	for _, r := range s.content.Values.RootModule.Resources {
		if r.Address == address {
			return r.Values
		}
	}
	s.w.T.Fatalf("%s is not in the state, which has %v", address, s.Addresses())
	return nil
}

// Text returns one attribute of an address as text, "" when it is null.
func (s *State) Text(address, attribute string) string {
	s.w.T.Helper()
	value, found := s.Values(address)[attribute]
	switch {
	case !found:
		s.w.T.Fatalf("%s has no attribute %q", address, attribute)
	case value == nil:
		return ""
	}
	return fmt.Sprint(value)
}

// Output returns one output value, nil when there is none.
func (s *State) Output(name string) any { return s.content.Values.Outputs[name].Value }
