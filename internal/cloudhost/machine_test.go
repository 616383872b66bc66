package cloudhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner/machines"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlite"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// sshInto runs a command on a host by the real client, with nothing but the configuration that was written.
func sshInto(t *testing.T, host Host, command string) (string, error) {
	t.Helper()
	client := exec.CommandContext(t.Context(), "ssh", "-F", host.SSHConfigPath, host.Name, command)
	client.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	output, err := client.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return strings.TrimSpace(string(output)), err
}

// The whole life of a host on a real machine: real cloud-init runs the real user data and installs the
// distribution's Docker, a real sshd has its key rotated, real systemd shuts down and comes up again. Docker's
// own repository is not asked: what the script does with it is checked as text.
func TestRealMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs packages")
	}
	t.Parallel()
	guests, err := machines.New(t.Context(), machines.Options{Log: func(message string) { t.Log(message) }})
	testkit.Need(t, "machines", err == nil, fmt.Sprint("real machines need a local Docker Engine, mmdebstrap, root and Debian's packages: ", err))
	t.Cleanup(func() { _ = guests.Close() })
	p := &place{t: t, dir: filepath.Join(t.TempDir(), "data"), api: simulator.Start(t, simulator.Config{Guests: guests})}
	p.manager = p.open(p.api.Token())
	p.store = p.manager.Store.(*sqlite.Store)
	wish := request()
	wish.Image, wish.DockerPackages, wish.AuthorizedKeys = "debian-13", PackagesDistribution, []string{mustKeyPair(t).public + " further"}
	patience := 12 * time.Minute

	result, err := p.manager.Create(p.bounded(patience), wish, nil)
	if err != nil {
		t.Fatalf("create: %v\n%s", err, p.console())
	}
	host := result.Host
	k := p.settled()
	injected := string(p.api.Inventory().Servers[0].UserData)
	for command, want := range map[string]string{
		"cat /var/lib/sandlot/bootstrapped":                                                                               "",
		"cut -d ' ' -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub":                                                             k.HostKeys[0],
		"ls /etc/ssh | grep -c '^ssh_host_.*_key$'":                                                                       "1",
		"grep -c further /root/.ssh/authorized_keys":                                                                      "1",
		"systemctl is-enabled docker sandlot-metadata-guard":                                                              "enabled\nenabled",
		"systemctl is-active docker sandlot-metadata-guard":                                                               "active\nactive",
		"docker buildx version >/dev/null && docker compose version >/dev/null && rsync --version >/dev/null && echo all": "all",
		"stat -c '%a %U' /etc/sandlot/authorized_keys /usr/local/sbin/sandlot-host":                                       "600 root\n755 root",
		"sshd -T | grep -E '^(permitrootlogin|passwordauthentication)'":                                                   "permitrootlogin without-password\npasswordauthentication no",
	} {
		if said, err := sshInto(t, host, command); err != nil || said != want {
			t.Errorf("%s: %q, %v, want %q", command, said, err, want)
		}
	}
	if strings.Contains(injected, k.HostKeys[0]) {
		t.Error("the host still has the key that its user data carries")
	}
	p.guarded(host)
	if err := p.pings(host); err != nil {
		t.Error(err)
	}
	if _, err := sshInto(t, host, "echo kept >/root/kept && sync"); err != nil {
		t.Fatal(err)
	}

	asleep := wish
	asleep.DesiredState = DesiredSleeping
	slept, err := p.manager.Update(p.bounded(patience), host.Attachment, asleep, nil)
	if err != nil || slept.Host.Status != StatusSleeping {
		t.Fatalf("sleep: %+v, %v", slept, err)
	}
	_, err = p.manager.DialEngine(t.Context(), host.RecordID)
	fails(t, err, CodeSleeping)
	woken, err := p.manager.Update(p.bounded(patience), host.Attachment, wish, nil)
	if err != nil || woken.Host.Status != StatusRunning {
		t.Fatalf("wake: %+v, %v", woken, err)
	}
	if said, err := sshInto(t, host, "cat /root/kept"); err != nil || said != "kept" {
		t.Errorf("after the wake the file holds %q, %v", said, err)
	}
	if after := p.settled(); after.HostKeys[0] != k.HostKeys[0] || after.IPv4 != k.IPv4 || after.ServerID != k.ServerID {
		t.Errorf("it was %+v and is %+v", k.contents, after.contents)
	}
	p.guarded(host)
	if err := p.pings(host); err != nil {
		t.Error(err)
	}

	wrong := p.record()
	wrong.HostKeys = []string{mustKeyPair(t).public}
	_, err = p.manager.ready(p.bounded(time.Minute), wrong)
	fails(t, err, CodeHostKeyMismatch)

	outcome, err := p.manager.Delete(p.bounded(patience), host.Owner, host.Name, host.Attachment, false)
	if err != nil || outcome != sandbox.Retained {
		t.Fatalf("retain: %q, %v", outcome, err)
	}
	again, err := p.manager.Create(p.bounded(patience), wish, nil)
	if err != nil || !again.Reattached {
		t.Fatalf("re-attach: %+v, %v", again, err)
	}
	if said, err := sshInto(t, again.Host, "cat /root/kept"); err != nil || said != "kept" {
		t.Errorf("after the re-attach the file holds %q, %v", said, err)
	}
	p.delete(again.Host, true, sandbox.Removed)
	p.empty()
}

