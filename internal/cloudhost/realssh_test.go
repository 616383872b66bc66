package cloudhost

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner/sshguest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// realHost is a real sshd that sees a file system of its own, with the program that the user data installs.
// cloud-init, docker and rsync are stand-ins: whether those work is for the real machines to show.
type realHost struct {
	t       *testing.T
	dir     string
	address string
	manager *Manager
	known   *known
}

func newRealHost(t *testing.T) *realHost {
	t.Helper()
	_, noServer := os.Stat("/usr/sbin/sshd")
	testkit.Need(t, "sshd", noServer == nil && os.Getuid() == 0, "apt-get install openssh-server, and run as root")
	testkit.Bubblewrap(t)
	testkit.Need(t, "ssh-port", sshguest.Available() == nil, "port 22 of loopback addresses")
	h := &realHost{t: t, dir: t.TempDir(), address: fmt.Sprintf("127.%d.%d.%d", 130+rand.IntN(60), rand.IntN(256), 1+rand.IntN(254))}
	h.manager = newManager(filepath.Join(h.dir, "data dir's"), "http://127.0.0.1:1/v1", strings.Repeat("t", 64), nil)
	t.Cleanup(func() { _ = h.manager.Store.Close() })
	h.known = &known{Record: store.Record{
		ID: sandbox.NewToken(), Kind: RecordKind, Backend: Backend, Binding: h.manager.API.Binding().String(), Owner: "o", Name: build,
	}, contents: contents{DockerPackages: PackagesDocker, IPv4: h.address}}
	var err error
	if h.known.Record, err = h.manager.Store.Insert(t.Context(), h.known.Record); err != nil {
		t.Fatal(err)
	}
	if err := h.manager.makeKeys(t.Context(), h.known); err != nil {
		t.Fatal(err)
	}
	if err := h.manager.writeSSHFiles(t.Context(), h.known); err != nil {
		t.Fatal(err)
	}
	h.boot()
	return h
}

// boot lays the files out and starts sshd.
func (h *realHost) boot() {
	h.t.Helper()
	private, _, err := h.manager.private(h.t.Context(), h.known, hostSecret, h.known.InjectedKey)
	if err != nil {
		h.t.Fatal(err)
	}
	const answers = "#!/bin/sh\nexit 0\n"
	for path, file := range map[string]struct {
		content string
		mode    os.FileMode
	}{
		"ssh/ssh_host_ed25519_key":     {private, 0o600},
		"ssh/ssh_host_ed25519_key.pub": {h.known.InjectedKey + "\n", 0o644},
		"ssh/sshd_config":              {"ListenAddress " + h.address + "\nPidFile /run/sshd.pid\nUsePAM no\nPermitRootLogin prohibit-password\n", 0o644},
		"root/.ssh/authorized_keys":    {"# somebody's own line\n" + h.known.ClientKey + "\n", 0o600},
		"lib/sandlot/bootstrapped":     {"", 0o644},
		"sbin/sandlot-host":            {hostScript, 0o755},
		"sbin/systemctl":               {"#!/bin/sh\n[ ! -e /root/deaf ] && kill -HUP \"$(cat /run/sshd.pid)\"\n", 0o755},
		"sbin/cloud-init":              {answers, 0o755},
		"sbin/docker":                  {answers, 0o755},
		"sbin/rsync":                   {answers, 0o755},
	} {
		path = filepath.Join(h.dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			h.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file.content), file.mode); err != nil {
			h.t.Fatal(err)
		}
	}
	server := exec.CommandContext(h.t.Context(), "bwrap", "--die-with-parent", "--unshare-pid", "--cap-add", "ALL",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run", "--dir", "/run/sshd", "--tmpfs", "/tmp",
		"--bind", filepath.Join(h.dir, "ssh"), "/etc/ssh", "--bind", filepath.Join(h.dir, "root"), "/root",
		"--bind", filepath.Join(h.dir, "lib"), "/var/lib", "--bind", filepath.Join(h.dir, "sbin"), "/usr/local/sbin",
		"/usr/sbin/sshd", "-D", "-e")
	var log bytes.Buffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if h.t.Failed() {
			h.t.Logf("sshd: %s", log.Bytes())
		}
	})
}

// ssh runs the real client with nothing but the configuration that was written.
func (h *realHost) ssh(command string) (string, error) {
	h.t.Helper()
	client := exec.CommandContext(h.t.Context(), "ssh", "-F", h.manager.SSHConfigPath(h.known.ID), build, command)
	client.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.t.TempDir()}
	output, err := client.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return strings.TrimSpace(string(output)), err
}

func (h *realHost) ready() *shell {
	h.t.Helper()
	host, err := h.manager.ready(h.t.Context(), h.known)
	if err != nil {
		h.t.Fatal(err)
	}
	return host
}

func (h *realHost) rotate() error {
	h.t.Helper()
	host := h.ready()
	host, err := h.manager.rotate(h.t.Context(), h.known, host)
	_ = host.Close()
	return err
}

