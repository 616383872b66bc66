package machines

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

type fields = map[string]any

// host is a server with a real machine behind it, and the keys of both sides.
type host struct {
	t       *testing.T
	server  *hetzner.Server
	guests  *Machines
	id      int64
	address string
	client  ssh.Signer
	pinned  ssh.PublicKey
}

// needMachines ends a test where machines cannot boot.
func needMachines(t *testing.T, options Options) *Machines {
	t.Helper()
	options.Log = func(message string) { t.Log(message) }
	guests, err := New(t.Context(), options)
	testkit.Need(t, "machines", err == nil, fmt.Sprint("real machines need a local Docker Engine, mmdebstrap, root and Debian's packages: ", err))
	return guests
}

func newKey(t *testing.T) (ssh.Signer, ed25519.PrivateKey) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer, private
}

func line(key ssh.PublicKey) string { return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) }

// userData install a host key, and leave a trace of each time that they run.
func userData(t *testing.T, hostKey ed25519.PrivateKey, public ssh.PublicKey) string {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(hostKey, "")
	if err != nil {
		t.Fatal(err)
	}
	indented := strings.ReplaceAll(strings.TrimSpace(string(pem.EncodeToMemory(block))), "\n", "\n    ")
	return "#cloud-config\nssh_pwauth: false\nssh_keys:\n  ed25519_private: |\n    " + indented +
		"\n  ed25519_public: " + line(public) + "\nruncmd:\n  - echo ran >> /root/trace\n"
}

// call asks the API.
func (h *host) call(status int, method, path string, body any) fields {
	h.t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	if body == nil {
		content = nil
	}
	request, err := http.NewRequestWithContext(h.t.Context(), method, h.server.URL()+path, bytes.NewReader(content))
	if err != nil {
		h.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+h.server.Token())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != status {
		h.t.Fatalf("%s %s: status %d, %v: %s", method, path, response.StatusCode, err, answer)
	}
	var decoded fields
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &decoded); err != nil {
			h.t.Fatal(err)
		}
	}
	return decoded
}

func (h *host) path(more string) string { return fmt.Sprintf("/servers/%d%s", h.id, more) }

// reaches waits for a status of the server.
func (h *host) reaches(want string) {
	h.t.Helper()
	h.until("the server is "+want, func() error {
		entry := h.server.Inventory().Servers[0]
		if entry.Status != want || entry.Locked {
			return fmt.Errorf("it is %s: %+v", entry.Status, h.server.Inventory())
		}
		return nil
	})
}

