package hetzner

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

func (p project) groups(names ...string) {
	p.t.Helper()
	for _, name := range names {
		p.want(201, "POST", "/placement_groups", fields{"name": name, "type": "spread"})
	}
}

func (p project) names(kind, query string) string {
	p.t.Helper()
	var names []string
	listed, _ := p.want(200, "GET", "/"+kind+"?"+query, nil)[kind].([]any)
	for _, one := range listed {
		names = append(names, text(one, "name"))
	}
	return strings.Join(names, " ")
}

func TestPages(t *testing.T) {
	p := newProject(t, Config{})
	empty := p.want(200, "GET", "/placement_groups", nil)
	for key, want := range map[string]any{"page": 1.0, "per_page": 25.0, "previous_page": nil, "next_page": nil, "last_page": 1.0, "total_entries": 0.0} {
		equal(t, "empty: "+key, at(empty, "meta", "pagination", key), want)
	}
	var all []string
	for i := range 60 {
		all = append(all, fmt.Sprintf("g%02d", i))
	}
	p.groups(all...)
	equal(t, "first page", p.names("placement_groups", ""), strings.Join(all[:25], " "))
	equal(t, "page beyond the end", p.names("placement_groups", "page=9"), "")
	equal(t, "largest page", p.names("placement_groups", "per_page=1000"), strings.Join(all[:50], " "))
	got := p.send("GET", "/placement_groups?page=2&per_page=20", nil)
	page := func(number int) string {
		return fmt.Sprintf(`<%s/placement_groups?page=%d&per_page=20>`, p.server.URL(), number)
	}
	equal(t, "links", got.header.Get("Link"), page(1)+`; rel="prev", `+page(3)+`; rel="next", `+page(3)+`; rel="last"`)
	for _, wrong := range []string{"page=0", "page=x", "per_page=0"} {
		name, _, _ := strings.Cut(wrong, "=")
		p.refused(422, codeInvalid, name, "GET", "/placement_groups?"+wrong, nil)
	}
	for size, requests := range map[int]int{0: 2, 1: 60, 7: 9} {
		if err := p.server.Configure(Settings{MaxPage: size}); err != nil {
			t.Fatal(err)
		}
		p.server.ResetRequests()
		found, err := p.hcloud.PlacementGroup.All(t.Context())
		if err != nil || len(found) != 60 {
			t.Fatalf("pages of %d: %d, %v", size, len(found), err)
		}
		equal(t, fmt.Sprintf("requests for pages of %d", size), len(p.server.Requests()), requests)
	}
}

func TestSorting(t *testing.T) {
	p := newProject(t, Config{})
	p.groups("b", "c", "a")
	for query, want := range map[string]string{
		"": "b c a", "sort=name": "a b c", "sort=name:asc": "a b c", "sort=name:desc": "c b a", "sort=id:desc": "a c b",
		"sort=id:desc&sort=name": "a c b",
	} {
		equal(t, query, p.names("placement_groups", query), want)
	}
	equal(t, "filter", p.names("placement_groups", "name=c"), "c")
	equal(t, "a part of a name", p.names("placement_groups", "name=C"), "")
	p.refused(422, codeInvalid, "sort", "GET", "/placement_groups?sort=size", nil)
	p.refused(422, codeInvalid, "sort", "GET", "/placement_groups?sort=name:up", nil)
}

