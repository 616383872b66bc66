//go:build linux

package local_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/conformance"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/local"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func TestConformance(t *testing.T) {
	testkit.Bubblewrap(t)
	conformance.Run(t, conformance.Harness{
		Name:     "local",
		Parallel: true,
		New: func(t conformance.T) backends.Backend {
			return local.New(local.Config{DataDir: filepath.Join(t.TempDir(), "data")})
		},
		Rootfs: busyboxRootfs,
		Lacks:  missingParts,
	})
}

// missingParts tells what the machine lacks for a capability.
func missingParts(t conformance.T, capability string) string {
	program := map[string]string{"network_allow_all": "slirp4netns", "source_rootfs": "busybox"}[capability]
	if program == "" {
		return ""
	}
	lack := ""
	if _, err := exec.LookPath(program); err != nil {
		lack = program + " is not installed"
	} else if program == "slirp4netns" && !canOpen("/dev/net/tun") {
		lack = "/dev/net/tun cannot be opened"
	}
	if lack != "" && testkit.Required(program) {
		t.Fatalf("%s is required: %s", program, lack)
	}
	return lack
}

func canOpen(device string) bool {
	file, err := os.OpenFile(device, os.O_RDWR, 0)
	return err == nil && file.Close() == nil
}

// busyboxRootfs makes a root file system of one static program.
func busyboxRootfs(t conformance.T) string {
	t.Helper()
	program, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatalf("%v", err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatalf("%v", err)
	}
	rootfs := filepath.Join(t.TempDir(), "rootfs")
	for _, directory := range []string{"bin", "usr/bin", "etc", "tmp"} {
		if err := os.MkdirAll(filepath.Join(rootfs, directory), 0o755); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if err := os.WriteFile(filepath.Join(rootfs, "bin/busybox"), content, 0o755); err != nil {
		t.Fatalf("%v", err)
	}
	applets, err := exec.Command(program, "--list").Output()
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, applet := range strings.Fields(string(applets)) {
		if applet == "busybox" {
			continue
		}
		if err := os.Symlink("busybox", filepath.Join(rootfs, "bin", applet)); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return rootfs
}
