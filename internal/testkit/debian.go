package testkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/debian"
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
	_, err := exec.LookPath(debian.Program)
	Need(t, "mmdebstrap", err == nil, "apt-get install mmdebstrap")
	err = debianOnce()
	Need(t, "docker", err == nil, fmt.Sprintf("start a Docker Engine on a local socket (%v)", err))
	return DebianReference
}

func debianContent() (io.Reader, error) {
	var content bytes.Buffer
	err := debian.Bootstrap{Suite: "bookworm", Variant: "apt", Include: []string{"ca-certificates"}}.Write(context.Background(), &content)
	return &content, err
}
