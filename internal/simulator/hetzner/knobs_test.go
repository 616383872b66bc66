package hetzner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

func (p project) configure(settings Settings) {
	p.t.Helper()
	if err := p.server.Configure(settings); err != nil {
		p.t.Fatal(err)
	}
}

func (p project) inject(faults ...simkit.Fault) {
	p.t.Helper()
	if err := p.server.Inject(faults...); err != nil {
		p.t.Fatal(err)
	}
}

func (p project) injectAction(faults ...ActionFault) {
	p.t.Helper()
	if err := p.server.InjectAction(faults...); err != nil {
		p.t.Fatal(err)
	}
}

// TestLostReply: the effect is there once, and what the client sends again meets its own object.
func TestLostReply(t *testing.T) {
	for name, fault := range map[string]simkit.Fault{
		"gateway timeout":      {Method: "POST", Status: 504, Code: "timeout", Effect: true},
		"page of a gateway":    {Method: "POST", Status: 502, Body: "<h1>Bad Gateway</h1>", Effect: true},
		"connection is broken": {Method: "POST", Cut: simkit.CutAfter},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, Config{})
			repeats := fault.Cut == "" // a broken connection the client leaves to its caller
			check := func(kind string, create func() error, count func() int) {
				t.Helper()
				p.inject(fault)
				p.server.ResetRequests()
				err := create()
				if hcloud.IsError(err, hcloud.ErrorCodeUniquenessError) != repeats || err == nil {
					t.Errorf("%s: %v", kind, err)
				}
				equal(t, kind, count(), 1)
				attempts := 1
				if repeats {
					attempts = 2
				}
				equal(t, kind+": attempts", len(p.server.Requests()), attempts)
			}
			ctx := t.Context()
			line := publicKey(t)
			check("keys", func() error {
				_, _, err := p.hcloud.SSHKey.Create(ctx, hcloud.SSHKeyCreateOpts{Name: "k", PublicKey: line})
				return err
			}, func() int { return len(p.server.Inventory().SSHKeys) })
			check("addresses", func() error {
				_, _, err := p.hcloud.PrimaryIP.Create(ctx, hcloud.PrimaryIPCreateOpts{Name: "ip", Type: hcloud.PrimaryIPTypeIPv4, Location: "fsn1"})
				return err
			}, func() int { return len(p.server.Inventory().PrimaryIPs) })
			ip := must[*hcloud.PrimaryIP](t)(p.hcloud.PrimaryIP.GetByName(ctx, "ip"))
			// The replay names an address that is taken by now, which the service sees first.
			p.inject(fault)
			_, _, err := p.hcloud.Server.Create(ctx, hcloud.ServerCreateOpts{
				Name: "s", ServerType: &hcloud.ServerType{Name: "cx23"}, Image: &hcloud.Image{Name: "debian-13"}, Location: &hcloud.Location{Name: "fsn1"},
				PublicNet: &hcloud.ServerCreatePublicNet{EnableIPv4: true, IPv4: ip},
			})
			if err == nil || repeats && !hcloud.IsError(err, "primary_ip_assigned") {
				t.Errorf("server: %v", err)
			}
			equal(t, "servers", len(p.server.Inventory().Servers), 1)
			check("servers without an address of ours", func() error {
				_, _, err := p.hcloud.Server.Create(ctx, hcloud.ServerCreateOpts{Name: "s2", ServerType: &hcloud.ServerType{Name: "cx23"}, Image: &hcloud.Image{Name: "debian-13"}})
				return err
			}, func() int { return len(p.server.Inventory().Servers) - 1 })
		})
	}
}