func TestFilters(t *testing.T) {
	p := newProject(t, Config{})
	ctx := t.Context()
	on := p.newServer("on", nil)
	off := p.newServer("off", fields{"start_after_create": false})
	for query, want := range map[string]string{
		"status=running": "on", "status=off": "off", "status=running&status=off": "on off", "status=deleting": "", "name=off": "off",
	} {
		equal(t, query, p.names("servers", query), want)
	}
	p.refused(422, codeInvalid, "status", "GET", "/servers?status=asleep", nil)
	server := must[*hcloud.Server](t)(p.hcloud.Server.GetByID(ctx, on))
	byIP := must[*hcloud.PrimaryIP](t)(p.hcloud.PrimaryIP.GetByIP(ctx, server.PublicNet.IPv4.IP.String()))
	equal(t, "by address", byIP.ID, server.PublicNet.IPv4.ID)
	equal(t, "unknown address", p.names("primary_ips", "ip=192.0.2.1"), "")

	line := publicKey(t)
	key := must[*hcloud.SSHKey](t)(p.hcloud.SSHKey.Create(ctx, hcloud.SSHKeyCreateOpts{Name: "k", PublicKey: line}))
	byFingerprint := must[*hcloud.SSHKey](t)(p.hcloud.SSHKey.GetByFingerprint(ctx, key.Fingerprint))
	equal(t, "by fingerprint", byFingerprint.ID, key.ID)
	equal(t, "shape of a fingerprint", strings.Count(key.Fingerprint, ":"), 15)
	equal(t, "other fingerprint", p.names("ssh_keys", "fingerprint="+url.QueryEscape("00:00")), "")

	actions, err := p.hcloud.Server.Action.AllFor(ctx, server, hcloud.ActionListOpts{Status: []hcloud.ActionStatus{hcloud.ActionStatusSuccess}})
	if err != nil || len(actions) != 2 || actions[0].Command != "create_server" || actions[1].Command != "start_server" {
		t.Errorf("actions of one server: %v, %v", actions, err)
	}
	all, err := p.hcloud.Server.Action.All(ctx, hcloud.ActionListOpts{Sort: []string{"command:desc"}})
	if err != nil || len(all) != 3 || all[0].Command != "start_server" {
		t.Errorf("actions of all servers: %v, %v", all, err)
	}
	one := must[*hcloud.Action](t)(p.hcloud.Server.Action.GetByID(ctx, all[0].ID))
	equal(t, "one action", one.Command, "start_server")
	p.want(200, "GET", fmt.Sprintf("%s/actions/%d", serverPath(on), all[0].ID), nil)
	p.refused(404, codeNotFound, "", "GET", fmt.Sprintf("%s/actions/%d", serverPath(off), all[0].ID), nil)
	p.refused(404, codeNotFound, "", "GET", "/servers/1/actions", nil)
	p.refused(404, codeNotFound, "", "GET", fmt.Sprintf("/primary_ips/actions/%d", all[0].ID), nil)
	known, _ := p.want(200, "GET", fmt.Sprintf("/actions?id=%d&id=7&sort=status&page=1", all[0].ID), nil)["actions"].([]any)
	equal(t, "actions that there are", len(known), 1)
}

// TestCatalog has what a client decides by before it creates anything.
func TestCatalog(t *testing.T) {
	p := newProject(t, Config{Settings: Settings{OutOfStock: []Offer{{"cx23", "nbg1"}}}})
	ctx := t.Context()
	kinds, err := p.hcloud.ServerType.All(ctx)
	if err != nil || len(kinds) != len(serverTypes) {
		t.Fatalf("server types: %v, %v", kinds, err)
	}
	kind := must[*hcloud.ServerType](t)(p.hcloud.ServerType.GetByName(ctx, "cx23"))
	for _, offer := range kind.Locations {
		equal(t, offer.Location.Name, offer.Available, offer.Location.Name != "nbg1")
	}
	equal(t, "prices", len(kind.Pricings), 3)
	equal(t, "price", kind.Pricings[0].Hourly.Net, "0.0056000000")
	ending := must[*hcloud.ServerType](t)(p.hcloud.ServerType.GetByName(ctx, "cx22"))
	equal(t, "deprecated", ending.Locations[0].IsDeprecated() && !ending.Locations[0].UnavailableAfter().IsZero(), true)
	for arch, want := range map[hcloud.Architecture]bool{hcloud.ArchitectureX86: true, hcloud.ArchitectureARM: true} {
		found := must[*hcloud.Image](t)(p.hcloud.Image.GetForArchitecture(ctx, "debian-13", arch))
		equal(t, string(arch), found != nil && found.Architecture == arch, want)
	}
	equal(t, "deprecated images are hidden", p.names("images", "name=ubuntu-20.04"), "")
	equal(t, "unless asked for", p.names("images", "name=ubuntu-20.04&include_deprecated=true"), "ubuntu-20.04")
	p.newServer("old", fields{"image": "ubuntu-20.04"})
	p.refused(422, codeInvalid, "image", "POST", "/servers", fields{"name": "older", "server_type": "cx23", "image": "debian-10"})
	if err := p.server.Configure(Settings{OutOfStock: []Offer{{"cx23", "nbg1"}}, StaleStock: true}); err != nil {
		t.Fatal(err)
	}
	kind = must[*hcloud.ServerType](t)(p.hcloud.ServerType.GetByName(ctx, "cx23"))
	equal(t, "stale stock", kind.Locations[1].Available, true)
	p.refused(412, codeUnavailable, "", "POST", "/servers", fields{"name": "n", "server_type": "cx23", "image": "debian-13", "location": "nbg1"})
	places, err := p.hcloud.Location.All(ctx)
	if err != nil || len(places) != 6 {
		t.Errorf("locations: %v, %v", places, err)
	}
	discs, err := p.hcloud.ISO.All(ctx)
	if err != nil || len(discs) != 2 {
		t.Errorf("ISOs: %v, %v", discs, err)
	}
	for _, path := range []string{"/server_types/114", "/locations/1", "/isos/26842", "/images/310556183"} {
		p.want(200, "GET", path, nil)
	}
	for _, path := range []string{"/server_types/9", "/locations/9", "/isos/9", "/images/9", "/ssh_keys/9", "/placement_groups/9", "/primary_ips/9"} {
		p.refused(404, codeNotFound, "", "GET", path, nil)
	}
}
