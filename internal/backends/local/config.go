// Package local runs sandboxes on this machine, without a daemon. A sandbox is a private folder
// below the data directory, and each command runs through bubblewrap in namespaces of its own.
package local

import "github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"

// backendName is the value of the `backend` attribute.
const backendName = "local"

// Values of [Config.Isolation].
const (
	// IsolationBubblewrap is the default: every command runs in namespaces of its own.
	IsolationBubblewrap = "bubblewrap"
	// IsolationNone runs commands on the bare host, as the user of this process.
	IsolationNone = "none"
)

// Paths inside every sandbox.
const (
	workspacePath = "/workspace"
	homePath      = "/home/agent"
	tmpPath       = "/tmp"
)

// Config says where sandboxes live and how commands are isolated. Nothing in it is checked
// before the first call that needs it.
type Config struct {
	// DataDir is an absolute path. Sandboxes live in its folder "local".
	DataDir string
	// BubblewrapPath is the program to run; empty means "bwrap" on PATH.
	BubblewrapPath string
	// Isolation is [IsolationBubblewrap] (also when empty) or [IsolationNone].
	Isolation string
	// Observer is told of every step that changes something and of every process started.
	Observer effects.Observer
}
