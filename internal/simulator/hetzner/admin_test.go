package hetzner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// admin asks the endpoint by which tests in other processes do what those here do by methods.
func (p project) admin(status int, method, path string, body any) fields {
	p.t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.server.Origin()+adminPath+path, bytes.NewReader(content))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+p.server.Token())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer fields
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		p.t.Fatal(err)
	}
	if response.StatusCode != status {
		p.t.Errorf("%s %s: status %d, want %d: %v", method, path, response.StatusCode, status, answer)
	}
	return answer
}

func TestAdmin(t *testing.T) {
	p, _ := atNoon(t, Settings{})
	id := p.newServer("s", nil)
	address := p.server.Inventory().PrimaryIPs[0].ID
	none := fields{}
	inventory := p.admin(200, "GET", "inventory", none)
	equal(t, "servers", len(inventory["servers"].([]any)), 1)
	p.admin(200, "POST", "faults", simkit.Fault{Status: 500, Code: "server_error"})
	p.want(500, "GET", "/servers", nil)
	p.admin(400, "POST", "faults", fields{"cut": "x"})
	p.admin(400, "POST", "faults", fields{"unknown": "x"})
	p.admin(200, "POST", "action-faults", ActionFault{Command: commandStopServer, Never: true})
	p.admin(400, "POST", "action-faults", ActionFault{Command: "dance"})
	never := number(p.want(201, "POST", serverPath(id)+"/actions/poweroff", nil), "action", "id")
	p.settle()
	equal(t, "never ends", p.status(id), "stopping")
	p.admin(200, "POST", fmt.Sprintf("actions/%d/end", never), none)
	p.admin(200, "POST", "clock/advance", fields{"duration": 1000})
	equal(t, "ended", p.status(id), "off")
	p.admin(404, "POST", fmt.Sprintf("actions/%d/end", never), none)
	p.admin(200, "POST", "action-faults", ActionFault{})
	p.admin(200, "DELETE", "action-faults", none)
	equal(t, "waiting", len(p.admin(200, "GET", "action-faults", none)["actionFaults"].([]any)), 0)
	p.want(201, "POST", serverPath(id)+"/actions/poweron", nil)
	p.settle()
	p.admin(200, "PUT", fmt.Sprintf("servers/%d/guest", id), Guest{IgnoreShutdown: true})
	p.admin(404, "PUT", "servers/7/guest", Guest{})
	p.want(201, "POST", serverPath(id)+"/actions/shutdown", nil)
	p.settle()
	equal(t, "deaf", p.status(id), "running")
	p.admin(200, "POST", fmt.Sprintf("servers/%d/status", id), fields{"status": "unknown"})
	p.admin(400, "POST", fmt.Sprintf("servers/%d/status", id), fields{"status": "running"})
	equal(t, "broken", p.status(id), "unknown")
	foreign := number(p.admin(200, "POST", "foreign/servers", Foreign{Name: "s"}), "id")
	p.admin(200, "POST", fmt.Sprintf("primary_ips/%d/attach", address), fields{"server": foreign})
	equal(t, "attached", p.server.Inventory().PrimaryIPs[0].Assignee, foreign)
	p.admin(200, "DELETE", fmt.Sprintf("servers/%d", foreign), none)
	p.admin(200, "PUT", "settings", Settings{MaxPage: 1, RateRefill: 0.001})
	equal(t, "settings", number(p.admin(200, "GET", "settings", none), "maxPage"), 1)
	p.admin(400, "PUT", "settings", Settings{MaxPage: -1})
	p.admin(200, "PUT", "token", fields{"token": strings.Repeat("t", TokenLength), "access": "read-only"})
	p.admin(400, "PUT", "token", fields{"token": "short", "access": "read-only"})
	p.admin(200, "POST", "rate-limit/exhaust", none)
	p.refused(429, codeRateLimit, "", "GET", "/servers", nil)
	p.admin(200, "PUT", "token", fields{"token": p.server.Token(), "access": "revoked"})
	p.refused(401, codeUnauthorized, "", "GET", "/servers", nil)
	requests := p.admin(200, "GET", "requests", none)["requests"].([]any)
	equal(t, "first request", text(requests[0], "path"), "/v1/servers")
	p.admin(200, "DELETE", "requests", none)
	p.admin(404, "GET", "nothing", none)
	got, err := http.Get(p.server.Origin() + adminPath + "inventory")
	if err != nil {
		t.Fatal(err)
	}
	got.Body.Close()
	equal(t, "without the token", got.StatusCode, 401)

	wall := newProject(t, Config{})
	wall.admin(400, "POST", "clock/advance", fields{"duration": 1})
}
