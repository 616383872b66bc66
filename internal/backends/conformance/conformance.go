// Package conformance is the one suite that every backend passes. It exercises for real what a
// backend declares in its capability table, and checks that it refuses everything else.
//
// The suite looks from outside by the backend's own reads, and from inside by commands. It needs
// in each sandbox a POSIX shell and cat, chmod, env, head, id, ln, ls, mkdir, rm, sha256sum, sleep,
// stat and tr.
package conformance

import (
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Harness tells the suite how to use a backend. Only New is required.
type Harness struct {
	// New returns the backend, in a fresh place or a shared one. It is called once.
	New func(t T) backends.Backend
	// Name is the expected name of the backend; empty when any will do.
	Name string
	// Source is what sandboxes are made from; zero for the backend's default.
	Source backends.Source
	// Rootfs returns a directory with a root file system, which the suite may add a file to. It is
	// required when the capability table has RootfsSource.
	Rootfs func(t T) string
	// UniqueName returns a name that no other sandbox has. Nil: random ones.
	UniqueName func() string
	// Runtime, Git and Tarball are required when the capability table has their sources: a runtime's
	// name, and the addresses of a repository and an archive that hold a file "marker" with the text
	// "marker" and nothing else.
	Runtime      string
	Git, Tarball string
	// AnyImage says that every image reference can be started from, so that none is absent.
	AnyImage bool
	// NoNetwork says that sandboxes are without network in every mode, so that only what is told of
	// modes and ports can be checked.
	NoNetwork bool
	// UnreachableKinds are the kinds of error that tell of an engine that does not answer. Nil: not
	// running, not installed, unauthorized.
	UnreachableKinds []backends.ErrorKind
	// HostDir returns an empty directory that can be mounted; nil: a temporary one.
	HostDir func(t T) string
	// LoseCompute removes the compute of a sandbox behind the backend's back and leaves its data.
	// Nil when that cannot happen.
	LoseCompute func(t T, name string)
	// Unreachable returns a backend whose engine does not answer. Nil when there is no engine.
	Unreachable func(t T) backends.Backend
	// Lacks returns what this machine lacks to exercise a capability, "" when nothing. It may skip.
	Lacks func(t T, capability string) string
	// Parallel runs the checks of the suite side by side.
	Parallel bool
}

// Run runs the suite.
func Run(t *testing.T, harness Harness) {
	t.Helper()
	Check(standard{t}, harness)
}

// check is one part of the suite.
type check struct {
	name string
	test func(T, *env)
}

// Check is [Run] for any T.
func Check(t T, harness Harness) {
	t.Helper()
	e := newEnv(t, harness)
	if e == nil {
		return
	}
	for _, c := range allChecks(e) {
		t.Run(c.name, func(t T) {
			if harness.Parallel {
				t.Parallel()
			}
			c.test(t, e)
		})
	}
}

// allChecks puts the cheap and general checks first.
func allChecks(e *env) []check {
	var all []check
	for _, group := range [][]check{
		lifecycleChecks(), execChecks(), fileChecks(), escapeChecks(), configurationChecks(), capabilityChecks(), outsideChecks(e.harness),
	} {
		all = append(all, group...)
	}
	return all
}
