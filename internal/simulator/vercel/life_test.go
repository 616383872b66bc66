package vercel

import (
	"testing"
)

func TestLifeOfAPersistentSandbox(t *testing.T) {
	needExecutor(t)
	c := newClient(t, Config{})
	name, first := c.create(object{"name": "demo", "ports": []int{3000}, "env": object{"COLOR": "blue"}})
	got := c.get(name)
	equal(t, "status", text(got, "sandbox", "status"), "running")
	equal[any](t, "env", at(got, "sandbox", "env"), nil)

	output, exit := c.shell(first, `pwd; echo $COLOR; whoami; echo $HOME; echo kept >a; echo kept >~/b; echo kept >/tmp/c; exit 7`)
	equal(t, "output", output, "/vercel/sandbox\nblue\nubuntu\n/home/ubuntu\n")
	equal(t, "exit", exit, 7)

	stopped := c.want(200, "POST", within(first, "/stop"), nil)
	equal(t, "status", text(stopped, "session", "status"), "stopped")
	snapshot := text(stopped, "snapshot", "id")
	equal(t, "current", text(stopped, "sandbox", "currentSnapshotId"), snapshot)
	c.refused(410, codeStopped, "POST", within(first, "/cmd"), object{"command": "true"})
	equal[any](t, "resumed", c.get(name)["resumed"], false)

	resumed := c.resume(name)
	equal[any](t, "resumed", resumed["resumed"], true)
	second := text(resumed, "session", "id")
	if second == first || text(resumed, "sandbox", "currentSessionId") != second {
		t.Errorf("session %s after %s: %v", second, first, resumed)
	}
	output, _ = c.shell(second, `cat a ~/b /tmp/c; echo more >>a`)
	equal(t, "output", output, "kept\nkept\nkept\n")

	taken := c.want(201, "POST", within(second, "/snapshot"), nil)
	equal(t, "status", text(taken, "session", "status"), "snapshotting")
	equal(t, "parent", text(taken, "snapshot", "parentId"), snapshot)
	_, third := c.create(object{"name": "copy", "source": object{"type": "snapshot", "snapshotId": snapshot}})
	output, _ = c.shell(third, `cat a; test -e ../x`)
	equal(t, "output", output, "kept\n")

	c.want(200, "DELETE", named(name), nil)
	c.refused(404, codeNotFound, "DELETE", named(name), nil)
	c.refused(404, codeNotFound, "GET", within(second, ""), nil)
	c.want(200, "GET", "/v2/sandboxes/snapshots/"+snapshot, nil)
}
