package testkit

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"testing"
)

// DebianReference is an image with a real package manager and its configuration, for tests that install
// packages.
const DebianReference = "sandlot-test/debian:12"

var debianOnce = sync.OnceValue(func() error { return ensureImage(DebianReference, debianContent) })

// DebianImage returns the reference of a small Debian, which it makes and imports into the engine when
// it is missing there. The test needs a Docker Engine on a local socket, mmdebstrap, and a network by
// which Debian's packages are reached, also from containers.
func DebianImage(t testing.TB) string {
	t.Helper()
	_, err := exec.LookPath("mmdebstrap")
	Need(t, "mmdebstrap", err == nil, "apt-get install mmdebstrap")
	err = debianOnce()
	Need(t, "docker", err == nil, fmt.Sprintf("start a Docker Engine on a local socket (%v)", err))
	return DebianReference
}

func debianContent() (io.Reader, error) {
	var said bytes.Buffer
	bootstrap := exec.Command("mmdebstrap", "--quiet", "--variant=apt", "--include=ca-certificates", "bookworm", "-")
	bootstrap.Stderr = &said
	content, err := bootstrap.Output()
	if err != nil {
		return nil, fmt.Errorf("make a Debian: %w: %s", err, said.Bytes())
	}
	return bytes.NewReader(content), nil
}
