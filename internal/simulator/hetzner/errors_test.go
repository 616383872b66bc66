package hetzner

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// again is how often the vendor's client sends a request that it repeats: once, and 5 retries.
const again = 6

// plain is an answer without JSON, as gateways send.
func plain(status int) []simkit.Fault {
	return []simkit.Fault{{Status: status, Body: "<h1>no</h1>", Count: -1}}
}

// injected is an error that only a fault makes: what leads to it at the service cannot be seen.
func injected(status int, code string) []simkit.Fault {
	return []simkit.Fault{{Status: status, Code: code, Message: "no", Count: -1}}
}

// TestErrors produces each error of the contract's table, and counts how often the vendor's client tries.
func TestErrors(t *testing.T) {
	type request struct {
		method, path string
		body         any
	}
	get := func(path string) func(project) request {
		return func(project) request { return request{method: "GET", path: path} }
	}
	post := func(path string, body any) func(project) request {
		return func(project) request { return request{"POST", path, body} }
	}
	server := func(more fields) fields {
		body := fields{"name": "new", "server_type": "cx23", "image": "debian-13", "location": "fsn1"}
		for key, value := range more {
			body[key] = value
		}
		return body
	}
	address := func(p project, name, family, location string) int64 {
		return number(p.want(201, "POST", "/primary_ips", fields{"name": name, "type": family, "location": location}), "primary_ip", "id")
	}
	off := func(p project) int64 { return p.newServer("off", fields{"start_after_create": false}) }
	alone := fields{"public_net": fields{"enable_ipv4": false, "enable_ipv6": true}, "start_after_create": false}

	for name, one := range map[string]struct {
		settings Settings
		faults   []simkit.Fault
		prepare  func(p project) request
		status   int
		code     string
		attempts int // of the client
	}{
		"not JSON":      {prepare: post("/servers", json.RawMessage(`{"name":`)), status: 400, code: "json_error", attempts: 1},
		"revoked token": {settings: Settings{Revoked: true}, prepare: get("/servers"), status: 401, code: "unauthorized", attempts: 1},
		"legacy read-only token": {
			settings: Settings{ReadOnly: true, LegacyReadOnly: true}, prepare: post("/servers", server(nil)), status: 401, code: "token_readonly", attempts: 1,
		},
		"read-only token": {settings: Settings{ReadOnly: true}, prepare: post("/servers", server(nil)), status: 403, code: "forbidden", attempts: 1},
		"maintenance":     {faults: injected(403, "maintenance"), prepare: get("/servers"), status: 403, code: "maintenance", attempts: 1},
		"server quota": {
			settings: Settings{Quotas: map[string]int{"server_limit": 0}}, prepare: post("/servers", server(nil)), status: 403, code: "resource_limit_exceeded", attempts: 1,
		},
		"address quota of a server": {
			settings: Settings{Quotas: map[string]int{"primary_ip_limit": 1}}, prepare: post("/servers", server(nil)), status: 403, code: "resource_limit_exceeded", attempts: 1,
		},
		"address quota": {
			settings: Settings{Quotas: map[string]int{"primary_ip_limit": 0}},
			prepare:  post("/primary_ips", fields{"name": "a", "type": "ipv4", "location": "fsn1"}), status: 403, code: "resource_limit_exceeded", attempts: 1,
		},
		"key quota": {
			settings: Settings{Quotas: map[string]int{"ssh_key_limit": 0}},
			prepare:  post("/ssh_keys", fields{"name": "a", "public_key": publicKey(t)}), status: 403, code: "resource_limit_exceeded", attempts: 1,
		},
		"no such server":   {prepare: get("/servers/7"), status: 404, code: "not_found", attempts: 1},
		"no such endpoint": {prepare: get("/nothing"), status: 404, code: "not_found", attempts: 1},
		"method":           {prepare: func(project) request { return request{"DELETE", "/servers", nil} }, status: 405, code: "method_not_allowed", attempts: 1},
		"name taken": {prepare: func(p project) request {
			p.newServer("new", nil)
			return request{"POST", "/servers", server(nil)}
		}, status: 409, code: "uniqueness_error", attempts: 1},
		"fingerprint taken": {prepare: func(p project) request {
			line := publicKey(t)
			p.want(201, "POST", "/ssh_keys", fields{"name": "one", "public_key": line})
			return request{"POST", "/ssh_keys", fields{"name": "two", "public_key": line + " another comment"}}
		}, status: 409, code: "uniqueness_error", attempts: 1},
		"conflict":         {faults: injected(409, "conflict"), prepare: get("/servers"), status: 409, code: "conflict", attempts: again},
		"datacenters":      {prepare: get("/datacenters"), status: 410, code: "deprecated_api_endpoint", attempts: 1},
		"one datacenter":   {prepare: get("/datacenters/1"), status: 410, code: "deprecated_api_endpoint", attempts: 1},
		"all actions":      {prepare: get("/actions"), status: 410, code: "deprecated_api_endpoint", attempts: 1},
		"out of stock":     {settings: Settings{OutOfStock: []Offer{{"cx23", "fsn1"}}}, prepare: post("/servers", server(nil)), status: 412, code: "resource_unavailable", attempts: 1},
		"location closed":  {settings: Settings{OutOfStock: []Offer{{"", "fsn1"}}}, prepare: post("/servers", server(nil)), status: 412, code: "resource_unavailable", attempts: 1},
		"everywhere empty": {settings: Settings{OutOfStock: []Offer{{"cx23", ""}}}, prepare: post("/servers", server(nil)), status: 412, code: "resource_unavailable", attempts: 1},
		"family mismatch": {prepare: func(p project) request {
			return request{"POST", "/servers", server(fields{"public_net": fields{"enable_ipv6": false, "ipv4": address(p, "six", "ipv6", "fsn1")}})}
		}, status: 412, code: "primary_ip_version_mismatch", attempts: 1},
		"invalid":       {prepare: post("/servers", server(fields{"name": "under_score"})), status: 422, code: "invalid_input", attempts: 1},
		"service error": {faults: injected(422, "service_error"), prepare: get("/servers"), status: 422, code: "service_error", attempts: 1},
		"unsupported":   {prepare: post("/servers", server(fields{"volumes": []int{1}})), status: 422, code: "unsupported_error", attempts: 1},
		"group is full": {prepare: func(p project) request {
			group := number(p.want(201, "POST", "/placement_groups", fields{"name": "g", "type": "spread"}), "placement_group", "id")
			for i := range maxGroup {
				p.want(201, "POST", "/servers", server(fields{"name": "s" + string(rune('a'+i)), "placement_group": group}))
			}
			return request{"POST", "/servers", server(fields{"placement_group": group})}
		}, status: 422, code: "placement_error", attempts: 1},
		"address assigned": {prepare: func(p project) request {
			id := address(p, "four", "ipv4", "fsn1")
			with := fields{"public_net": fields{"enable_ipv4": true, "enable_ipv6": false, "ipv4": id}}
			p.newServer("first", with)
			return request{"POST", "/servers", server(with)}
		}, status: 422, code: "primary_ip_assigned", attempts: 1},
		"address elsewhere": {prepare: func(p project) request {
			return request{"POST", "/servers", server(fields{"public_net": fields{"enable_ipv6": false, "ipv4": address(p, "four", "ipv4", "nbg1")}})}
		}, status: 422, code: "primary_ip_datacenter_mismatch", attempts: 1},
		"assign to a running server": {prepare: func(p project) request {
			id := p.newServer("on", nil)
			return request{"POST", ipPath(address(p, "four", "ipv4", "fsn1")) + "/actions/assign", fields{"assignee_id": id, "assignee_type": "server"}}
		}, status: 422, code: "server_not_stopped", attempts: 1},
		"unassign from a running server": {prepare: func(p project) request {
			id := address(p, "four", "ipv4", "fsn1")
			p.newServer("on", fields{"public_net": fields{"enable_ipv6": false, "ipv4": id}})
			return request{"POST", ipPath(id) + "/actions/unassign", nil}
		}, status: 422, code: "server_not_stopped", attempts: 1},
		"has IPv4": {prepare: func(p project) request {
			return request{"POST", ipPath(address(p, "four", "ipv4", "fsn1")) + "/actions/assign", fields{"assignee_id": off(p), "assignee_type": "server"}}
		}, status: 422, code: "server_has_ipv4", attempts: 1},
		"has IPv6": {prepare: func(p project) request {
			return request{"POST", ipPath(address(p, "six", "ipv6", "fsn1")) + "/actions/assign", fields{"assignee_id": off(p), "assignee_type": "server"}}
		}, status: 422, code: "server_has_ipv6", attempts: 1},
		"assign an assigned address": {prepare: func(p project) request {
			id := address(p, "four", "ipv4", "fsn1")
			p.newServer("first", fields{"public_net": fields{"enable_ipv6": false, "ipv4": id}})
			return request{"POST", ipPath(id) + "/actions/assign", fields{"assignee_id": p.newServer("second", alone), "assignee_type": "server"}}
		}, status: 422, code: "primary_ip_already_assigned", attempts: 1},
		"delete an assigned address": {prepare: func(p project) request {
			id := address(p, "four", "ipv4", "fsn1")
			p.newServer("first", fields{"public_net": fields{"enable_ipv6": false, "ipv4": id}})
			return request{"DELETE", ipPath(id), nil}
		}, status: 422, code: "must_be_unassigned", attempts: 1},
		"load balancer target": {faults: injected(422, "server_is_load_balancer_target"), prepare: get("/servers"), status: 422, code: "server_is_load_balancer_target", attempts: 1},
		"smaller type": {prepare: func(p project) request {
			id := p.newServer("big", fields{"server_type": "cx33", "start_after_create": false})
			return request{"POST", serverPath(id) + "/actions/change_type", fields{"server_type": "cx23", "upgrade_disk": true}}
		}, status: 422, code: "invalid_server_type", attempts: 1},
		"locked": {settings: Settings{LockWindow: 3600_000}, prepare: func(p project) request {
			return request{"DELETE", serverPath(p.newServer("held", nil)), nil}
		}, status: 423, code: "locked", attempts: 1},
		"protected": {prepare: func(p project) request {
			id := p.newServer("safe", nil)
			p.want(201, "POST", serverPath(id)+"/actions/change_protection", fields{"delete": true, "rebuild": true})
			return request{"DELETE", serverPath(id), nil}
		}, status: 423, code: "protected", attempts: 1},
		"rate limit": {settings: Settings{RateRefill: 0.0001}, prepare: func(p project) request {
			p.server.ExhaustRateLimit()
			return request{method: "GET", path: "/servers"}
		}, status: 429, code: "rate_limit_exceeded", attempts: again},
		"rate limit without JSON": {faults: plain(429), prepare: get("/servers"), status: 429, attempts: 1},
		"server error":            {faults: injected(500, "server_error"), prepare: get("/servers"), status: 500, code: "server_error", attempts: 1},
		"bad gateway":             {faults: injected(502, "bad_gateway"), prepare: get("/servers"), status: 502, code: "bad_gateway", attempts: again},
		"page of a gateway":       {faults: plain(502), prepare: get("/servers"), status: 502, attempts: again},
		"unavailable":             {faults: injected(503, "unavailable"), prepare: get("/servers"), status: 503, code: "unavailable", attempts: 1},
		"page of an outage":       {faults: plain(503), prepare: get("/servers"), status: 503, attempts: 1},
		"timeout":                 {faults: injected(504, "timeout"), prepare: get("/servers"), status: 504, code: "timeout", attempts: again},
		"page of a timeout":       {faults: plain(504), prepare: get("/servers"), status: 504, attempts: again},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, Config{Settings: one.settings})
			asked := one.prepare(p)
			if err := p.server.Inject(one.faults...); err != nil {
				t.Fatal(err)
			}
			p.server.ResetRequests()
			var body io.Reader
			if asked.body != nil {
				content, isRaw := asked.body.(json.RawMessage)
				if !isRaw {
					var err error
					if content, err = json.Marshal(asked.body); err != nil {
						t.Fatal(err)
					}
				}
				body = bytes.NewReader(content)
			}
			request, err := p.hcloud.NewRequest(t.Context(), asked.method, asked.path, body)
			if err != nil {
				t.Fatal(err)
			}
			response, err := p.hcloud.Do(request, nil)
			if err == nil {
				t.Fatal("it succeeds")
			}
			equal(t, "status", response.StatusCode, one.status)
			var known hcloud.Error
			if errors.As(err, &known) != (one.code != "") || string(known.Code) != one.code {
				t.Errorf("the client takes it for %v", err)
			}
			if one.code != "" && !strings.Contains(err.Error(), response.Header.Get("X-Correlation-Id")) {
				t.Errorf("it lacks the correlation id: %v", err)
			}
			for _, header := range []string{"X-Correlation-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Date"} {
				if response.Header.Get(header) == "" {
					t.Errorf("the header %s is missing", header)
				}
			}
			equal(t, "attempts", len(p.server.Requests()), one.attempts)
		})
	}
}