// probeNetwork asks for the metadata as a container would: from a network of its own, by forwarding.
const probeNetwork = `set -e
sysctl -qw net.ipv4.ip_forward=1
ip netns add probe
ip link add probe0 type veth peer name probe1 netns probe
ip addr add 198.18.0.1/30 dev probe0
ip link set probe0 up
ip -n probe addr add 198.18.0.2/30 dev probe1
ip -n probe link set probe1 up
ip -n probe route add default via 198.18.0.1
ip netns exec probe timeout 2 bash -c 'exec 3<>/dev/tcp/169.254.169.254/80' 2>/dev/null || true
ip netns del probe
nft list chain inet sandlot_metadata forward | grep -c '169.254.169.254 counter packets [1-9]'`

// guarded checks that only root reaches the metadata addresses, and containers do not.
func (p *place) guarded(host Host) {
	p.t.Helper()
	const rules = "nft list table inet sandlot_metadata"
	said, err := sshInto(p.t, host, rules)
	if err != nil || strings.Count(said, "reject") != 2 || strings.Count(said, "drop") != 2 {
		p.t.Errorf("%s: %q, %v", rules, said, err)
	}
	// A refusal is told at once; what nobody answers takes the whole time.
	const ask = `runuser -u nobody -- timeout 5 bash -c 'exec 3<>/dev/tcp/169.254.169.254/80'; echo $?`
	if said, err := sshInto(p.t, host, ask); err != nil || said != "1" {
		p.t.Errorf("asked by nobody: %q, %v", said, err)
	}
	if said, err := sshInto(p.t, host, probeNetwork); err != nil || said != "1" {
		p.t.Errorf("asked from behind: %q, %v", said, err)
	}
}

// pings asks the engine of a host.
func (p *place) pings(host Host) error {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return p.manager.DialEngine(ctx, host.RecordID)
	}}}
	defer client.CloseIdleConnections()
	response, err := client.Get("http://engine/_ping")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err == nil && string(said) != "OK" {
		err = fmt.Errorf("the engine said %q", said)
	}
	return err
}

// console is the end of what cloud-init printed, for a test that failed.
func (p *place) console() string {
	k := p.record()
	if k.IPv4 == "" {
		return ""
	}
	said, err := sshInto(p.t, p.manager.described(k, nil), "tail -n 40 /var/log/cloud-init-output.log; systemctl --failed --no-legend; cloud-init status --long")
	return fmt.Sprint(said, err)
}
