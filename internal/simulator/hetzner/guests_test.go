package hetzner

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// brokenGuests fail where they are told to.
type brokenGuests struct {
	*absentGuests
	broken map[string]bool
	booted []Machine
}

var errBroken = errors.New("the engine is gone")

func (g *brokenGuests) fail(what string) error {
	if g.broken[what] {
		return errBroken
	}
	return nil
}

func (g *brokenGuests) Reserve() (netip.Addr, error) {
	address, err := g.absentGuests.Reserve()
	return address, errors.Join(err, g.fail("reserve"))
}

func (g *brokenGuests) Release(address netip.Addr) error {
	return errors.Join(g.absentGuests.Release(address), g.fail("release"))
}

func (g *brokenGuests) Boot(ctx context.Context, machine Machine) error {
	if err := g.fail("boot"); err != nil {
		return err
	}
	g.booted = append(g.booted, machine)
	return g.PowerOn(ctx, machine)
}

func (g *brokenGuests) Shutdown(ctx context.Context, serverID int64) error {
	if err := g.fail("shutdown"); err != nil {
		return err
	}
	return g.absentGuests.Shutdown(ctx, serverID)
}

func (g *brokenGuests) Delete(ctx context.Context, serverID int64) error {
	if err := g.fail("delete"); err != nil {
		return err
	}
	return g.absentGuests.Delete(ctx, serverID)
}

// TestGuestsFail: what the machine behind a server cannot do is the error of the action, and the server
// can be tried again.
func TestGuestsFail(t *testing.T) {
	guests := &brokenGuests{absentGuests: newAbsentGuests(), broken: map[string]bool{"boot": true}}
	p := newProject(t, Config{Guests: guests})
	last := func() ActionEntry {
		p.settle()
		all := p.server.Inventory().Actions
		return all[len(all)-1]
	}
	key := number(p.want(201, "POST", "/ssh_keys", fields{"name": "k", "public_key": publicKey(t)}), "ssh_key", "id")
	id := p.newServer("s", fields{"user_data": "data", "ssh_keys": []int64{key}})
	equal(t, "start", last().Error, "action_failed")
	view := p.want(200, "GET", fmt.Sprintf("/actions/%d", last().ID), nil)
	equal(t, "it says why", strings.Contains(text(view, "action", "error", "message"), errBroken.Error()), true)
	equal(t, "status", p.status(id), "off")
	guests.broken = map[string]bool{"shutdown": true}
	p.want(201, "POST", serverPath(id)+"/actions/poweron", nil)
	equal(t, "start", last().Status, "success")
	machine := guests.booted[0]
	entry := p.server.Inventory().Servers[0]
	equal(t, "what boots", fmt.Sprint(machine.ServerID, machine.Name, machine.Address, machine.Image, string(machine.UserData), len(machine.PublicKeys)),
		fmt.Sprint(id, "s", entry.IPv4, "debian-13", "data", 1))

	p.want(201, "POST", serverPath(id)+"/actions/shutdown", nil)
	equal(t, "shutdown", last().Error, "action_failed")
	equal(t, "status", p.status(id), "running")
	p.configure(Settings{ShutdownTime: 1})
	p.want(201, "POST", serverPath(id)+"/actions/shutdown", nil)
	equal(t, "the signal is sent later", last().Status, "success")
	p.until("the error is told", func() bool { return len(p.server.Inventory().GuestErrors) == 1 })

	guests.broken = map[string]bool{"delete": true}
	p.want(200, "DELETE", serverPath(id), nil)
	equal(t, "delete", last().Error, "action_failed")
	equal(t, "status", p.status(id), "running")
	p.want(201, "POST", serverPath(id)+"/actions/rebuild", fields{"image": "debian-12"})
	equal(t, "rebuild", last().Error, "action_failed")
	equal(t, "status", p.status(id), "off")
	guests.broken = nil
	p.want(201, "POST", serverPath(id)+"/actions/poweron", nil)
	equal(t, "it boots anew", last().Status, "success")
	equal(t, "from the new image", guests.booted[len(guests.booted)-1].Image, "debian-12")

	guests.broken = map[string]bool{"reserve": true, "release": true}
	p.refused(500, codeServerError, "", "POST", "/primary_ips", fields{"name": "ip", "type": "ipv4", "location": "fsn1"})
	p.refused(500, codeServerError, "", "POST", "/servers", fields{"name": "t", "server_type": "cx23", "image": "debian-13"})
	equal(t, "servers", len(p.server.Inventory().Servers), 1)
	p.want(200, "DELETE", serverPath(id), nil)
	equal(t, "delete", last().Status, "success")
	equal(t, "the address is not given back", len(p.server.Inventory().GuestErrors), 2)
}

// TestWaitingForMany: the client asks for at most 25 actions at once.
func TestWaitingForMany(t *testing.T) {
	p := newProject(t, Config{Settings: Settings{Latency: map[string]int64{"create_server": 100}, MaxPage: 1}})
	var actions []*hcloud.Action
	for i := range 30 {
		made := must[hcloud.ServerCreateResult](t)(p.hcloud.Server.Create(t.Context(), hcloud.ServerCreateOpts{
			Name: fmt.Sprintf("s%d", i), ServerType: &hcloud.ServerType{Name: "cx23"}, Image: &hcloud.Image{Name: "debian-13"},
		}))
		actions = append(append(actions, made.Action), made.NextActions...)
	}
	if err := p.hcloud.Action.WaitFor(t.Context(), actions...); err != nil {
		t.Fatal(err)
	}
	for _, one := range p.server.Inventory().Servers {
		equal(t, one.Name, one.Status, "running")
	}
	unknown := &hcloud.Action{ID: 7, Status: hcloud.ActionStatusRunning}
	if err := p.hcloud.Action.WaitFor(t.Context(), unknown); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("an action that there is not: %v", err)
	}
}
