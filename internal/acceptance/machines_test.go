package acceptance_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner/machines"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// onMachines is a project whose servers are real machines: systemd, cloud-init, sshd and Docker.
func onMachines(t *testing.T, preinstalled bool, image string) *project {
	t.Helper()
	clis := acctest.CLIs(t)
	if len(clis) == 0 {
		t.Skip("no CLI is there")
	}
	guests, err := machines.New(t.Context(), machines.Options{Preinstalled: preinstalled, Images: []string{image}, Log: func(message string) { t.Log(message) }})
	testkit.Need(t, "machines", err == nil, fmt.Sprint(err))
	t.Cleanup(func() {
		if err := guests.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &project{Workspace: acctest.NewWorkspace(t, clis[len(t.Name())%len(clis)], ""), t: t}
	p.server = hetzner.Start(t, hetzner.Config{Guests: guests})
	p.Setenv("HCLOUD_TOKEN", p.server.Token())
	p.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1") // the engine of this machine is not the host's
	p.provider(`poll_interval = "200ms"`)
	return p
}

// ssh runs a command on the host by the plain program and the configuration that the provider wrote.
func (p *project) ssh(command string, options ...string) (string, error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	arguments := append([]string{"-F", p.Show().Text(hostAddress, "ssh_config_path")}, options...)
	output, err := exec.CommandContext(ctx, "ssh", append(arguments, p.Unique("it"), command)...).CombinedOutput()
	return strings.TrimSpace(string(output)), err
}

func (p *project) mustSSH(command string) string {
	p.t.Helper()
	output, err := p.ssh(command)
	if err != nil {
		p.t.Fatalf("%s: %v: %s", command, err, output)
	}
	return output
}

// onMachine is a host and a sandbox on it with a file and a command inside.
func (p *project) onMachine(image, state string, lines ...string) string {
	lines = append(lines, `image = "debian-13"`, `docker_packages = "distribution"`, fmt.Sprintf("desired_state = %q", state))
	return p.host("it", lines...) + fmt.Sprintf(`
resource "sandlot_persistent_sandbox" "box" {
  backend       = "docker"
  cloud_host_id = sandlot_cloud_host.it.id
  name          = "box"
  source        = { image = %q }
  %s
}
resource "sandlot_file" "it" {
  sandbox_id = sandlot_persistent_sandbox.box.id
  path       = "a.txt"
  content    = "on a machine"
}
resource "sandlot_command" "it" {
  sandbox_id = sandlot_file.it.sandbox_id
  command    = ["sh", "-c", "cat a.txt"]
}
`, image, strings.Join(givenOnDestroy(lines), "\n  "))
}

func givenOnDestroy(lines []string) []string {
	for _, line := range lines {
		if strings.HasPrefix(line, "on_destroy ") {
			return []string{line}
		}
	}
	return nil
}

// TestMachineLife carries a host with a real machine behind it from the bare system through all of its
// life: cloud-init installs Docker, a sandbox comes in the same apply, and what was written is there after
// the sleep and after it was retained.
func TestMachineLife(t *testing.T) {
	image := testkit.DockerImage(t)
	p := onMachines(t, false, image)
	p.Config(p.onMachine(image, "running"))
	p.settled(acctest.Limit(15 * time.Minute))
	state, made := p.Show(), p.only()
	if output := state.Text("sandlot_command.it", "stdout"); output != "on a machine" {
		t.Errorf("the command printed %q", output)
	}
	pinned := state.Text(hostAddress, "host_key_fingerprint")
	for command, want := range map[string]string{
		"cat /etc/hostname":                                p.Unique("it"),
		"cloud-init schema --system":                       "Valid schema user-data",
		"docker compose version --short":                   "2.",
		"docker inspect -f {{.Name}} box":                  "/box",
		"ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub": pinned,
		"rsync --version":                                  "rsync",
		"sshd -T | grep ^passwordauth":                     "passwordauthentication no",
	} {
		if output := p.mustSSH(command); !strings.Contains(output, want) {
			t.Errorf("%s says %s, want %s", command, output, want)
		}
	}
	// The key of the user data is worthless by now.
	if strings.Contains(string(made.UserData), strings.Fields(p.mustSSH("cat /etc/ssh/ssh_host_ed25519_key.pub"))[1]) {
		t.Error("the host still has the key that stands in its user data")
	}
	if output, err := p.ssh("true", "-o", "UserKnownHostsFile=/dev/null"); err == nil || !strings.Contains(output, "verification failed") {
		t.Errorf("without the pin ssh says %v: %s", err, output)
	}
	p.mustSSH("echo kept > /root/kept")

	p.Config(p.onMachine(image, "sleeping"))
	p.Apply().Succeed()
	p.Plan().Empty().Warn("host_sleeping")
	if now := p.only(); now.Status != "off" {
		t.Errorf("asleep, the server is %+v", now)
	}
	p.Config(p.onMachine(image, "running"))
	p.Apply().Succeed()
	p.settled()
	if kept := p.mustSSH("cat /root/kept"); kept != "kept" || p.Show().Text(hostAddress, "host_key_fingerprint") != pinned || p.only().IPv4 != made.IPv4 {
		t.Errorf("after the sleep the disk has %q, the server is %+v", kept, p.only())
	}

	// A host that shows another key is not talked to.
	p.mustSSH("cp -a /etc/ssh/ssh_host_ed25519_key /root/key; cp -a /etc/ssh/ssh_host_ed25519_key.pub /root/key.pub; rm /etc/ssh/ssh_host_ed25519_key*; ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key; systemctl restart ssh")
	p.Plan().FailWith("not_running")
	if output, err := p.ssh("true"); err == nil || !strings.Contains(output, "verification failed") {
		t.Errorf("plain ssh says %v: %s", err, output)
	}
	p.mustSSHAnyway("cp -a /root/key /etc/ssh/ssh_host_ed25519_key; cp -a /root/key.pub /etc/ssh/ssh_host_ed25519_key.pub; systemctl restart ssh")

	p.Destroy().Succeed().Warn("retained")
	if now := p.only(); now.Status != "off" || now.ID != made.ID {
		t.Errorf("retained, the server is %+v", now)
	}
	p.Config(p.onMachine(image, "running", `on_destroy = "purge"`))
	p.Apply().Succeed()
	p.settled()
	if kept := p.mustSSH("cat /root/kept"); kept != "kept" || p.only().ID != made.ID {
		t.Errorf("taken back, the disk has %q", kept)
	}
	p.Destroy().Succeed()
	p.nothing()
}

// mustSSHAnyway runs a command on a host whose key is not the pinned one, as its owner would.
func (p *project) mustSSHAnyway(command string) {
	p.t.Helper()
	if output, err := p.ssh(command, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile="+filepath.Join(p.t.TempDir(), "known")); err != nil {
		p.t.Fatalf("%v: %s", err, output)
	}
}