// TestErrorDetails has what the vendor's client and people read beside the code.
func TestErrorDetails(t *testing.T) {
	p := newProject(t, Config{Settings: Settings{Quotas: map[string]int{"server_limit": 1}}})
	_, _, err := p.hcloud.Server.Create(t.Context(), hcloud.ServerCreateOpts{
		Name: "a_b", ServerType: &hcloud.ServerType{Name: "cx23"}, Image: &hcloud.Image{Name: "debian-13"},
	})
	var known hcloud.Error
	if !errors.As(err, &known) {
		t.Fatal(err)
	}
	details, ok := known.Details.(hcloud.ErrorDetailsInvalidInput)
	if !ok || len(details.Fields) != 1 || details.Fields[0].Name != "name" {
		t.Errorf("details: %+v", known.Details)
	}
	request, err := p.hcloud.NewRequest(t.Context(), http.MethodGet, "/datacenters", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.hcloud.Do(request, nil)
	if !errors.As(err, &known) {
		t.Fatal(err)
	}
	if gone, ok := known.Details.(hcloud.ErrorDetailsDeprecatedAPIEndpoint); !ok || gone.Announcement == "" {
		t.Errorf("details: %+v", known.Details)
	}
	p.newServer("one", nil)
	p.refused(409, codeUniqueness, "name", "POST", "/servers", fields{"name": "one", "server_type": "cx23", "image": "debian-13"})
	limits, _ := at(p.want(403, "POST", "/servers", fields{"name": "two", "server_type": "cx23", "image": "debian-13"}), "error", "details", "limits").([]any)
	if len(limits) != 1 || text(limits[0], "name") != "server_limit" {
		t.Errorf("limits: %v", limits)
	}
	// What two fields do not allow together names none of them.
	for _, body := range []fields{
		{"name": "two", "server_type": "cpx11", "image": "debian-13", "location": "fsn1"},
		{"name": "two", "server_type": "cax11", "image": "debian-13", "location": "fsn1"},
		{"name": "two", "server_type": "cx11", "image": "debian-13", "location": "fsn1"},
	} {
		answer := p.want(422, "POST", "/servers", body)
		equal(t, "code", text(answer, "error", "code"), codeInvalid)
		if details, ok := at(answer, "error", "details").(fields); !ok || len(details) != 0 {
			t.Errorf("%v: details %v", body, at(answer, "error", "details"))
		}
	}
}

// TestPrecedence: a request that is wrong in many ways is refused for the first one.
func TestPrecedence(t *testing.T) {
	p := newProject(t, Config{Settings: Settings{RateLimit: 1000}})
	held := p.newServer("held", nil)
	p.newServer("other", nil)
	if err := p.server.InjectAction(ActionFault{Command: commandShutdownServer, Never: true}); err != nil {
		t.Fatal(err)
	}
	p.want(201, "POST", serverPath(held)+"/actions/shutdown", nil)
	configure := func(settings Settings) {
		t.Helper()
		if err := p.server.Configure(settings); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(what string, status int, token, method, path string, body any) {
		t.Helper()
		got, err := p.try(method, path, token, body)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, what, got.status, status)
	}
	good := p.server.Token()
	configure(Settings{ReadOnly: true, RateLimit: 1, RateRefill: 0.0001})
	p.server.ExhaustRateLimit()
	ask("401 before 429", http.StatusUnauthorized, "", "POST", "/nothing", `{`)
	ask("429 before 404", http.StatusTooManyRequests, good, "POST", "/nothing", `{`)
	configure(Settings{ReadOnly: true, RateRefill: 1e9})
	ask("404 of a path before 400", http.StatusNotFound, good, "POST", "/nothing", `{`)
	ask("400 before 403", http.StatusBadRequest, good, "POST", "/servers/1/actions/rebuild", `{`)
	ask("403 before 404 of an object", http.StatusForbidden, good, "POST", "/servers/1/actions/rebuild", `{}`)
	configure(Settings{})
	ask("404 of an object before 422", http.StatusNotFound, good, "POST", "/servers/1/actions/rebuild", `{}`)
	ask("422 before 423", http.StatusUnprocessableEntity, good, "POST", serverPath(held)+"/actions/rebuild", `{}`)
	ask("423", http.StatusLocked, good, "POST", serverPath(held)+"/actions/rebuild", `{"image":"debian-13"}`)
	ask("422 before 409", http.StatusUnprocessableEntity, good, "PUT", serverPath(held), `{"name":"other","labels":{"-":""}}`)
	ask("409", http.StatusConflict, good, "PUT", serverPath(held), `{"name":"other"}`)
}
