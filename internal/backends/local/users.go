//go:build linux

package local

import (
	"hash/fnv"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Sandboxes made by root get a uid of their own from a range that no user database hands out and
// that still fits in 31 bits.
const (
	firstUID = 2_000_000_000
	uidRange = 100_000_000
)

// sandboxUID returns the uid of a new sandbox, 0 when commands run as the present user.
func (b *Backend) sandboxUID(name string) int {
	if !b.asRoot() {
		return 0
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name)) // documented never to fail
	return firstUID + int(hash.Sum32()%uidRange)
}

// runnableBy checks that the present user may work on the files of a sandbox. It also keeps a
// record edited by hand from running commands as root or as another user of the host.
func (b *Backend) runnableBy(op operation, stored record) error {
	if b.bare() {
		return nil
	}
	inRange := stored.UID >= firstUID && stored.UID < firstUID+uidRange
	switch {
	case b.asRoot() && stored.UID == 0:
		failure := op.fail(backends.Unauthorized, "The sandbox was made by an ordinary user, so root does not run commands in it.")
		failure.Remedy = "Run as the user who made it."
		return failure
	case b.asRoot() && !inRange:
		return op.fail(backends.Failed, "The record of the sandbox names the uid %d, which is not one of a sandbox.", stored.UID)
	case !b.asRoot() && stored.UID != 0:
		failure := op.fail(backends.Unauthorized, "The sandbox was made by root.")
		failure.Remedy = "Run as root, or make a new sandbox."
		return failure
	}
	return nil
}