// rotated checks that the host shows a new key, that it is the only one pinned, and that nobody is locked out.
func (h *realHost) rotated(injected string) {
	h.t.Helper()
	k := h.known
	if k.InjectedKey != "" || len(k.HostKeys) != 1 || k.HostKeys[0] == injected {
		h.t.Errorf("pinned are %q, injected %q", k.HostKeys, k.InjectedKey)
	}
	if said, err := h.ssh("cut -d ' ' -f 1,2 /etc/ssh/ssh_host_ed25519_key.pub; ls /etc/ssh"); err != nil || !strings.HasPrefix(said, k.HostKeys[0]+"\n") || strings.Contains(said, "next") {
		h.t.Errorf("ssh -F: %q, %v, want the key %s", said, err, k.HostKeys[0])
	}
	_ = h.ready().Close()
}

func TestRealServer(t *testing.T) {
	t.Parallel()
	h := newRealHost(t)
	injected := h.known.InjectedKey
	_ = h.ready().Close()
	if said, err := h.ssh("id -u"); err != nil || said != "0" {
		t.Fatalf("before the rotation, ssh -F: %q, %v", said, err)
	}
	if err := h.rotate(); err != nil {
		t.Fatal(err)
	}
	h.rotated(injected)
	h.strict()
	// The key that user data carries is worth nothing any more.
	stale := h.known.knownHosts()
	if err := h.manager.writeFile(t.Context(), h.known.ID, fileKnownHosts, h.address+" "+injected+"\n"); err != nil {
		t.Fatal(err)
	}
	if said, err := h.ssh("id"); err == nil || !strings.Contains(err.Error(), "Host key verification failed") {
		t.Errorf("with another key pinned, ssh -F: %q, %v", said, err)
	}
	if err := h.manager.writeFile(t.Context(), h.known.ID, fileKnownHosts, stale); err != nil {
		t.Fatal(err)
	}
	other := *h.known
	other.HostKeys = []string{injected}
	_, err := h.manager.ready(t.Context(), &other)
	fails(t, err, CodeHostKeyMismatch)
}

// strict asks the real client how it reads the configuration.
func (h *realHost) strict() {
	h.t.Helper()
	said, err := exec.CommandContext(h.t.Context(), "ssh", "-G", "-F", h.manager.SSHConfigPath(h.known.ID), build).Output()
	if err != nil {
		h.t.Fatal(err)
	}
	options := strings.Split(string(said), "\n")
	for _, option := range []string{
		"hostname " + h.address, "port 22", "user root", "stricthostkeychecking true", "globalknownhostsfile /dev/null", "updatehostkeys false",
		"identitiesonly yes", "identityagent none", "forwardagent no", "forwardx11 no", "batchmode yes", "passwordauthentication no",
		"kbdinteractiveauthentication no", "preferredauthentications publickey", "hostkeyalgorithms ssh-ed25519", "checkhostip no",
		"identityfile " + h.manager.path(h.known.ID, fileClientKey), "userknownhostsfile " + h.manager.path(h.known.ID, fileKnownHosts),
	} {
		if !slices.Contains(options, option) {
			h.t.Errorf("the client does not read %q", option)
		}
	}
}

// What a killed run may have left on the host, and a server that was not told of its new key.
func TestRealServerInterrupted(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(t *testing.T, h *realHost){
		"a next key": func(t *testing.T, h *realHost) {
			if _, err := h.ssh("echo '" + h.known.InjectedKey + "' | sandlot-host next-host-key"); err != nil {
				t.Fatal(err)
			}
		},
		"half a next key": func(t *testing.T, h *realHost) {
			if _, err := h.ssh("echo cut >/etc/ssh/sandlot_next_host_key; chmod 600 /etc/ssh/sandlot_next_host_key"); err != nil {
				t.Fatal(err)
			}
		},
		"a deaf server": func(t *testing.T, h *realHost) {
			if _, err := h.ssh("touch /root/deaf"); err != nil {
				t.Fatal(err)
			}
			fails(t, h.rotate(), CodeRotation)
			if len(h.known.HostKeys) != 2 || h.known.HostKeys[0] != h.known.InjectedKey {
				t.Errorf("pinned are %q", h.known.HostKeys)
			}
			if said, err := h.ssh("rm /root/deaf; id -u"); err != nil || said != "0" {
				t.Fatalf("in the middle, ssh -F: %q, %v", said, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newRealHost(t)
			injected := h.known.InjectedKey
			_ = h.ready().Close()
			before(t, h)
			if err := h.rotate(); err != nil {
				t.Fatal(err)
			}
			h.rotated(injected)
		})
	}
}

// Further keys are replaced; the client's own and what others have added stay.
func TestRealServerAuthorizes(t *testing.T) {
	t.Parallel()
	h := newRealHost(t)
	first, second := mustKeyPair(t).public+" first", mustKeyPair(t).public+" second"
	for _, keys := range [][]string{{first}, {second, first}, {second}, nil} {
		h.known.AuthorizedKeys, h.known.KeysPending = keys, true
		host := h.ready()
		if err := h.manager.authorize(t.Context(), h.known, host); err != nil {
			t.Fatal(err)
		}
		_ = host.Close()
		said, err := h.ssh("cat /root/.ssh/authorized_keys; stat -c %a /root/.ssh/authorized_keys")
		want := "# somebody's own line\n" + h.known.ClientKey + "\n# sandlot: begin\n" + lines(keys) + "# sandlot: end\n600"
		if err != nil || said != want {
			t.Errorf("there is (%v)\n%s\nwant\n%s", err, said, want)
		}
	}
}
