package hetzner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

func TestCreateIsChecked(t *testing.T) {
	p := newProject(t, Config{})
	key := number(p.want(201, "POST", "/ssh_keys", fields{"name": "k", "public_key": publicKey(t)}), "ssh_key", "id")
	for field, change := range map[string]fields{
		"name":            {"name": "-x"},
		"server_type":     {"server_type": "cx999"},
		"image":           {"image": "plan-9"},
		"location":        {"location": "moon"},
		"ssh_keys":        {"ssh_keys": []int64{key, 7}},
		"user_data":       {"user_data": strings.Repeat("x", 32769)},
		"labels":          {"labels": fields{"a b": ""}},
		"public_net":      {"public_net": fields{"enable_ipv4": false, "enable_ipv6": false}},
		"unknown":         {"unknown": 1},
		"automount":       {"automount": "yes"},
		"placement_group": {"placement_group": 7},
	} {
		body := fields{"name": "s", "server_type": "cx23", "image": "debian-13", "location": "fsn1"}
		for key, value := range change {
			body[key] = value
		}
		p.refused(422, codeInvalid, field, "POST", "/servers", body)
	}
	for _, field := range []string{"name", "server_type", "image"} {
		body := fields{"name": "s", "server_type": "cx23", "image": "debian-13"}
		delete(body, field)
		p.refused(422, codeInvalid, field, "POST", "/servers", body)
	}
	for _, name := range []string{"under_score", "with space", "a..b", "a-", strings.Repeat("a", 64), strings.Repeat("a.", 127)} {
		p.refused(422, codeInvalid, "name", "POST", "/servers", fields{"name": name, "server_type": "cx23", "image": "debian-13"})
	}
	equal(t, "servers", len(p.server.Inventory().Servers), 0)
	equal(t, "addresses", len(p.server.Inventory().PrimaryIPs), 0)
	// All forms of references, and the largest user data.
	p.newServer("host.example.com", fields{
		"server_type": 114, "image": "310556183", "location": "1", "ssh_keys": []any{"k"}, "user_data": strings.Repeat("x", 32768), "automount": false, "datacenter": "fsn1-dc14",
	})
	made := p.server.Inventory().Servers[0]
	equal(t, "type", made.ServerType, "cx23")
	equal(t, "image", made.Image, "debian-13")
	equal(t, "location", made.Location, "fsn1")
	equal(t, "keys", len(made.PublicKeys), 1)
	if err := p.server.Configure(Settings{RefuseDatacenter: true}); err != nil {
		t.Fatal(err)
	}
	p.refused(422, codeInvalid, "datacenter", "POST", "/servers", fields{"name": "d", "server_type": "cx23", "image": "debian-13", "datacenter": "fsn1-dc14"})
}

func TestImplicitAddresses(t *testing.T) {
	p := newProject(t, Config{})
	id := p.newServer("s", nil)
	all := p.server.Inventory().PrimaryIPs
	equal(t, "addresses", len(all), 2)
	for _, one := range all {
		if one.Assignee != id || !one.AutoDelete || len(one.Labels) != 0 || !strings.HasPrefix(one.Name, "primary_ip-") {
			t.Errorf("%+v", one)
		}
	}
	view := p.want(200, "GET", serverPath(id), nil)
	if ip := text(view, "server", "public_net", "ipv6", "ip"); !strings.HasSuffix(ip, "/64") {
		t.Errorf("IPv6 is %s", ip)
	}
	p.want(200, "DELETE", serverPath(id), nil)
	p.settle()
	equal(t, "addresses", len(p.server.Inventory().PrimaryIPs), 0)
	p.refused(404, codeNotFound, "", "GET", serverPath(id), nil)
}

