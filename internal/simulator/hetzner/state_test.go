package hetzner

import (
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// restarted closes a simulator and starts another one on the same folder.
func (p *project) restarted(config Config) {
	p.t.Helper()
	if err := p.server.Close(); err != nil {
		p.t.Fatal(err)
	}
	p.start(config)
}

func (p *project) start(config Config) {
	p.t.Helper()
	server, err := Listen("127.0.0.1:0", config)
	if err != nil {
		p.t.Fatal(err)
	}
	p.server = server
}

func TestStateSurvivesARestart(t *testing.T) {
	config := Config{Dir: t.TempDir()}
	p := &project{t: t}
	p.start(config)
	defer func() {
		if err := p.server.Close(); err != nil {
			t.Error(err)
		}
	}()
	key := number(p.want(201, "POST", "/ssh_keys", fields{"name": "k", "public_key": publicKey(t), "labels": fields{"a": "b"}}), "ssh_key", "id")
	ip := number(p.want(201, "POST", "/primary_ips", fields{"name": "ip", "type": "ipv4", "location": "fsn1"}), "primary_ip", "id")
	group := number(p.want(201, "POST", "/placement_groups", fields{"name": "g", "type": "spread"}), "placement_group", "id")
	on := p.newServer("on", fields{"ssh_keys": []int64{key}, "public_net": fields{"ipv4": ip, "enable_ipv6": false}, "placement_group": group, "user_data": "data", "labels": fields{"c": "d"}})
	off := p.newServer("off", fields{"start_after_create": false})
	gone := p.newServer("gone", nil)
	p.want(200, "DELETE", serverPath(gone), nil)
	p.want(201, "POST", serverPath(on)+"/actions/create_image", nil)
	p.settle()
	paths := []string{serverPath(on), serverPath(off), ipPath(ip), "/servers", "/primary_ips", "/ssh_keys", "/placement_groups", "/servers/actions", "/images?type=snapshot"}
	before := map[string]string{}
	for _, path := range paths {
		before[path] = string(p.send("GET", path, nil).content)
	}
	if _, err := Listen("127.0.0.1:0", config); err == nil {
		t.Error("two simulators share a folder")
	}
	p.restarted(config)
	for _, path := range paths {
		equal(t, path, string(p.send("GET", path, nil).content), before[path])
	}
	equal(t, "user data", string(p.server.Inventory().Servers[0].UserData), "data")
	equal(t, "keys", len(p.server.Inventory().Servers[0].PublicKeys), 1)
	p.refused(404, codeNotFound, "", "GET", serverPath(gone), nil)
	p.want(201, "POST", serverPath(on)+"/actions/shutdown", nil)
	p.settle()
	equal(t, "shut down", p.status(on), "off")
	equal(t, "ids go on", p.newServer("new", nil) > gone, true)
}

// TestActionsGoOnAfterARestart: what the end of a simulator interrupted, the next one brings to its end.
func TestActionsGoOnAfterARestart(t *testing.T) {
	clock := simkit.NewVirtualClock(simkit.WallClock{}.Now())
	config := Config{Dir: t.TempDir(), Clock: clock}
	p := &project{t: t}
	p.start(config)
	defer func() { _ = p.server.Close() }()
	answer := p.want(201, "POST", "/servers", fields{"name": "s", "server_type": "cx23", "image": "debian-13"})
	id := number(answer, "server", "id")
	p.restarted(config)
	equal(t, "creating", p.status(id), "initializing")
	p.settle()
	equal(t, "created and started", p.status(id), "running")
	p.configure(Settings{ShutdownTime: 60_000})
	p.want(201, "POST", serverPath(id)+"/actions/shutdown", nil)
	p.settle()
	config.Settings = Settings{ShutdownTime: 10}
	p.restarted(config)
	p.settle()
	equal(t, "the signal still counts", p.status(id), "off")
	p.want(200, "DELETE", serverPath(id), nil)
	p.restarted(config)
	equal(t, "deleting", p.status(id), "deleting")
	p.settle()
	p.refused(404, codeNotFound, "", "GET", serverPath(id), nil)
}
