package vercel

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// try sends a request that may get no answer.
func (c client) try(method, path string, body any) (status int, content []byte, err error) {
	c.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.server.URL()+path, bytes.NewReader(encoded))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+DefaultToken)
	request.Close = true // or the transport sends it again by itself
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	content, err = io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return response.StatusCode, content, err
}

func (c client) inject(faults ...Fault) {
	c.t.Helper()
	if err := c.server.Inject(faults...); err != nil {
		c.t.Fatal(err)
	}
}

const team = "?teamId=" + DefaultTeam

func TestFaultsMeetTheirRequests(t *testing.T) {
	c := newClient(t, Config{})
	name, session := c.create(object{"name": "box"})
	c.inject(Fault{Method: "GET", Path: "/v2/sandboxes/*", Query: map[string]string{"resume": "true"}, Skip: 1, Count: 2, Status: 503, Code: "unavailable", Header: map[string]string{"Retry-After": "7"}})
	c.get(name)
	c.resume(name)
	for range 2 {
		got := c.send("GET", named(name)+"&resume=true", nil)
		equal(t, "status", got.status, 503)
		equal(t, "header", got.header.Get("Retry-After"), "7")
	}
	c.resume(name)
	equal(t, "waiting", len(c.server.Faults()), 0)

	c.inject(ImageNotReady(1))
	c.refused(409, "image_not_ready", "POST", "/v3/sandboxes", object{"projectId": DefaultProject.ID})
	c.create(nil)
	c.inject(TransitionWindow(1))
	c.refused(422, codeStopping, "POST", within(session, "/extend-timeout"), object{"duration": 1000})
	c.want(200, "POST", within(session, "/extend-timeout"), object{"duration": 1000})

	c.inject(Fault{Status: 502, Body: "<h1>Bad Gateway</h1>"})
	got := c.send("GET", named(name), nil)
	equal(t, "type", got.header.Get("Content-Type"), "text/html; charset=utf-8")
	equal(t, "body", string(got.content), "<h1>Bad Gateway</h1>")
	c.inject(Fault{Body: "x", Endless: true, Header: map[string]string{"Content-Type": "application/json"}})
	_, content, err := c.try("GET", named(name)+"&teamId="+DefaultTeam, nil)
	equal(t, "endless", len(content), 1<<20)
	equal(t, "error", err, nil)
	c.inject(Fault{Latency: 100})
	begun := time.Now()
	c.get(name)
	equal(t, "slow", time.Since(begun) >= 100*time.Millisecond, true)

	c.inject(TokenRevokedAfter(1))
	c.get(name)
	for range 3 {
		c.refused(403, codeForbidden, "GET", named(name), nil)
	}
	c.server.ClearFaults()
	c.get(name)
	for _, wrong := range []Fault{{Cut: "sideways"}, {Status: 99}, {Skip: -1}, {Endless: true}, {Path: "/[", Status: 500}} {
		if err := c.server.Inject(wrong); err == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
}

func TestLostReplies(t *testing.T) {
	c := newClient(t, Config{})
	body := func(name string) object { return object{"projectId": DefaultProject.ID, "name": name} }
	for cut, made := range map[string]bool{CutBefore: false, CutAfter: true} {
		c.inject(Fault{Method: "POST", Path: "/v3/sandboxes", Cut: cut})
		if status, _, err := c.try("POST", "/v3/sandboxes"+team, body(cut)); err == nil {
			t.Errorf("%s: answered with %d", cut, status)
		}
		equal(t, cut, c.send("GET", named(cut), nil).status == 200, made)
	}
	c.inject(Fault{Method: "POST", Path: "/v3/sandboxes", Effect: true, Status: 500, Code: "internal_server_error"})
	status, _, err := c.try("POST", "/v3/sandboxes"+team, body("third"))
	equal(t, "error", err, nil)
	equal(t, "status", status, 500)
	c.get("third")
}

func TestCutStream(t *testing.T) {
	needExecutor(t)
	c := newClient(t, Config{})
	_, session := c.create(nil)
	c.inject(Fault{Path: "/v2/sandboxes/sessions/*/cmd", CutAfterLines: 2})
	_, content, err := c.try("POST", within(session, "/cmd")+team, object{"command": "sh", "args": []string{"-c", "echo one; sleep 0.2; echo two"}, "wait": true, "logs": true})
	equal(t, "lines", len(c.lines(content)), 2)
	if err == nil {
		t.Error("the stream ended as if it were whole")
	}
	c.inject(Fault{Path: "/v2/sandboxes/sessions/*/cmd", CutAfterLines: 1, Code: "sandbox_stream_closed"})
	_, content, err = c.try("POST", within(session, "/cmd")+team, object{"command": "echo", "args": []string{"one"}, "wait": true, "logs": true})
	equal(t, "error", err, nil)
	lines := c.lines(content)
	equal(t, "lines", len(lines), 2)
	equal(t, "code", text(lines[1], "data", "code"), "sandbox_stream_closed")
}

func TestAdmin(t *testing.T) {
	clock := NewVirtualClock(time.Now())
	c := newClient(t, Config{Clock: clock})
	admin := func(status int, method, path, token string, body any) object {
		t.Helper()
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), method, c.server.Origin()+adminPath+path, bytes.NewReader(encoded))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		equal(t, method+" "+path, response.StatusCode, status)
		var answer object
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	name, session := c.create(object{"name": "box"})
	admin(401, "GET", "inventory", "wrong", object{})
	admin(404, "GET", "nothing", DefaultToken, object{})
	equal(t, "made", at(admin(200, "GET", "inventory", DefaultToken, object{}), "sessionsMade"), any(float64(1)))
	admin(200, "POST", "faults", DefaultToken, Fault{Status: 500})
	admin(400, "POST", "faults", DefaultToken, object{"cut": "x"})
	admin(400, "POST", "faults", DefaultToken, object{"unknown": "x"})
	admin(200, "DELETE", "faults", DefaultToken, object{})
	admin(200, "PUT", "settings", DefaultToken, object{"lazyStop": 60_000})
	c.want(200, "POST", within(session, "/stop"), nil)
	admin(200, "POST", "clock/advance", DefaultToken, object{"duration": 60_000})
	snapshot := text(c.get(name), "sandbox", "currentSnapshotId")
	admin(200, "POST", "snapshots/"+snapshot+"/expire", DefaultToken, object{})
	admin(404, "POST", "snapshots/none/expire", DefaultToken, object{})
	c.refused(410, codeSnapshotNotFound, "GET", named(name)+"&resume=true", nil)
	requests, _ := admin(200, "GET", "requests", DefaultToken, object{})["requests"].([]any)
	equal(t, "requests", len(requests), 4)
	equal(t, "last", text(requests[3], "path"), "/api/v2/sandboxes/box")
	content, err := json.Marshal(requests)
	if err != nil || strings.Contains(string(content), DefaultToken) {
		t.Errorf("the token is on record: %v", err)
	}
	admin(200, "DELETE", "requests", DefaultToken, object{})
	equal(t, "requests", len(c.server.Requests()), 0)
}