// TestStates walks through the states of a server with a clock that stands still.
func TestStates(t *testing.T) {
	p, clock := atNoon(t, Settings{Latency: map[string]int64{"create_server": 5000, "start_server": 10_000, "stop_server": 3000, "delete_server": 4000}})
	answer := p.want(201, "POST", "/servers", fields{"name": "s", "server_type": "cx23", "image": "debian-13"})
	id, create := number(answer, "server", "id"), number(answer, "action", "id")
	step := func(after time.Duration, want string, locked bool) {
		t.Helper()
		clock.Advance(after)
		view := p.want(200, "GET", serverPath(id), nil)
		equal(t, "status", text(view, "server", "status"), want)
		equal(t, "locked", at(view, "server", "locked"), any(locked))
	}
	step(0, "initializing", true)
	p.refused(423, codeLocked, "", "POST", serverPath(id)+"/actions/poweroff", nil)
	p.want(200, "PUT", serverPath(id), fields{"labels": fields{"a": "b"}})
	action := func(want string, progress int64) {
		t.Helper()
		view := p.want(200, "GET", fmt.Sprintf("/actions/%d", create), nil)
		equal(t, "action", text(view, "action", "status"), want)
		equal(t, "progress", number(view, "action", "progress"), progress)
		equal(t, "finished", at(view, "action", "finished") != nil, want != "running")
	}
	action("running", 0)
	step(2500*time.Millisecond, "initializing", true)
	action("running", 47)
	step(2500*time.Millisecond, "starting", true)
	action("success", 100)
	step(10*time.Second, "running", false)

	p.want(201, "POST", serverPath(id)+"/actions/poweron", nil) // to no effect
	step(10*time.Second, "running", false)
	equal(t, "starts", p.server.Inventory().Servers[0].Starts, 1)
	p.want(201, "POST", serverPath(id)+"/actions/poweroff", nil)
	step(0, "stopping", true)
	step(3*time.Second, "off", false)
	p.want(201, "POST", serverPath(id)+"/actions/poweroff", nil)
	step(3*time.Second, "off", false)
	p.want(201, "POST", serverPath(id)+"/actions/shutdown", nil)
	step(time.Second, "off", false)
	p.want(201, "POST", serverPath(id)+"/actions/poweron", nil)
	step(0, "starting", true)
	step(10*time.Second, "running", false)
	for _, command := range []string{"reboot", "reset"} {
		p.want(201, "POST", serverPath(id)+"/actions/"+command, nil)
		step(time.Second, "running", false)
	}
	equal(t, "starts", p.server.Inventory().Servers[0].Starts, 4)
	p.want(200, "DELETE", serverPath(id), nil)
	step(0, "deleting", true)
	p.refused(423, codeLocked, "", "DELETE", serverPath(id), nil)
	p.refused(409, codeUniqueness, "name", "POST", "/servers", fields{"name": "s", "server_type": "cx23", "image": "debian-13"})
	clock.Advance(4 * time.Second)
	p.refused(404, codeNotFound, "", "GET", serverPath(id), nil)
	p.want(201, "POST", "/servers", fields{"name": "s", "server_type": "cx23", "image": "debian-13"})
}