func TestFaultsBeforeTheEffect(t *testing.T) {
	p := newProject(t, Config{})
	p.inject(simkit.Fault{Method: "POST", Path: "/servers", Skip: 1, Count: 2, Status: 503, Code: "unavailable", Message: "later"})
	body := func(name string) fields { return fields{"name": name, "server_type": "cx23", "image": "debian-13"} }
	p.want(201, "POST", "/servers", body("a"))
	for range 2 {
		p.refused(503, "unavailable", "", "POST", "/servers", body("b"))
	}
	p.want(201, "POST", "/servers", body("b"))
	equal(t, "waiting", len(p.server.Faults()), 0)
	p.inject(simkit.Fault{Method: "POST", Cut: simkit.CutBefore})
	if got, err := p.try("POST", "/servers", p.server.Token(), body("c")); err == nil {
		t.Errorf("answered with %d", got.status)
	}
	equal(t, "servers", len(p.server.Inventory().Servers), 2)
	p.inject(simkit.Fault{Status: 422, Code: "invalid_input", Details: []byte(`{"fields":[{"name":"x","messages":["no"]}]}`)})
	p.refused(422, codeInvalid, "x", "GET", "/servers", nil)
}

func TestFailingActions(t *testing.T) {
	p := newProject(t, Config{})
	ctx := t.Context()
	create := func(name string) (hcloud.ServerCreateResult, error) {
		made := must[hcloud.ServerCreateResult](t)(p.hcloud.Server.Create(ctx, hcloud.ServerCreateOpts{
			Name: name, ServerType: &hcloud.ServerType{Name: "cx23"}, Image: &hcloud.Image{Name: "debian-13"},
		}))
		return made, p.hcloud.Action.WaitFor(ctx, append(made.NextActions, made.Action)...)
	}
	failed := func(err error, code string) {
		t.Helper()
		var known hcloud.ActionError
		if !errors.As(err, &known) || known.Code != code {
			t.Errorf("the client takes it for %v", err)
		}
	}
	p.injectAction(ActionFault{Command: commandCreateServer, Code: "unknown_error", Message: "it broke"})
	kept, err := create("kept")
	failed(err, "unknown_error")
	p.settle()
	equal(t, "kept", p.status(kept.Server.ID), "off")

	p.injectAction(ActionFault{Command: commandCreateServer, Remove: true})
	removed, err := create("removed")
	failed(err, "action_failed")
	p.refused(404, codeNotFound, "", "GET", serverPath(removed.Server.ID), nil)
	equal(t, "addresses", len(p.server.Inventory().PrimaryIPs), 2)

	p.injectAction(ActionFault{Command: commandStartServer, Skip: 1})
	if _, err := create("first"); err != nil {
		t.Error(err)
	}
	second, err := create("second")
	failed(err, "action_failed")
	equal(t, "not started", p.status(second.Server.ID), "off")

	p.injectAction(ActionFault{Command: commandDeleteServer}, ActionFault{Command: commandDeleteServer, Effect: true})
	for _, stays := range []bool{true, false} {
		deleted := must[*hcloud.ServerDeleteResult](t)(p.hcloud.Server.DeleteWithResult(ctx, second.Server))
		failed(p.hcloud.Action.WaitFor(ctx, deleted.Action), "action_failed")
		found := must[*hcloud.Server](t)(p.hcloud.Server.GetByID(ctx, second.Server.ID))
		equal(t, "it stays", found != nil, stays)
	}

	// One that never ends: the client gives up, and the server stays locked.
	p.injectAction(ActionFault{Command: commandStopServer, Never: true})
	action := must[*hcloud.Action](t)(p.hcloud.Server.Poweroff(ctx, kept.Server))
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := p.hcloud.Action.WaitFor(short, action); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the client waited: %v", err)
	}
	p.refused(423, codeLocked, "", "DELETE", serverPath(kept.Server.ID), nil)
	if err := p.server.EndAction(action.ID); err != nil {
		t.Error(err)
	}
	p.settle()
	p.want(200, "DELETE", serverPath(kept.Server.ID), nil)
	equal(t, "waiting", len(p.server.ActionFaults()), 0)
	for _, wrong := range []ActionFault{{Command: "dance"}, {Skip: -1}, {Never: true, Effect: true}, {Command: commandStopServer, Remove: true}} {
		if p.server.InjectAction(wrong) == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
}

