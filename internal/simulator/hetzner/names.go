package hetzner

import (
	"regexp"
	"strings"
)

var hostLabel = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$`)

// checkHostname wants an RFC 1123 name, which is what servers have.
func checkHostname(name string) error {
	if name == "" {
		return missing("name")
	}
	if len(name) > 253 {
		return invalid("name", "Longer than maximum length 253.")
	}
	for part := range strings.SplitSeq(name, ".") {
		if !hostLabel.MatchString(part) {
			return invalid("name", "Not a valid hostname.")
		}
	}
	return nil
}

// checkName wants what other objects may be called: any text.
func checkName(name string) error {
	if name == "" {
		return missing("name")
	}
	if len(name) > 255 {
		return invalid("name", "Longer than maximum length 255.")
	}
	return nil
}
