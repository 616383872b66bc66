// Package testkit holds what tests of several packages share.
package testkit

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// RequireVariable names the parts, separated by commas, whose absence fails a test instead of
// skipping it.
const RequireVariable = "SANDLOT_TEST_REQUIRE"

// Required tells whether [RequireVariable] names a part.
func Required(part string) bool {
	required := strings.Split(os.Getenv(RequireVariable), ",")
	return slices.ContainsFunc(required, func(name string) bool { return strings.TrimSpace(name) == part })
}

// Need ends a test that needs a part of the machine which is not present: it skips the test, or
// fails it when the part is [Required]. hint says how to get the part.
func Need(t testing.TB, part string, present bool, hint string) {
	t.Helper()
	if present {
		return
	}
	if Required(part) {
		t.Fatalf("%s is required by %s and is not there: %s", part, RequireVariable, hint)
	}
	t.Skipf("%s is not there: %s", part, hint)
}