func TestGuests(t *testing.T) {
	p, clock := atNoon(t, Settings{IgnoreShutdown: true})
	id := p.newServer("s", nil)
	shutdown := func() {
		t.Helper()
		p.want(201, "POST", serverPath(id)+"/actions/shutdown", nil)
		clock.Advance(time.Second)
		for _, one := range p.server.Inventory().Actions {
			equal(t, one.Command, one.Status, "success")
		}
	}
	shutdown()
	clock.Advance(time.Hour)
	equal(t, "deaf", p.status(id), "running")
	p.configure(Settings{ShutdownTime: 90_000})
	shutdown()
	clock.Advance(88 * time.Second)
	equal(t, "slow", p.status(id), "running")
	clock.Advance(2 * time.Second)
	equal(t, "slow", p.status(id), "off")
	start := func() {
		t.Helper()
		p.want(201, "POST", serverPath(id)+"/actions/poweron", nil)
		clock.Advance(time.Second)
		equal(t, "started", p.status(id), "running")
	}
	// A signal to an earlier boot does not stop a later one.
	start()
	shutdown()
	p.want(201, "POST", serverPath(id)+"/actions/poweroff", nil)
	clock.Advance(time.Second)
	start()
	clock.Advance(time.Hour)
	equal(t, "later boot", p.status(id), "running")

	if err := p.server.SetGuest(id, Guest{IgnoreShutdown: true}); err != nil {
		t.Fatal(err)
	}
	p.configure(Settings{})
	shutdown()
	equal(t, "this one is deaf", p.status(id), "running")
	actions := len(p.server.Inventory().Actions)
	for _, state := range []string{"off", "unknown"} {
		if err := p.server.BreakServer(id, state); err != nil {
			t.Fatal(err)
		}
		equal(t, "broken", p.status(id), state)
	}
	equal(t, "without an action", len(p.server.Inventory().Actions), actions)
	if p.server.BreakServer(id, "running") == nil || p.server.BreakServer(7, "off") == nil || p.server.SetGuest(id, Guest{ShutdownTime: -1}) == nil {
		t.Error("nonsense was taken")
	}
	start()
	if err := p.server.LoseServer(id); err != nil {
		t.Fatal(err)
	}
	p.refused(404, codeNotFound, "", "GET", serverPath(id), nil)
}

func TestLags(t *testing.T) {
	p, clock := atNoon(t, Settings{LockWindow: 30_000, DeleteLag: 60_000, ListLag: 10_000, DeletingGone: true})
	ip := number(p.want(201, "POST", "/primary_ips", fields{"name": "ip", "type": "ipv4", "location": "fsn1"}), "primary_ip", "id")
	body := fields{"name": "s", "server_type": "cx23", "image": "debian-13", "location": "fsn1", "public_net": fields{"ipv4": ip, "enable_ipv6": false}}
	id := number(p.want(201, "POST", "/servers", body), "server", "id")
	equal(t, "not listed yet", p.names("servers", "name=s"), "")
	equal(t, "not listed yet", p.names("primary_ips", ""), "")
	p.status(id)
	clock.Advance(10 * time.Second)
	equal(t, "listed", p.names("servers", "name=s"), "s")
	p.refused(423, codeLocked, "", "DELETE", serverPath(id), nil)
	clock.Advance(30 * time.Second)
	p.want(200, "DELETE", serverPath(id), nil)
	p.refused(404, codeNotFound, "", "GET", serverPath(id), nil)
	equal(t, "not listed any more", p.names("servers", ""), "")
	clock.Advance(30 * time.Second)
	p.refused(422, codeMustBeUnassigned, "", "DELETE", ipPath(ip), nil)
	p.refused(409, codeUniqueness, "name", "POST", "/servers", fields{"name": "s", "server_type": "cx23", "image": "debian-13"})
	clock.Advance(31 * time.Second)
	p.want(204, "DELETE", ipPath(ip), nil)
	p.want(201, "POST", "/servers", fields{"name": "s", "server_type": "cx23", "image": "debian-13"})
}

