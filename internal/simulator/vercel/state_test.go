package vercel

import (
	"slices"
	"testing"
)

func TestStateSurvivesARestart(t *testing.T) {
	needExecutor(t)
	dir := t.TempDir()
	start := func() client {
		t.Helper()
		server, err := Listen("127.0.0.1:0", Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return client{t: t, server: server}
	}
	c := start()
	stopped, session := c.create(object{"name": "stopped", "tags": object{"k": "v"}, "ports": []int{3000}, "env": object{"A": "1"}})
	c.shell(session, "echo kept >file")
	c.want(200, "POST", within(session, "/stop"), nil)
	running, session := c.create(object{"name": "running"})
	c.shell(session, "echo live >file")
	finished := c.detach(session, "echo done")
	c.want(200, "GET", within(session, "/cmd/"+finished)+"?wait=true", nil)
	killed := c.detach(session, "sleep 300")
	gone, _ := c.create(object{"name": "gone"})
	c.want(200, "DELETE", named(gone), nil)
	before, was := c.server.Inventory(), c.get(stopped)
	if _, err := Listen("127.0.0.1:0", Config{Dir: dir}); err == nil {
		t.Error("two simulators share a folder")
	}
	if err := c.server.Close(); err != nil {
		t.Fatal(err)
	}

	c = start()
	defer func() {
		if err := c.server.Close(); err != nil {
			t.Error(err)
		}
	}()
	after, is := c.server.Inventory(), c.get(stopped)
	equal(t, "sessions made", after.SessionsMade, before.SessionsMade)
	if !slices.Equal(after.Snapshots, before.Snapshots) || !slices.Equal(after.Sessions, before.Sessions) {
		t.Errorf("got %+v, want %+v", after, before)
	}
	equal(t, "tag", text(is, "sandbox", "tags", "k"), "v")
	routes, _ := is["routes"].([]any)
	routesBefore, _ := was["routes"].([]any)
	equal(t, "route", text(routes[0], "url"), text(routesBefore[0], "url"))
	output, _ := c.shell(text(c.resume(stopped), "session", "id"), "cat file; echo $A")
	equal(t, "stopped", output, "kept\n1\n")

	equal(t, "session", text(c.get(running), "session", "id"), session)
	output, _ = c.shell(session, "cat file")
	equal(t, "running", output, "live\n")
	equal(t, "killed", at(c.want(200, "GET", within(session, "/cmd/"+killed), nil), "command", "exitCode"), any(float64(137)))
	logs := c.lines(c.send("GET", within(session, "/cmd/"+finished+"/logs"), nil).content)
	equal(t, "logs", text(logs[0], "data"), "done\n")
	c.refused(404, codeNotFound, "GET", named(gone), nil)
}
