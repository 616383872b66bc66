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

// Need ends a test that needs a part of the machine which is not present: it skips the test, or
// fails it when [RequireVariable] names the part. hint says how to get the part.
func Need(t testing.TB, part string, present bool, hint string) {
	t.Helper()
	if present {
		return
	}
	required := strings.Split(os.Getenv(RequireVariable), ",")
	if slices.ContainsFunc(required, func(name string) bool { return strings.TrimSpace(name) == part }) {
		t.Fatalf("%s is required by %s and is not there: %s", part, RequireVariable, hint)
	}
	t.Skipf("%s is not there: %s", part, hint)
}
