//go:build linux

package local

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Exit statuses that shells use for a program that is absent or cannot be executed.
const (
	statusNotFound      = 127
	statusNotExecutable = 126
)

// notExecuted recognizes bubblewrap's last words when all was set up and the program could not
// be executed. The command cannot forge them: bubblewrap reports a status for whatever ran.
func notExecuted(stderr []byte, program string) (status int, message string, yes bool) {
	reason, found := strings.CutPrefix(string(stderr), "bwrap: execvp "+program+": ")
	if !found {
		return 0, "", false
	}
	status = statusNotExecutable
	if strings.HasPrefix(reason, "No such file") {
		status = statusNotFound
	}
	return status, fmt.Sprintf("%s: %s", program, reason), true
}

// setupFailure makes a typed error of what bubblewrap, or what started it, said.
func setupFailure(op operation, stderr []byte, ended error) error {
	said := firstLine(stderr)
	contains := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(said, part) {
				return true
			}
		}
		return false
	}
	var failure *backends.Error
	switch {
	case contains("Can't chdir to"):
		failure = op.on("working_directory").fail(backends.Invalid, "The working directory does not exist in the sandbox or cannot be entered.")
	case contains("No permissions to creat", "Creating new namespace failed", "setting up uid map", "Failed to make / slave", "loopback: Failed RTM_NEWADDR: Operation not permitted", "unshare user ns", "max_user_namespaces"):
		failure = op.fail(backends.Unauthorized, "This machine does not let an ordinary user make namespaces.")
		failure.Remedy = "Allow it: `sysctl -w kernel.unprivileged_userns_clone=1` on older Debian, `sysctl -w user.max_user_namespaces=15000` where it is 0, " +
			"an AppArmor profile for bwrap (package apparmor-profiles) on Ubuntu from 24.04. In a container, run it with fewer restrictions."
	case contains("setresuid failed", "setresgid failed", "setgroups failed"):
		failure = op.fail(backends.Unauthorized, "This process is root of a user namespace that has no uids for sandboxes.")
		failure.Remedy = "Run as an ordinary user, or map the uids from 2000000000 to 2100000000 into the namespace."
	case contains("Can't mount proc", "mount proc"):
		failure = op.fail(backends.Unauthorized, "The kernel does not let an ordinary user mount /proc, as in a container that hides parts of it.")
		failure.Remedy = "Run the container with `--security-opt systempaths=unconfined`, or run outside of it."
	case contains("Can't find source path", "Can't bind mount", "Can't mkdir", "Can't create file"):
		failure = op.on("mounts").fail(backends.Invalid, "A mount could not be set up: its source is absent, or its target cannot be made there.")
	case contains("Resource temporarily unavailable", "No space left on device", "Cannot allocate memory"):
		failure = op.fail(backends.NoCapacity, "The machine has no room for another command.")
	default:
		failure = op.fail(backends.Failed, "The command was not executed or was ended from outside.")
	}
	if said != "" {
		failure.Err = errors.New(said)
	} else {
		failure.Err = ended
	}
	return failure
}