func TestChangesOfAServer(t *testing.T) {
	p := newProject(t, Config{})
	ctx := t.Context()
	id := p.newServer("s", fields{"user_data": "first", "start_after_create": false})
	wait := func(action *hcloud.Action) {
		t.Helper()
		if err := p.hcloud.Action.WaitFor(ctx, action); err != nil {
			t.Fatal(err)
		}
	}
	server := must[*hcloud.Server](t)(p.hcloud.Server.GetByID(ctx, id))
	wait(must[*hcloud.Action](t)(p.hcloud.Server.ChangeType(ctx, server, hcloud.ServerChangeTypeOpts{ServerType: &hcloud.ServerType{Name: "cx33"}})))
	server = must[*hcloud.Server](t)(p.hcloud.Server.GetByID(ctx, id))
	equal(t, "type", server.ServerType.Name, "cx33")
	equal(t, "disk", server.PrimaryDiskSize, 40)
	p.want(200, "PUT", serverPath(id), fields{"name": "s"}) // the name that it has
	p.want(200, "PUT", serverPath(id), fields{"name": "renamed"})
	for _, wrong := range []string{"cax11", "cx11"} {
		p.refused(422, codeInvalidServerType, "", "POST", serverPath(id)+"/actions/change_type", fields{"server_type": wrong, "upgrade_disk": false})
	}
	wait(must[*hcloud.Action](t)(p.hcloud.Server.ChangeType(ctx, server, hcloud.ServerChangeTypeOpts{ServerType: &hcloud.ServerType{Name: "cx33"}, UpgradeDisk: true})))
	server = must[*hcloud.Server](t)(p.hcloud.Server.GetByID(ctx, id))
	equal(t, "disk", server.PrimaryDiskSize, 80)

	image := must[hcloud.ServerCreateImageResult](t)(p.hcloud.Server.CreateImage(ctx, server, &hcloud.ServerCreateImageOpts{Description: hcloud.Ptr("kept"), Labels: map[string]string{"a": "b"}}))
	equal(t, "image", image.Image.Status, hcloud.ImageStatusCreating)
	wait(image.Action)
	snapshot := must[*hcloud.Image](t)(p.hcloud.Image.GetByID(ctx, image.Image.ID))
	equal(t, "image", snapshot.Status, hcloud.ImageStatusAvailable)
	equal(t, "name", snapshot.Name, "")

	rebuilt := must[hcloud.ServerRebuildResult](t)(p.hcloud.Server.RebuildWithResult(ctx, server, hcloud.ServerRebuildOpts{Image: snapshot}))
	wait(rebuilt.Action)
	equal(t, "user data", string(p.server.Inventory().Servers[0].UserData), "first")
	equal(t, "status", p.status(id), "running")
	p.want(201, "POST", serverPath(id)+"/actions/rebuild", fields{"image": "debian-13", "user_data": "second"})
	p.settle()
	equal(t, "user data", string(p.server.Inventory().Servers[0].UserData), "second")
	p.refused(422, codeInvalid, "image", "POST", serverPath(id)+"/actions/rebuild", fields{"image": "nothing"})

	p.refused(422, codeInvalid, "delete", "POST", serverPath(id)+"/actions/change_protection", fields{"delete": true})
	guarded := must[*hcloud.Action](t)(p.hcloud.Server.ChangeProtection(ctx, server, hcloud.ServerChangeProtectionOpts{Delete: hcloud.Ptr(true), Rebuild: hcloud.Ptr(true)}))
	equal(t, "over at once", guarded.Status, hcloud.ActionStatusSuccess)
	p.refused(423, codeProtected, "", "POST", serverPath(id)+"/actions/rebuild", fields{"image": "debian-13"})
	p.refused(423, codeProtected, "", "DELETE", serverPath(id), nil)
	p.want(201, "POST", serverPath(id)+"/actions/change_protection", fields{"delete": false, "rebuild": false})
	p.want(200, "DELETE", serverPath(id), nil)
	p.settle()
	equal(t, "the snapshot stays", len(p.server.Inventory().Images), 1)
	p.newServer("from", fields{"image": snapshot.ID, "server_type": "cx33"})
	p.refused(422, codeInvalid, "image", "POST", "/servers", fields{"name": "small", "image": snapshot.ID, "server_type": "cx23"})
	if _, err := p.hcloud.Image.Delete(ctx, snapshot); err != nil {
		t.Error(err)
	}
	p.refused(422, codeUnsupported, "", "DELETE", "/images/310556183", nil)
}

