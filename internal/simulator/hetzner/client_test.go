package hetzner

import (
	"slices"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// TestClientMakesAHost goes through the life of a host as a client of the vendor's library does.
func TestClientMakesAHost(t *testing.T) {
	for name, settings := range map[string]Settings{
		"as it is":       {},
		"pages of one":   {MaxPage: 1},
		"large ids":      {LargeIDs: true},
		"unknown fields": {UnknownFields: true},
		"old assignee":   {AssigneeServer: true},
	} {
		t.Run(name, func(t *testing.T) { lifeOfAHost(t, newProject(t, Config{Settings: settings})) })
	}
}

func lifeOfAHost(t *testing.T, p project) {
	ctx, c := t.Context(), p.hcloud
	labels := map[string]string{"sandlot.owner": "us", "sandlot.name": "host"}
	line := publicKey(t)
	kind := must[*hcloud.ServerType](t)(c.ServerType.GetByName(ctx, "cx23"))
	from := must[*hcloud.Image](t)(c.Image.GetForArchitecture(ctx, "ubuntu-24.04", kind.Architecture))
	where := must[*hcloud.Location](t)(c.Location.GetByName(ctx, "fsn1"))
	if kind == nil || from == nil || where == nil {
		t.Fatalf("the catalog lacks %v, %v or %v", kind, from, where)
	}
	equal(t, "zone", where.NetworkZone, hcloud.NetworkZoneEUCentral)
	key := must[*hcloud.SSHKey](t)(c.SSHKey.Create(ctx, hcloud.SSHKeyCreateOpts{Name: "host", PublicKey: line, Labels: labels}))
	address := must[*hcloud.PrimaryIPCreateResult](t)(c.PrimaryIP.Create(ctx, hcloud.PrimaryIPCreateOpts{
		Name: "host", Type: hcloud.PrimaryIPTypeIPv4, Labels: labels, AutoDelete: hcloud.Ptr(false), Location: where.Name,
	}))
	if address.Action != nil || address.PrimaryIP.AssigneeID != 0 {
		t.Errorf("the address belongs to somebody: %+v", address)
	}
	made := must[hcloud.ServerCreateResult](t)(c.Server.Create(ctx, hcloud.ServerCreateOpts{
		Name: "host", ServerType: kind, Image: from, Location: where, SSHKeys: []*hcloud.SSHKey{key}, Labels: labels, UserData: "#cloud-config\n",
		PublicNet: &hcloud.ServerCreatePublicNet{EnableIPv4: true, IPv4: address.PrimaryIP},
	}))
	equal(t, "status", made.Server.Status, hcloud.ServerStatusInitializing)
	equal(t, "root password", made.RootPassword, "")
	equal(t, "next actions", len(made.NextActions), 1)
	if err := c.Action.WaitFor(ctx, append(made.NextActions, made.Action)...); err != nil {
		t.Fatal(err)
	}
	id := made.Server.ID
	server := must[*hcloud.Server](t)(c.Server.GetByID(ctx, id))
	equal(t, "status", server.Status, hcloud.ServerStatusRunning)
	equal(t, "locked", server.Locked, false)
	equal(t, "address", server.PublicNet.IPv4.IP.String(), address.PrimaryIP.IP.String())
	equal(t, "no IPv6", server.PublicNet.IPv6.IsUnspecified(), true)
	equal(t, "type", server.ServerType.Name, "cx23")
	equal(t, "image", server.Image.ID, from.ID)
	equal(t, "location", server.Location.Name, "fsn1")
	equal(t, "label", server.Labels["sandlot.name"], "host")

	other := must[hcloud.ServerCreateResult](t)(c.Server.Create(ctx, hcloud.ServerCreateOpts{Name: "other", ServerType: kind, Image: from}))
	equal(t, "a root password without a key", other.RootPassword != "", true)
	if err := c.Action.WaitFor(ctx, append(other.NextActions, other.Action)...); err != nil {
		t.Fatal(err)
	}
	all, err := c.Server.AllWithOpts(ctx, hcloud.ServerListOpts{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "servers", len(all), 2)
	ours, err := c.Server.AllWithOpts(ctx, hcloud.ServerListOpts{ListOpts: hcloud.ListOpts{LabelSelector: "sandlot.owner=us,sandlot.name=host"}})
	if err != nil || len(ours) != 1 || ours[0].ID != id {
		t.Errorf("by labels: %v, %v", ours, err)
	}
	byName := must[*hcloud.Server](t)(c.Server.GetByName(ctx, "host"))
	equal(t, "by name", byName.ID, id)

	off := must[*hcloud.Action](t)(c.Server.Shutdown(ctx, server))
	if err := c.Action.WaitFor(ctx, off); err != nil {
		t.Fatal(err)
	}
	p.until("off", func() bool { return p.status(id) == "off" })
	on := must[*hcloud.Action](t)(c.Server.Poweron(ctx, server))
	if err := c.Action.WaitFor(ctx, on); err != nil {
		t.Fatal(err)
	}
	equal(t, "on again", p.status(id), "running")

	deleted := must[*hcloud.ServerDeleteResult](t)(c.Server.DeleteWithResult(ctx, server))
	equal(t, "delete", deleted.Action.Command, "delete_server")
	still := must[*hcloud.PrimaryIP](t)(c.PrimaryIP.GetByID(ctx, address.PrimaryIP.ID))
	equal(t, "assignee until the action ends", still.AssigneeID, id)
	if err := c.Action.WaitFor(ctx, deleted.Action); err != nil {
		t.Fatal(err)
	}
	if gone := must[*hcloud.Server](t)(c.Server.GetByID(ctx, id)); gone != nil {
		t.Errorf("it is still there: %+v", gone)
	}
	free := must[*hcloud.PrimaryIP](t)(c.PrimaryIP.GetByID(ctx, address.PrimaryIP.ID))
	equal(t, "assignee", free.AssigneeID, 0)
	if _, err := c.PrimaryIP.Delete(ctx, free); err != nil {
		t.Error(err)
	}
	if _, err := c.SSHKey.Delete(ctx, key); err != nil {
		t.Error(err)
	}
	left := p.server.Inventory()
	equal(t, "servers left", len(left.Servers), 1)
	equal(t, "keys left", len(left.SSHKeys), 0)
	equal(t, "addresses left are those of the other", len(left.PrimaryIPs), 2)

	actions, err := c.Action.AllWithOpts(ctx, hcloud.ActionListOpts{ID: []int64{made.Action.ID, deleted.Action.ID}})
	if err != nil || len(actions) != 2 {
		t.Errorf("actions of a server that is gone: %v, %v", actions, err)
	}
	equal(t, "action ids are beyond 32 bits", slices.ContainsFunc(actions, func(a *hcloud.Action) bool { return a.ID < 1<<32 }), false)
}
