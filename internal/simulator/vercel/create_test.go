package vercel

import (
	"strings"
	"testing"
)

func TestCreateDefaultsDifferByGeneration(t *testing.T) {
	c := newClient(t, Config{})
	for path, want := range map[string]struct{ runtime, image string }{
		"/v2/sandboxes": {runtime: "node24"},
		"/v3/sandboxes": {image: "vercel/sandbox/universal"},
		"/v4/sandboxes": {image: "vercel/sandbox/universal"},
	} {
		answer := c.want(200, "POST", path, object{"projectId": DefaultProject.ID})
		image, _, pinned := strings.Cut(text(answer, "sandbox", "image"), "@sha256:")
		equal(t, path+" runtime", text(answer, "sandbox", "runtime"), want.runtime)
		equal(t, path+" image", image, want.image)
		equal(t, path+" pinned", pinned, want.image != "")
		keep, _ := at(answer, "sandbox", "keepLastSnapshots", "count").(float64)
		equal(t, path+" retention", keep == 1, path == "/v4/sandboxes")
	}
	answer := c.want(200, "POST", "/v4/sandboxes", object{"projectId": DefaultProject.Slug, "keepLastSnapshots": nil})
	equal(t, "retention", at(answer, "sandbox", "keepLastSnapshots"), nil)
	c.refused(404, codeNotFound, "POST", "/v1/sandboxes", object{"projectId": DefaultProject.ID})
}

func TestAnswersHoldNoNulls(t *testing.T) {
	c := newClient(t, Config{})
	name, session := c.create(object{"ports": []int{3000}, "env": object{"A": "secret"}})
	c.want(200, "POST", within(session, "/stop"), nil)
	for _, path := range []string{named(name), within(session, ""), "/v2/sandboxes?project=" + DefaultProject.ID, "/v2/sandboxes/snapshots?project=" + DefaultProject.ID} {
		got := c.send("GET", path, nil)
		content := strings.ReplaceAll(string(got.content), `"next":null`, "")
		if strings.Contains(content, "null") || strings.Contains(content, "secret") {
			t.Errorf("%s: %s", path, content)
		}
		equal(t, path, got.header.Get("Content-Type"), "application/json")
	}
}

func TestCreateRefuses(t *testing.T) {
	c := newClient(t, Config{Plan: PlanHobby})
	c.create(object{"name": "taken"})
	many := []int{}
	for port := range 16 {
		many = append(many, 3000+port)
	}
	for what, body := range map[string]object{
		"duplicate":         {"name": "taken"},
		"name":              {"name": "a b"},
		"long name":         {"name": strings.Repeat("a", 129)},
		"reserved":          {"name": "sessions"},
		"low port":          {"ports": []int{80}},
		"ports":             {"ports": many},
		"port twice":        {"ports": []int{3000, 3000}},
		"timeout":           {"timeout": 999},
		"type":              {"timeout": "1000"},
		"null":              {"tags": nil},
		"unknown":           {"shade": "blue"},
		"odd vcpus":         {"resources": object{"vcpus": 3}},
		"vcpus of the plan": {"resources": object{"vcpus": 8}},
		"memory":            {"resources": object{"vcpus": 2, "memory": 2048}},
		"runtime":           {"runtime": "node24"},
		"large env":         {"env": object{"A": strings.Repeat("x", 4096)}},
		"tags":              {"tags": object{"1": "", "2": "", "3": "", "4": "", "5": "", "6": ""}},
		"tag value":         {"tags": object{"1": strings.Repeat("x", 257)}},
		"expiration":        {"snapshotExpiration": 1000},
		"retention":         {"keepLastSnapshots": object{"count": 11}},
		"region":            {"region": "moon1"},
		"failover":          {"region": "fra1", "failoverRegions": []string{"fra1"}},
		"source":            {"source": object{"type": "zip"}},
		"half credentials":  {"source": object{"type": "git", "url": "https://example.com/x.git", "username": "u"}},
		"image of snapshot": {"source": object{"type": "snapshot", "snapshotId": "snap_1"}, "image": "a/b:c"},
	} {
		body["projectId"] = DefaultProject.ID
		t.Run(what, func(t *testing.T) {
			client{t, c.server}.refused(400, codeBadRequest, "POST", "/v3/sandboxes", body)
		})
	}
	all := object{"projectId": DefaultProject.ID, "runtime": "node20"}
	c.refused(400, codeBadRequest, "POST", "/v2/sandboxes", all)
	all["runtime"], all["image"] = "node24", "a/b"
	c.refused(400, codeBadRequest, "POST", "/v2/sandboxes", all)
	c.refused(400, codeTimeoutInvalid, "POST", "/v3/sandboxes", object{"projectId": DefaultProject.ID, "timeout": 46 * 60 * 1000})
	c.refused(400, codeBadRequest, "POST", "/v3/sandboxes", object{"name": "x"})
	c.refused(404, codeNotFound, "POST", "/v3/sandboxes", object{"projectId": "prj_other"})
	c.refused(410, codeSnapshotNotFound, "POST", "/v3/sandboxes", object{"projectId": DefaultProject.ID, "source": object{"type": "snapshot", "snapshotId": "snap_1"}})
	c.refused(400, codeUnsupported, "POST", "/v3/sandboxes", object{"projectId": DefaultProject.ID, "source": object{"type": "tarball", "url": "https://example.com/x.tar.gz"}})
	c.refused(400, codeUnsupported, "POST", "/v3/sandboxes", object{"projectId": DefaultProject.ID, "mounts": object{"/data": object{"drive": "d"}}})
	c.want(200, "POST", "/v3/sandboxes", object{"projectId": DefaultProject.ID, "__private": true})
	equal(t, "sandboxes", len(c.server.Inventory().Sandboxes), 2)
}