func TestPrimaryIPs(t *testing.T) {
	p := newProject(t, Config{})
	ctx := t.Context()
	for _, body := range []fields{
		{"name": "a", "type": "ipv4"},
		{"name": "a", "type": "ipv4", "location": "fsn1", "assignee_id": 1, "assignee_type": "server"},
	} {
		p.refused(422, codeInvalid, "location", "POST", "/primary_ips", body)
		p.refused(422, codeInvalid, "assignee_id", "POST", "/primary_ips", body)
	}
	p.refused(422, codeInvalid, "type", "POST", "/primary_ips", fields{"name": "a", "type": "ipv5", "location": "fsn1"})
	p.refused(422, codeInvalid, "name", "POST", "/primary_ips", fields{"type": "ipv4", "location": "fsn1"})
	p.refused(422, codeInvalid, "assignee_type", "POST", "/primary_ips", fields{"name": "a", "type": "ipv4", "assignee_id": 1, "assignee_type": "volume"})

	// An address that is made for a server has an action; the server needs room for it.
	bare := p.newServer("bare", fields{"public_net": fields{"enable_ipv4": false}, "start_after_create": false})
	made := must[*hcloud.PrimaryIPCreateResult](t)(p.hcloud.PrimaryIP.Create(ctx, hcloud.PrimaryIPCreateOpts{Name: "a", Type: "ipv4", AssigneeID: &bare, AssigneeType: "server"}))
	equal(t, "command", made.Action.Command, "assign_primary_ip")
	if err := p.hcloud.Action.WaitFor(ctx, made.Action); err != nil {
		t.Fatal(err)
	}
	p.refused(409, codeUniqueness, "name", "POST", "/primary_ips", fields{"name": "a", "type": "ipv4", "location": "fsn1"})
	server := must[*hcloud.Server](t)(p.hcloud.Server.GetByID(ctx, bare))
	equal(t, "address", server.PublicNet.IPv4.ID, made.PrimaryIP.ID)

	off := must[*hcloud.Action](t)(p.hcloud.PrimaryIP.Unassign(ctx, made.PrimaryIP.ID))
	if err := p.hcloud.Action.WaitFor(ctx, off); err != nil {
		t.Fatal(err)
	}
	view := p.want(200, "GET", ipPath(made.PrimaryIP.ID), nil)
	equal(t, "assignee", at(view, "primary_ip", "assignee_id"), nil)
	equal(t, "assignee type", text(view, "primary_ip", "assignee_type"), "unassigned")
	p.want(201, "POST", ipPath(server.PublicNet.IPv6.ID)+"/actions/unassign", nil)
	p.settle()
	p.refused(422, codeInvalid, "", "POST", serverPath(bare)+"/actions/poweron", nil)
	on := must[*hcloud.Action](t)(p.hcloud.PrimaryIP.Assign(ctx, hcloud.PrimaryIPAssignOpts{ID: made.PrimaryIP.ID, AssigneeID: bare, AssigneeType: "server"}))
	if err := p.hcloud.Action.WaitFor(ctx, on); err != nil {
		t.Fatal(err)
	}

	changed := must[*hcloud.PrimaryIP](t)(p.hcloud.PrimaryIP.Update(ctx, made.PrimaryIP, hcloud.PrimaryIPUpdateOpts{AutoDelete: hcloud.Ptr(true), Name: "b"}))
	equal(t, "changed", changed.AutoDelete && changed.Name == "b", true)
	p.refused(422, codeInvalid, "delete", "POST", ipPath(made.PrimaryIP.ID)+"/actions/change_protection", fields{"delete": true})
	p.want(200, "PUT", ipPath(made.PrimaryIP.ID), fields{"auto_delete": false})
	p.want(201, "POST", ipPath(made.PrimaryIP.ID)+"/actions/change_protection", fields{"delete": true})
	p.refused(422, codeMustBeUnassigned, "", "DELETE", ipPath(made.PrimaryIP.ID), nil)
	p.want(200, "DELETE", serverPath(bare), nil)
	p.settle()
	p.refused(423, codeProtected, "", "DELETE", ipPath(made.PrimaryIP.ID), nil)
	p.want(201, "POST", ipPath(made.PrimaryIP.ID)+"/actions/change_protection", fields{"delete": false})
	p.want(204, "DELETE", ipPath(made.PrimaryIP.ID), nil)
	p.refused(404, codeNotFound, "", "DELETE", ipPath(made.PrimaryIP.ID), nil)
}

// TestAddressesAreDistinct: simulators beside each other hand out addresses of one machine.
func TestAddressesAreDistinct(t *testing.T) {
	p := newProject(t, Config{})
	seen := map[string]bool{}
	for i := range 50 {
		ip := text(p.want(201, "POST", "/primary_ips", fields{"name": fmt.Sprint(i), "type": "ipv4", "location": "fsn1"}), "primary_ip", "ip")
		if seen[ip] || !strings.HasPrefix(ip, "127.") {
			t.Errorf("the address %s is not new", ip)
		}
		seen[ip] = true
	}
}

func TestKeys(t *testing.T) {
	p := newProject(t, Config{})
	for _, wrong := range []string{"", "nonsense", "ssh-ed25519 AAAA", publicKey(t) + "\n" + publicKey(t)} {
		p.refused(422, codeInvalid, "public_key", "POST", "/ssh_keys", fields{"name": "k", "public_key": wrong})
	}
	key := number(p.want(201, "POST", "/ssh_keys", fields{"name": "k", "public_key": publicKey(t) + " me"}), "ssh_key", "id")
	p.refused(409, codeUniqueness, "name", "POST", "/ssh_keys", fields{"name": "k", "public_key": publicKey(t)})
	p.newServer("s", fields{"ssh_keys": []int64{key}})
	p.want(204, "DELETE", fmt.Sprintf("/ssh_keys/%d", key), nil)
	equal(t, "keys of the server", len(p.server.Inventory().Servers[0].PublicKeys), 1)
	// Names are unique for each kind, not beyond.
	p.want(201, "POST", "/ssh_keys", fields{"name": "s", "public_key": publicKey(t)})
	p.want(201, "POST", "/primary_ips", fields{"name": "s", "type": "ipv4", "location": "fsn1"})
}
