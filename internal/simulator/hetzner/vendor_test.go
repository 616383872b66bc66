package hetzner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// The vendor's command line and Terraform provider judge the simulator where they are installed. They are
// programs, not pinned as tools of this repository.

// needVendor returns the path of a program of the vendor's, from .build/bin or PATH.
func needVendor(t *testing.T, part, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../../.build/bin", name))
	if err == nil {
		if _, err = os.Stat(path); err != nil {
			path, err = exec.LookPath(name)
		}
	}
	testkit.Need(t, part, err == nil, "put "+name+" (1.67 or later) on PATH or into .build/bin")
	return path
}

// vendor runs a program with nothing in its environment but the endpoint and the token.
type vendor struct {
	project
	program string
	home    string
	env     []string
}

func (v vendor) run(arguments ...string) string {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, v.program, arguments...)
	command.Dir = v.home
	command.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + v.home, "HCLOUD_ENDPOINT=" + v.server.URL(), "HCLOUD_TOKEN=" + v.server.Token(),
	}, v.env...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		v.t.Fatalf("%s: %v\n%s%s", strings.Join(arguments, " "), err, stdout.String(), stderr.String())
	}
	return strings.TrimSpace(stdout.String())
}

func TestCommandLine(t *testing.T) {
	v := vendor{program: needVendor(t, "hcloud", "hcloud"), project: newProject(t, Config{}), home: t.TempDir()}
	if err := os.WriteFile(filepath.Join(v.home, "key.pub"), []byte(publicKey(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	v.run("ssh-key", "create", "--name", "key", "--public-key-from-file", "key.pub", "--label", "a=b")
	v.run("primary-ip", "create", "--name", "ip", "--type", "ipv4", "--location", "fsn1")
	id := v.run("primary-ip", "describe", "ip", "-o", "format={{.ID}}")
	v.run("server", "create", "--name", "s", "--type", "cx23", "--image", "ubuntu-24.04", "--location", "fsn1",
		"--ssh-key", "key", "--primary-ipv4", id, "--without-ipv6", "--label", "x=y", "--user-data-from-file", "key.pub")
	var listed []fields
	if err := json.Unmarshal([]byte(v.run("server", "list", "-l", "x=y", "-o", "json")), &listed); err != nil || len(listed) != 1 {
		t.Fatalf("the list has %v, %v", listed, err)
	}
	server := v.server.Inventory().Servers[0]
	equal(t, "id", number(listed[0], "id"), server.ID)
	equal(t, "address", server.IPv4, v.server.Inventory().PrimaryIPs[0].IP)
	equal(t, "IPv6", server.IPv6, "")
	equal(t, "status", v.run("server", "describe", "s", "-o", "format={{.Status}}"), "running")
	v.run("server", "shutdown", "--wait", "s")
	equal(t, "status", v.status(server.ID), "off")
	v.run("server", "poweron", "s")
	v.run("server", "poweroff", fmt.Sprint(server.ID))
	equal(t, "status", v.status(server.ID), "off")
	v.run("server", "delete", "s")
	v.run("primary-ip", "delete", "ip")
	v.run("ssh-key", "delete", "key")
	for _, kind := range []string{"server", "primary-ip", "ssh-key", "image", "server-type", "location", "iso", "placement-group"} {
		v.run(kind, "list")
	}
	left := v.server.Inventory()
	equal(t, "left", len(left.Servers)+len(left.PrimaryIPs)+len(left.SSHKeys), 0)
}

const vendorConfiguration = `
terraform {
  required_providers {
    hcloud = { source = "hetznercloud/hcloud" }
  }
}
resource "hcloud_ssh_key" "k" {
  name       = "k"
  public_key = %q
  labels     = { a = "b" }
}
resource "hcloud_primary_ip" "ip" {
  name        = "ip"
  type        = "ipv4"
  location    = "fsn1"
  auto_delete = false
}
resource "hcloud_server" "s" {
  name                     = "s"
  server_type              = "cx23"
  image                    = "ubuntu-24.04"
  location                 = "fsn1"
  ssh_keys                 = [hcloud_ssh_key.k.id]
  shutdown_before_deletion = %t
  public_net {
    ipv4_enabled = true
    ipv4         = hcloud_primary_ip.ip.id
    ipv6_enabled = false
  }
}
`

func TestProvider(t *testing.T) {
	provider := needVendor(t, "hcloud", "terraform-provider-hcloud")
	terraform, err := exec.LookPath("terraform")
	testkit.Need(t, "terraform", err == nil, "install Terraform")
	for _, shutdown := range []bool{true, false} {
		t.Run(fmt.Sprintf("shutdown_before_deletion=%t", shutdown), func(t *testing.T) {
			v := vendor{program: terraform, project: newProject(t, Config{}), home: t.TempDir()}
			rc := filepath.Join(v.home, "cli.rc")
			for name, content := range map[string]string{
				rc:                               fmt.Sprintf("provider_installation {\n  dev_overrides { \"hetznercloud/hcloud\" = %q }\n  direct {}\n}\n", filepath.Dir(provider)),
				filepath.Join(v.home, "main.tf"): fmt.Sprintf(vendorConfiguration, publicKey(t), shutdown),
			} {
				if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			v.env = []string{"TF_CLI_CONFIG_FILE=" + rc, "CHECKPOINT_DISABLE=1"}
			v.run("apply", "-auto-approve", "-no-color")
			made := v.server.Inventory()
			equal(t, "made", fmt.Sprint(len(made.Servers), len(made.PrimaryIPs), len(made.SSHKeys)), "1 1 1")
			v.run("plan", "-detailed-exitcode", "-no-color") // 2, an error, when there is a difference
			v.run("destroy", "-auto-approve", "-no-color")
			left := v.server.Inventory()
			equal(t, "left", len(left.Servers)+len(left.PrimaryIPs)+len(left.SSHKeys), 0)
		})
	}
}
