package hetzner

import (
	"regexp"
	"slices"
	"strings"
)

var (
	labelKey   = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$`)
)

// reservedPrefix is the vendor's own.
const reservedPrefix = "hetzner.cloud/"

func checkLabels(labels map[string]string) error {
	for key, value := range labels {
		switch {
		case strings.HasPrefix(key, reservedPrefix):
			return invalid("labels", "The prefix of label key %q is reserved.", key)
		case !labelKey.MatchString(key):
			return invalid("labels", "Label key %q is not valid.", key)
		case !labelValue.MatchString(value):
			return invalid("labels", "Value %q of label %q is not valid.", value, key)
		}
	}
	return nil
}

// requirement is one term of a selector.
type requirement struct {
	key    string
	values []string // nil: any
	not    bool
}

func (q requirement) met(labels map[string]string) bool {
	value, present := labels[q.key]
	if q.values == nil {
		return present != q.not
	}
	return present && slices.Contains(q.values, value) != q.not || !present && q.not
}

type selector []requirement

func (s selector) met(labels map[string]string) bool {
	return !slices.ContainsFunc(s, func(q requirement) bool { return !q.met(labels) })
}

var (
	selectorSet   = regexp.MustCompile(`^(\S+)\s+(in|notin)\s*\(([^()]*)\)$`)
	selectorEqual = regexp.MustCompile(`^([^\s=!]+)\s*(==|=|!=)\s*(\S*)$`)
	selectorKey   = regexp.MustCompile(`^(!?)\s*([^\s=!()]+)$`)
)

// parseSelector reads a label selector: terms that commas join, all of which must be met.
func parseSelector(text string) (selector, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var all selector
	for _, term := range splitTerms(text) {
		term = strings.TrimSpace(term)
		var one requirement
		if found := selectorSet.FindStringSubmatch(term); found != nil {
			one = requirement{key: found[1], not: found[2] == "notin", values: []string{}}
			for value := range strings.SplitSeq(found[3], ",") {
				one.values = append(one.values, strings.TrimSpace(value))
			}
		} else if found := selectorEqual.FindStringSubmatch(term); found != nil {
			one = requirement{key: found[1], not: found[2] == "!=", values: []string{found[3]}}
		} else if found := selectorKey.FindStringSubmatch(term); found != nil {
			one = requirement{key: found[2], not: found[1] == "!"}
		}
		if !labelKey.MatchString(one.key) || slices.ContainsFunc(one.values, func(v string) bool { return !labelValue.MatchString(v) }) {
			return nil, invalid("label_selector", "The term %q is not valid.", term)
		}
		all = append(all, one)
	}
	return all, nil
}

// splitTerms splits at the commas outside of parentheses.
func splitTerms(text string) []string {
	var terms []string
	depth, begin := 0, 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			terms = append(terms, text[begin:i])
			begin = i + 1
		}
	}
	return append(terms, text[begin:])
}
