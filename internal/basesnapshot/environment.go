package basesnapshot

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Environment is what the commands of a bake get to see besides what the seed itself has. Nothing
// else of the provider's own environment reaches them.
type Environment struct {
	// Values are given by the configuration.
	Values map[string]string
	// Allowlist names the variables of the provider's own environment that are passed on, and
	// Inherited holds the values of those that are set there.
	Allowlist []string
	Inherited map[string]string
	// AllowNames are exempt from the rule against secret-looking names.
	AllowNames []string
}

// secretWords make a name look like that of a secret, also in the plural.
var secretWords = []string{"TOKEN", "SECRET", "PASSWORD", "KEY", "CREDENTIAL"}

// LooksSecret tells whether a variable's name says that its value is a secret.
func LooksSecret(name string) bool {
	for word := range strings.SplitSeq(strings.ToUpper(name), "_") {
		if slices.Contains(secretWords, word) || slices.Contains(secretWords, strings.TrimSuffix(word, "S")) {
			return true
		}
	}
	return false
}

// CheckEnvironmentNames refuses names that look like those of secrets and are not among the allowed
// ones: what a command writes down goes into the snapshot, and from there into every workspace.
// Values are not looked at, so that none can be repeated. It returns one *sandbox.Refusal for each
// name, joined.
func CheckEnvironmentNames(names, allowed []string) error {
	var refused []error
	for _, name := range slices.Sorted(slices.Values(names)) {
		if LooksSecret(name) && !slices.Contains(allowed, name) {
			refused = append(refused, &sandbox.Refusal{
				Code:   CodeSecretName,
				Detail: fmt.Sprintf("The name %s says that it holds a secret, which could end up in the snapshot.", name),
				Remedy: "Leave it out: hand secrets to the workspaces, not to the snapshot they start from. If it holds none, add the name to `allow_names`.",
			})
		}
	}
	return errors.Join(refused...)
}

// check judges names and values.
func (e Environment) check() error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(e.Values)) {
		if err := errors.Join(sandbox.CheckEnvironmentName(name), sandbox.CheckEnvironmentValue(name, e.Values[name])); err != nil {
			problems = append(problems, &FieldError{Field: "environment." + name, Err: err})
		}
	}
	for i, name := range e.Allowlist {
		if err := errors.Join(sandbox.CheckEnvironmentName(name), sandbox.CheckEnvironmentValue(name, e.Inherited[name])); err != nil {
			problems = append(problems, &FieldError{Field: fmt.Sprintf("environment_allowlist[%d]", i), Err: err})
		}
	}
	names := slices.AppendSeq(slices.Clone(e.Allowlist), maps.Keys(e.Values))
	slices.Sort(names)
	return errors.Join(append(problems, CheckEnvironmentNames(slices.Compact(names), e.AllowNames))...)
}

// passed is what the commands get: the allowed names that are set, and what is given, which wins.
func (e Environment) passed() map[string]string {
	all := map[string]string{}
	for _, name := range e.Allowlist {
		if value, set := e.Inherited[name]; set {
			all[name] = value
		}
	}
	maps.Copy(all, e.Values)
	return all
}
