package testkit

import (
	"os/exec"
	"testing"
)

// Bubblewrap ends a test that needs the local backend where bubblewrap is absent.
func Bubblewrap(t testing.TB) {
	t.Helper()
	_, err := exec.LookPath("bwrap")
	Need(t, "bubblewrap", err == nil, "run: apt-get install bubblewrap")
}
