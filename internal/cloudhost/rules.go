package cloudhost

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// ownLabels begins the keys of the labels that are ours.
const ownLabels = "sandlot."

// Labels follow the API's rule (section 5 of the contract).
var (
	labelKey   = regexp.MustCompile(`^([A-Za-z0-9]([-_.A-Za-z0-9]{0,251}[A-Za-z0-9])?/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$`)
	labelValue = regexp.MustCompile(`^(([A-Za-z0-9][-_.A-Za-z0-9]{0,61})?[A-Za-z0-9])?$`)
)

// CheckName judges the name of a host: it becomes the server's host name, and that of its other resources.
func CheckName(name string) error {
	if sandbox.CheckName(name) != nil {
		return fmt.Errorf("%q is not the name of a cloud host: allowed are %s", name, sandbox.NameRule)
	}
	return nil
}

// CheckLabels judges the user's labels, and returns an error that names each key that is wrong.
func CheckLabels(labels map[string]string) error {
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		switch {
		case strings.HasPrefix(key, ownLabels):
			problems = append(problems, fmt.Errorf("the label %q is ours: keys must not begin with %q", key, ownLabels))
		case strings.HasPrefix(key, "hetzner.cloud/"):
			problems = append(problems, fmt.Errorf("the label %q is the platform's: keys must not begin with \"hetzner.cloud/\"", key))
		case !labelKey.MatchString(key):
			problems = append(problems, fmt.Errorf("%q is not a label's key: allowed are 1 to 63 letters, digits and . _ - with a letter or digit at both ends, and a prefix such as \"example.com/\"", key))
		case !labelValue.MatchString(labels[key]):
			problems = append(problems, fmt.Errorf("the value of the label %q may hold at most 63 letters, digits and . _ - with a letter or digit at both ends", key))
		}
	}
	return errors.Join(problems...)
}

// CheckAuthorizedKeys judges further public keys, and never quotes one: a private key may have been given
// by mistake.
func CheckAuthorizedKeys(keys []string) error {
	var problems []error
	for i, line := range keys {
		key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
		switch {
		case strings.ContainsAny(strings.TrimSpace(line), "\r\n\x00") || err != nil || len(rest) > 0:
			problems = append(problems, fmt.Errorf("authorized key %d is not one line of an OpenSSH public key such as `ssh-ed25519 AAAA… comment`", i+1))
		case len(options) > 0:
			problems = append(problems, fmt.Errorf("authorized key %d has options before its type: give the key alone", i+1))
		case key.Type() == "ssh-dss" || strings.Contains(key.Type(), "-cert-"):
			problems = append(problems, fmt.Errorf("authorized key %d is of the type %s, which is not accepted", i+1, key.Type()))
		}
	}
	return errors.Join(problems...)
}
