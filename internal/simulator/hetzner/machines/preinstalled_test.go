package machines

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
)

// TestDockerInside has what hosts are for, and a simulator that is started again.
func TestDockerInside(t *testing.T) {
	state := t.TempDir()
	options := Options{ID: "t" + strings.ToLower(filepath.Base(state)), Dir: filepath.Join(state, "machines"), Preinstalled: true}
	guests := needMachines(t, options)
	t.Cleanup(func() {
		if err := guests.RemoveAll(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	start := func() *hetzner.Server {
		t.Helper()
		server, err := hetzner.Listen("127.0.0.1:0", hetzner.Config{Guests: guests, Dir: filepath.Join(state, "project")})
		if err != nil {
			t.Fatal(err)
		}
		return server
	}
	h := &host{t: t, guests: guests, server: start()}
	h.client, _ = newKey(t)
	hostKey, private := newKey(t)
	h.pinned = hostKey.PublicKey()
	h.create(userData(t, private, h.pinned))
	h.reaches("running")
	h.run("cloud-init status --wait")
	h.equal("host keys are its own", h.run("ls /etc/ssh/ssh_host_*_key"), "/etc/ssh/ssh_host_ed25519_key")
	h.equal("login keys", h.run("cut -d' ' -f2 /root/.ssh/authorized_keys"), strings.Fields(line(h.client.PublicKey()))[1])
	h.run("docker compose version && docker buildx version && rsync --version")
	h.equal("disk of the Docker inside", h.run("docker info --format {{.Driver}}"), "overlay2")
	h.equal("a volume inside", h.run("docker volume create kept"), "kept")

	// The machine outlives its simulator.
	restart := func() {
		t.Helper()
		if err := h.server.Close(); err != nil {
			t.Fatal(err)
		}
		if err := guests.Close(); err != nil {
			t.Fatal(err)
		}
		guests = needMachines(t, options)
		h.guests, h.server = guests, start()
	}
	restart()
	h.reaches("running")
	h.switchOff()
	h.call(201, "POST", h.path("/actions/poweron"), nil)
	h.reaches("running")
	h.equal("volumes inside", h.run("systemctl start docker && docker volume ls -q"), "kept")
	// One that stops while nobody looks is found off.
	h.run("true")
	if err := h.server.Close(); err != nil {
		t.Fatal(err)
	}
	if err := guests.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := docker(t.Context(), "stop", guests.container(h.id)); err != nil {
		t.Fatal(err)
	}
	guests = needMachines(t, options)
	h.guests, h.server = guests, start()
	h.reaches("off")
	h.delete()
	if err := h.server.Close(); err != nil {
		t.Error(err)
	}
}

// TestOnlyWhatBoots: an image without a machine, and a server without an address, end in an action's
// error that says so.
func TestOnlyWhatBoots(t *testing.T) {
	guests := needMachines(t, Options{})
	t.Cleanup(func() {
		if err := guests.Close(); err != nil {
			t.Error(err)
		}
	})
	h := &host{t: t, guests: guests, server: hetzner.Start(t, hetzner.Config{Guests: guests})}
	for name, body := range map[string]fields{
		"other image": {"name": "a", "server_type": "cx23", "image": "ubuntu-24.04"},
		"no address":  {"name": "b", "server_type": "cx23", "image": "debian-13", "public_net": fields{"enable_ipv4": false}},
	} {
		made := h.call(201, "POST", "/servers", body)
		next := made["next_actions"].([]any)[0].(fields)
		var action fields
		h.until(name+" ends", func() error {
			action = h.call(200, "GET", "/actions/"+number(next["id"]), nil)["action"].(fields)
			return stillRunning(action)
		})
		message := action["error"].(fields)["message"].(string)
		if !strings.Contains(message, map[string]string{"other image": `there is one for "debian-13"`, "no address": "needs an IPv4 address"}[name]) {
			t.Errorf("%s: %s", name, message)
		}
	}
	h.equal("left", h.leftovers("container", "volume"), "")
}

func TestOptions(t *testing.T) {
	for _, wrong := range []Options{{ID: "UPPER", Dir: "/x"}, {ID: "alone"}, {Dir: "/x"}, {ID: "a", Dir: "relative"}} {
		if _, err := New(t.Context(), wrong); err == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := New(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "install docker.io") {
		t.Errorf("without a client: %v", err)
	}
}
