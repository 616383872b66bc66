package acctest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Diagnostic is an error or warning of a CLI.
type Diagnostic struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail"`
	// Address is the resource, where the CLI names one.
	Address string `json:"address"`
	Snippet *struct {
		Context string `json:"context"`
		Code    string `json:"code"`
	} `json:"snippet"`
	// Code is the stable code of a diagnostic of ours, else empty.
	Code string `json:"-"`
}

var (
	codeLine      = regexp.MustCompile(`(?m)^Code: (\S+)\s*$`)
	attributeLine = regexp.MustCompile(`^\s*([a-z_0-9]+)\s*=`)
)

// Attribute is the name of the attribute in the source line that the diagnostic points at. It is
// empty when it points at a whole block, as it does for an attribute that is not configured.
func (d Diagnostic) Attribute() string {
	if d.Snippet == nil {
		return ""
	}
	found := attributeLine.FindStringSubmatch(d.Snippet.Code)
	if found == nil {
		return ""
	}
	return found[1]
}

func (d Diagnostic) String() string {
	place := d.Address
	if d.Snippet != nil {
		place += " at `" + strings.TrimSpace(d.Snippet.Code) + "`"
	}
	return fmt.Sprintf("%s: %s [%s] %s\n%s", d.Severity, d.Summary, d.Code, place, indent(d.Detail))
}

// Diagnostics are those of one command, in its order.
type Diagnostics []Diagnostic

// Errors returns the errors.
func (d Diagnostics) Errors() Diagnostics { return d.severity("error") }

// Warnings returns the warnings, those of the CLI itself included.
func (d Diagnostics) Warnings() Diagnostics { return d.severity("warning") }

func (d Diagnostics) severity(severity string) Diagnostics {
	return d.only(func(one Diagnostic) bool { return one.Severity == severity })
}

// Code returns those with a code.
func (d Diagnostics) Code(code string) Diagnostics {
	return d.only(func(one Diagnostic) bool { return one.Code == code })
}

func (d Diagnostics) only(keep func(Diagnostic) bool) Diagnostics {
	return slices.DeleteFunc(slices.Clone(d), func(one Diagnostic) bool { return !keep(one) })
}

// Change is what a plan does to one resource.
type Change struct {
	Address string
	// Action is create, update, replace, delete, read, import, remove or move.
	Action string
	Reason string
}

func (c Change) String() string {
	return strings.TrimSpace(c.Action + " " + c.Address + " " + c.Reason)
}

// message is one line of -json output.
type message struct {
	Type       string          `json:"type"`
	Diagnostic json.RawMessage `json:"diagnostic"`
	Change     struct {
		Resource struct {
			Addr string `json:"addr"`
		} `json:"resource"`
		Action string `json:"action"`
		Reason string `json:"reason"`
	} `json:"change"`
}

// read takes diagnostics and changes out of the output: one JSON value a line, or one in all.
func (r *Result) read() {
	var whole struct {
		Diagnostics []Diagnostic `json:"diagnostics"`
	}
	if json.Unmarshal([]byte(r.Stdout), &whole) == nil && len(whole.Diagnostics) > 0 {
		for _, d := range whole.Diagnostics {
			r.add(d)
		}
		return
	}
	for line := range strings.Lines(r.Stdout) {
		var m message
		if json.Unmarshal([]byte(line), &m) != nil {
			continue
		}
		switch m.Type {
		case "diagnostic":
			var d Diagnostic
			if json.Unmarshal(m.Diagnostic, &d) == nil {
				r.add(d)
			}
		case "planned_change":
			r.Changes = append(r.Changes, Change{Address: m.Change.Resource.Addr, Action: m.Change.Action, Reason: m.Change.Reason})
		}
	}
}

func (r *Result) add(d Diagnostic) {
	if found := codeLine.FindAllStringSubmatch(d.Detail, -1); found != nil {
		d.Code = found[len(found)-1][1]
	}
	r.Diagnostics = append(r.Diagnostics, d)
}