func (h *host) until(what string, reached func() error) {
	h.t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for {
		err := reached()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("it never came to be that %s: %v", what, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// dial connects once, with the host key pinned. A machine that vanishes says nothing, so the connection
// has a deadline.
func (h *host) dial() (*ssh.Client, error) {
	address := net.JoinHostPort(h.address, "22")
	connection, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil, err
	}
	if err := connection.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return nil, err
	}
	client, channels, requests, err := ssh.NewClientConn(connection, address, &ssh.ClientConfig{
		User: "root", Auth: []ssh.AuthMethod{ssh.PublicKeys(h.client)}, HostKeyCallback: ssh.FixedHostKey(h.pinned),
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
	})
	if err != nil {
		connection.Close()
		return nil, err
	}
	return ssh.NewClient(client, channels, requests), nil
}

// switchOff lets the machine power itself off.
func (h *host) switchOff() {
	h.t.Helper()
	h.run("systemd-run --on-active=1 systemctl poweroff") // after the session is over
	h.reaches("off")
}

// run waits until the machine can be logged in to and runs a command there.
func (h *host) run(command string) string {
	h.t.Helper()
	var output []byte
	h.until("it runs "+command, func() error {
		client, err := h.dial()
		if err != nil {
			return err
		}
		defer client.Close()
		session, err := client.NewSession()
		if err != nil {
			return err
		}
		defer session.Close()
		output, err = session.CombinedOutput(command)
		var failed *ssh.ExitError
		if errors.As(err, &failed) {
			h.t.Fatalf("%s: %v: %s", command, err, output)
		}
		return err
	})
	return strings.TrimSpace(string(output))
}

// newHost makes a server as a client of the API does, and waits until cloud-init is through.
func newHost(t *testing.T, options Options) *host {
	t.Helper()
	guests := needMachines(t, options)
	t.Cleanup(func() {
		if err := guests.Close(); err != nil {
			t.Error(err)
		}
	})
	h := &host{t: t, guests: guests, server: hetzner.Start(t, hetzner.Config{Guests: guests})}
	h.client, _ = newKey(t)
	hostKey, private := newKey(t)
	h.pinned = hostKey.PublicKey()
	h.create(userData(t, private, h.pinned))
	h.reaches("running")
	h.run("cloud-init status --wait")
	return h
}

func (h *host) create(userData string) {
	h.t.Helper()
	key := h.call(201, "POST", "/ssh_keys", fields{"name": "client", "public_key": line(h.client.PublicKey())})
	ip := h.call(201, "POST", "/primary_ips", fields{"name": "host", "type": "ipv4", "location": "fsn1"})["primary_ip"].(fields)
	h.address = ip["ip"].(string)
	made := h.call(201, "POST", "/servers", fields{
		"name": "host.example.com", "server_type": "cx23", "image": "debian-13", "location": "fsn1", "user_data": userData,
		"ssh_keys": []any{key["ssh_key"].(fields)["id"]}, "public_net": fields{"enable_ipv4": true, "enable_ipv6": false, "ipv4": ip["id"]},
	})
	h.id = int64(made["server"].(fields)["id"].(float64))
}

func (h *host) equal(what, got, want string) {
	h.t.Helper()
	if got != want {
		h.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// delete leaves nothing of the machine.
func (h *host) delete() {
	h.t.Helper()
	h.call(200, "DELETE", h.path(""), nil)
	h.until("the server is gone", func() error {
		if left := h.server.Inventory().Servers; len(left) > 0 {
			return fmt.Errorf("there is %+v", left)
		}
		return nil
	})
	h.equal("left", h.leftovers("container", "volume"), "")
	if _, err := os.Stat(h.guests.seedFolder(h.id)); !os.IsNotExist(err) {
		h.t.Errorf("its user data are still there: %v", err)
	}
}

// leftovers is what the engine still has of these machines.
func (h *host) leftovers(kinds ...string) string {
	h.t.Helper()
	var all []string
	for _, kind := range kinds {
		list := []string{kind, "ls"}
		if kind == "container" {
			list = append(list, "--all")
		}
		found, err := h.guests.listed(h.t.Context(), list...)
		if err != nil {
			h.t.Fatal(err)
		}
		all = append(all, found...)
	}
	return strings.Join(all, " ")
}

// TestMachine lives through what a host does, from the bare system.
func TestMachine(t *testing.T) {
	h := newHost(t, Options{})
	h.equal("host keys", h.run("ls /etc/ssh/ssh_host_*_key"), "/etc/ssh/ssh_host_ed25519_key")
	h.equal("host name", h.run("hostname"), "host")
	h.equal("instance", h.run("cat /var/lib/cloud/data/instance-id"), fmt.Sprint(h.id))
	h.equal("release", h.run(". /etc/os-release; echo $VERSION_CODENAME"), "trixie")
	h.equal("credentials of the host for its sources", h.run("ls -A /etc/apt/auth.conf.d"), "")
	disk := h.run("cat /etc/machine-id; echo kept > /root/file; sync")

	h.call(201, "POST", h.path("/actions/shutdown"), nil)
	h.reaches("off")
	if client, err := h.dial(); err == nil {
		client.Close()
		t.Error("it answers while it is off")
	}
	h.call(201, "POST", h.path("/actions/poweron"), nil)
	h.reaches("running")
	h.run("cloud-init status --wait")
	h.equal("disk", h.run("cat /etc/machine-id"), disk)
	h.equal("file", h.run("cat /root/file"), "kept")
	h.equal("user data ran once", h.run("cat /root/trace"), "ran")

	h.call(201, "POST", h.path("/actions/reboot"), nil)
	h.until("it starts again", func() error {
		if starts := h.server.Inventory().Servers[0].Starts; starts != 3 {
			return fmt.Errorf("it was started %d times", starts)
		}
		return nil
	})
	h.equal("file", h.run("cat /root/file"), "kept")
	h.call(201, "POST", h.path("/actions/poweroff"), nil)
	h.reaches("off")
	h.call(201, "POST", h.path("/actions/poweron"), nil)
	h.reaches("running")
	h.equal("file", h.run("cat /root/file"), "kept")
	h.switchOff()

	// Another host key is not this machine.
	h.call(201, "POST", h.path("/actions/poweron"), nil)
	h.reaches("running")
	h.run("true")
	pinned := h.pinned
	other, _ := newKey(t)
	h.pinned = other.PublicKey()
	if _, err := h.dial(); err == nil || !strings.Contains(err.Error(), "host key mismatch") {
		t.Errorf("with another key: %v", err)
	}
	h.pinned = pinned

	h.delete()
	if err := h.guests.Close(); err != nil {
		t.Error(err)
	}
	h.equal("left", h.leftovers("container", "volume", "network"), "")
	h.equal("errors", strings.Join(h.server.Inventory().GuestErrors, "; "), "")
}

// number writes an id as it stands in paths.
func number(id any) string { return fmt.Sprintf("%.0f", id) }

func stillRunning(action fields) error {
	if action["status"] != "running" {
		return nil
	}
	return errors.New("it runs")
}