func TestConcurrencyIsBounded(t *testing.T) {
	c := newClient(t, Config{Plan: PlanHobby})
	for range 10 {
		c.create(nil)
	}
	c.refused(429, codeRateLimited, "POST", "/v3/sandboxes", object{"projectId": DefaultProject.ID})
}

func TestRoutesAreStable(t *testing.T) {
	c := newClient(t, Config{})
	answer := c.want(200, "POST", "/v3/sandboxes", object{"projectId": DefaultProject.ID, "name": "web", "ports": []int{8080, 3000}})
	routes, _ := answer["routes"].([]any)
	equal(t, "routes", len(routes), 2)
	before := text(routes[0], "url")
	updated := c.want(200, "PATCH", named("web"), object{"ports": []int{3000, 4000}})
	routes, _ = updated["routes"].([]any)
	equal(t, "routes", len(routes), 2)
	equal(t, "url", text(routes[0], "url"), before)
	equal(t, "unasked routes", at(c.want(200, "PATCH", named("web"), object{"tags": object{}}), "routes"), nil)
	session := text(c.get("web"), "session", "id")
	c.want(200, "POST", within(session, "/stop"), nil)
	routes, _ = c.resume("web")["routes"].([]any)
	equal(t, "url", text(routes[0], "url"), before)
}

func TestScope(t *testing.T) {
	c := newClient(t, Config{Projects: []Project{{ID: "prj_simulated", Slug: "one"}, {ID: "prj_2", Slug: "two"}}, TeamSlug: "acme"})
	c.create(object{"name": "same", "tags": object{"in": "1"}})
	c.want(200, "POST", "/v3/sandboxes", object{"projectId": "two", "name": "same"})
	c.want(200, "GET", "/v2/sandboxes/same?projectId=prj_2", nil)
	c.want(200, "DELETE", "/v2/sandboxes/same?projectId=two", nil)
	equal(t, "the other", text(c.get("same"), "sandbox", "tags", "in"), "1")
	c.refused(404, codeNotFound, "GET", "/v2/sandboxes/same?projectId=prj_2", nil)
	c.refused(404, codeNotFound, "GET", "/v2/sandboxes/same?projectId=prj_3", nil)
	c.refused(400, codeBadRequest, "GET", "/v2/sandboxes/same?project=one", nil)
	c.refused(400, codeBadRequest, "GET", "/v2/sandboxes?projectId=one", nil)
}
