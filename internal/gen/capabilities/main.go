// Command capabilities writes the capability table of the backends into a Markdown file, between two
// marker lines, or with -check fails when the table there is another one.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/backendset"
)

//go:generate go run . ../../../templates/guides/capabilities.md.tmpl

const (
	begin = "<!-- capabilities: begin -->\n"
	end   = "<!-- capabilities: end -->\n"
)

func main() {
	check := flag.Bool("check", false, "write nothing; fail when the file's table is not the present one")
	flag.Parse()
	if err := run(flag.Arg(0), *check); err != nil {
		fmt.Fprintln(os.Stderr, "capabilities:", err)
		os.Exit(1)
	}
}

func run(file string, check bool) error {
	present, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	wanted, err := replace(string(present), table())
	if err != nil || wanted == string(present) {
		return err
	}
	if check {
		return fmt.Errorf("the table in %s is not the present one; run: make generate", file)
	}
	return os.WriteFile(file, []byte(wanted), 0o644)
}

// replace returns text with what stands between the markers exchanged.
func replace(text, table string) (string, error) {
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", errors.New("the marker lines are missing")
	}
	return before + begin + table + end + after, nil
}

// table prints one column a backend and one row a capability.
func table() string {
	names := backendset.Names()
	descriptions := backends.CapabilityDescriptions()
	var b strings.Builder
	row := func(first, second string, cell func(backends.Capabilities) string) {
		fmt.Fprintf(&b, "| %s | %s |", first, second)
		for _, name := range names {
			capabilities, _ := backendset.Capabilities(name)
			fmt.Fprintf(&b, " %s |", cell(capabilities))
		}
		b.WriteString("\n")
	}

	fmt.Fprintf(&b, "| Name | Stands for | `%s` |\n", strings.Join(names, "` | `"))
	b.WriteString(strings.Repeat("| --- ", len(names)+2) + "|\n")
	for _, name := range backends.CapabilityNames() {
		row("`"+name+"`", descriptions[name], func(c backends.Capabilities) string {
			if c.Map()[name] {
				return "yes"
			}
			return "no"
		})
	}
	row("", "default of `network.mode`", func(c backends.Capabilities) string { return "`" + c.NetworkModes[0] + "`" })
	row("", "where secrets live", func(c backends.Capabilities) string { return c.SecretsLiveIn })
	return b.String()
}