func TestAutoDeleteOrder(t *testing.T) {
	for order, want := range map[string][3]int{"": {1, 0, 0}, AutoDeleteBefore: {0, 0, 0}, AutoDeleteAfter: {1, 1, 0}} {
		p, clock := atNoon(t, Settings{AutoDelete: order, AutoDeleteLag: 5000, Latency: map[string]int64{"delete_server": 10_000}})
		id := p.newServer("s", fields{"public_net": fields{"enable_ipv4": true, "enable_ipv6": false}})
		left := func() int { return len(p.server.Inventory().PrimaryIPs) }
		p.want(200, "DELETE", serverPath(id), nil)
		during := left()
		clock.Advance(10 * time.Second)
		after := left()
		clock.Advance(5 * time.Second)
		equal(t, "order "+order, [3]int{during, after, left()}, want)
	}
}

func TestRateLimit(t *testing.T) {
	p, clock := atNoon(t, Settings{})
	read := func(header string) int64 {
		t.Helper()
		value, err := strconv.ParseInt(p.send("GET", "/locations", nil).header.Get(header), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	equal(t, "limit", read("RateLimit-Limit"), 3600)
	equal(t, "remaining", read("RateLimit-Remaining"), 3598)
	equal(t, "full again", read("RateLimit-Reset"), clock.Now().Unix()+3)
	clock.Advance(2 * time.Second)
	equal(t, "refilled", read("RateLimit-Remaining"), 3598)
	p.configure(Settings{RateLimit: 3, RateRefill: 0.5})
	for range 3 {
		p.want(200, "GET", "/locations", nil)
	}
	p.refused(429, codeRateLimit, "", "GET", "/locations", nil)
	p.refused(429, codeRateLimit, "", "GET", "/locations", nil)
	clock.Advance(2 * time.Second)
	p.want(200, "GET", "/locations", nil)
	p.refused(429, codeRateLimit, "", "GET", "/locations", nil)
	clock.Advance(time.Minute)
	// Requests without a token count, too.
	for range 3 {
		if got, err := p.try("GET", "/locations", "", nil); err != nil || got.status != 401 {
			t.Errorf("%d, %v", got.status, err)
		}
	}
	p.refused(429, codeRateLimit, "", "GET", "/locations", nil)
}

func TestTokens(t *testing.T) {
	p := newProject(t, Config{})
	other := strings.Repeat("n", TokenLength)
	for access, want := range map[Access]int{ReadWrite: 201, ReadOnly: 403, Revoked: 401} {
		if err := p.server.SetToken(other, access); err != nil {
			t.Fatal(err)
		}
		got, err := p.try("POST", "/placement_groups", other, fields{"name": "g", "type": "spread"})
		if err != nil || got.status != want {
			t.Errorf("%s: status %d, %v", access, got.status, err)
		}
		got, err = p.try("GET", "/placement_groups", other, nil)
		if reads := access != Revoked; err != nil || (got.status == 200) != reads {
			t.Errorf("%s: status %d, %v", access, got.status, err)
		}
	}
	if err := p.server.SetToken(p.server.Token(), Revoked); err != nil {
		t.Fatal(err)
	}
	p.refused(401, codeUnauthorized, "", "GET", "/servers", nil)
	if p.server.SetToken("short", ReadWrite) == nil || p.server.SetToken(other, "all") == nil {
		t.Error("nonsense was taken")
	}
	if _, err := New(Config{Token: "short"}); err == nil {
		t.Error("a short token was taken")
	}
}

func TestForeignObjects(t *testing.T) {
	p := newProject(t, Config{})
	labels := map[string]string{"sandlot.owner": "us"}
	ours := p.newServer("ours", fields{"labels": labels})
	twin, err := p.server.AddForeignServer(Foreign{Name: "ours", Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "same name", p.names("servers", "name=ours"), "ours ours")
	equal(t, "same labels", p.names("servers", "label_selector=sandlot.owner%3Dus"), "ours ours")
	mine := p.server.Inventory().PrimaryIPs[0]
	equal(t, "mine", mine.Assignee, ours)
	for _, owner := range []int64{twin, 0} {
		if err := p.server.AttachPrimaryIP(mine.ID, owner); err != nil {
			t.Fatal(err)
		}
		equal(t, "attached elsewhere", number(p.want(200, "GET", ipPath(mine.ID), nil), "primary_ip", "assignee_id"), owner)
	}
	third, err := p.server.AddForeignServer(Foreign{Name: "third", PrimaryIP: mine.ID})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "taken", p.server.Inventory().PrimaryIPs[0].Assignee, third)
	_, err = p.server.AddForeignServer(Foreign{Name: "x", PrimaryIP: 7})
	if err == nil || p.server.AttachPrimaryIP(7, 0) == nil || p.server.AttachPrimaryIP(mine.ID, 7) == nil || p.server.LoseServer(7) == nil {
		t.Error("nonsense was taken")
	}
}

func TestObjectsOfTheFuture(t *testing.T) {
	p := newProject(t, Config{Settings: Settings{LargeIDs: true, UnknownFields: true}})
	id := p.newServer("s", nil)
	equal(t, "large", id > 1<<52 && id < 1<<53, true)
	view := p.want(200, "GET", serverPath(id), nil)
	for _, path := range [][]string{{"server"}, {"server", "server_type"}, {"server", "public_net", "ipv4"}} {
		inner := at(view, path...)
		equal(t, fmt.Sprint(path), at(inner, "field_of_the_future") != nil, true)
	}
	equal(t, "labels are left alone", len(at(view, "server", "labels").(fields)), 0)
}

func TestRequestsAreOnRecord(t *testing.T) {
	p := newProject(t, Config{})
	p.newServer("s", fields{"user_data": "secret-of-the-host"})
	found := 0
	for _, one := range p.server.Requests() {
		if strings.Contains(string(one.Body), "secret-of-the-host") {
			found++
			equal(t, "path", one.Method+" "+one.Path, "POST /v1/servers")
		}
		if one.Header.Get("Authorization") != "(redacted)" {
			t.Error("the token is on record")
		}
	}
	equal(t, "bodies", found, 1)
	p.server.ResetRequests()
	equal(t, "reset", len(p.server.Requests()), 0)
	equal(t, "what leaks", strings.Join(p.server.Leaks("secret-of-the-host"), " "), "")
	p.want(200, "GET", "/servers?name=secret-of-the-host", nil)
	equal(t, "what leaks", strings.Join(p.server.Leaks("secret-of-the-host", ""), " "), "GET /v1/servers")
}

func TestSettingsAreChecked(t *testing.T) {
	p := newProject(t, Config{})
	for _, wrong := range []Settings{
		{AutoDelete: "never"},
		{Latency: map[string]int64{"dance": 1}},
		{Latency: map[string]int64{"start_server": -1}},
		{LockWindow: -1},
		{Quotas: map[string]int{"moon_limit": 1}},
		{Quotas: map[string]int{"server_limit": -1}},
		{OutOfStock: []Offer{{"cx999", ""}}},
		{OutOfStock: []Offer{{"", "moon"}}},
		{MaxPage: -1},
		{RateLimit: -1},
	} {
		if p.server.Configure(wrong) == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
	p.configure(Settings{AutoDelete: AutoDeleteAfter, MaxPage: 3})
	equal(t, "settings", p.server.CurrentSettings().MaxPage, 3)
}

func TestOnlyLoopback(t *testing.T) {
	p := newProject(t, Config{})
	for host, want := range map[string]int{"": 200, "localhost:1": 200, "[::1]:1": 200, "example.com": 421, "169.254.1.1": 421} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.server.URL()+"/servers", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		request.Header.Set("Authorization", "Bearer "+p.server.Token())
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		equal(t, "host "+host, response.StatusCode, want)
	}
	if _, err := Listen("0.0.0.0:0", Config{}); err == nil {
		t.Error("it listens to everyone")
	}
}
