package vercel

import (
	"sync"
	"testing"
	"time"
)

func TestResumesShareASession(t *testing.T) {
	c := newClient(t, Config{})
	name, session := c.create(nil)
	c.want(200, "POST", within(session, "/stop"), nil)
	sessions := make([]string, 8)
	var all sync.WaitGroup
	for i := range sessions {
		all.Go(func() { sessions[i] = text(c.resume(name), "session", "id") })
	}
	all.Wait()
	for _, id := range sessions {
		equal(t, "session", id, sessions[0])
	}
	equal(t, "sessions made", c.server.Inventory().SessionsMade, 2)
}

func TestResumeWaitsForTheStop(t *testing.T) {
	c := newClient(t, Config{Settings: Settings{LazyStop: 200}})
	name, session := c.create(nil)
	begun := time.Now()
	c.want(200, "POST", within(session, "/stop"), nil)
	resumed := c.resume(name)
	if waited := time.Since(begun); waited < 200*time.Millisecond {
		t.Errorf("it came after %v", waited)
	}
	equal(t, "resumed", at(resumed, "resumed"), any(true))
	equal(t, "source", text(resumed, "session", "sourceSnapshotId"), text(resumed, "sandbox", "currentSnapshotId"))

	if err := c.server.Configure(Settings{LazyStop: 60_000, ImpatientResume: true}); err != nil {
		t.Fatal(err)
	}
	c.want(200, "POST", within(text(resumed, "session", "id"), "/stop"), nil)
	c.refused(422, codeStopping, "GET", named(name)+"&resume=true", nil)
}

func TestResumeWithoutSnapshot(t *testing.T) {
	c := newClient(t, Config{})
	name, session := c.create(object{"persistent": false})
	stopped := c.want(200, "POST", within(session, "/stop"), nil)
	equal(t, "snapshot", at(stopped, "snapshot"), nil)
	c.refused(410, codeSnapshotNotFound, "GET", named(name)+"&resume=true", nil)
	if err := c.server.Configure(Settings{CleanResume: true, StopTwiceGone: true}); err != nil {
		t.Fatal(err)
	}
	c.refused(410, codeStopped, "POST", within(session, "/stop"), nil)
	equal(t, "resumed", at(c.resume(name), "resumed"), any(true))

	name, session = c.create(nil)
	stopped = c.want(200, "POST", within(session, "/stop"), nil)
	c.want(200, "DELETE", "/v2/sandboxes/snapshots/"+text(stopped, "snapshot", "id"), nil)
	c.refused(410, codeSnapshotNotFound, "GET", named(name)+"&resume=true", nil)
	equal(t, "status", text(c.get(name), "sandbox", "status"), "stopped")
}

func TestUpdateCountsFromTheNextSession(t *testing.T) {
	c := newClient(t, Config{})
	name, session := c.create(object{"timeout": 600_000, "env": object{"A": "1"}})
	first := text(c.want(200, "POST", within(session, "/stop"), nil), "snapshot", "id")
	updated := c.want(200, "PATCH", named(name), object{
		"resources": object{"vcpus": 4}, "timeout": 60_000, "env": object{"B": "2"}, "keepLastSnapshots": object{"count": 3}, "region": "iad1",
	})
	equal(t, "status", text(updated, "sandbox", "status"), "stopped")
	equal(t, "memory", at(updated, "sandbox", "memory"), any(float64(8192)))
	equal(t, "evicted", at(updated, "sandbox", "keepLastSnapshots", "deleteEvicted"), any(true))
	equal(t, "session", at(c.get(name), "session", "vcpus"), any(float64(2)))
	resumed := c.resume(name)
	equal(t, "session", at(resumed, "session", "vcpus"), any(float64(4)))
	equal(t, "timeout", at(resumed, "session", "timeout"), any(float64(60_000)))
	equal(t, "env", c.server.Inventory().Sandboxes[0].Env["B"], "2")

	c.want(200, "POST", within(text(resumed, "session", "id"), "/stop"), nil)
	equal(t, "rolled back", text(c.want(200, "PATCH", named(name), object{"currentSnapshotId": first}), "sandbox", "currentSnapshotId"), first)
	equal(t, "source", text(c.resume(name), "session", "sourceSnapshotId"), first)
	for what, body := range map[string]object{
		"name": {"name": "other"}, "image": {"image": "a/b"}, "source": {"source": object{}}, "nothing": {"tags": nil}, "vcpus": {"resources": object{"vcpus": 3}},
	} {
		t.Run(what, func(t *testing.T) {
			client{t, c.server}.refused(400, codeBadRequest, "PATCH", named(name), body)
		})
	}
	c.refused(410, codeSnapshotNotFound, "PATCH", named(name), object{"currentSnapshotId": "snap_none"})
	if err := c.server.Configure(Settings{EnvUpdate: EnvUpdateRejected}); err != nil {
		t.Fatal(err)
	}
	c.refused(400, codeBadRequest, "PATCH", named(name), object{"env": object{}})
}

func TestSnapshotsAreOfARegion(t *testing.T) {
	c := newClient(t, Config{})
	_, session := c.create(object{"region": "fra1"})
	snapshot := text(c.want(201, "POST", within(session, "/snapshot"), nil), "snapshot", "id")
	body := object{"projectId": DefaultProject.ID, "source": object{"type": "snapshot", "snapshotId": snapshot}}
	c.refused(422, codeRegionMismatch, "POST", "/v3/sandboxes", body)
	body["region"] = "fra1"
	answer := c.want(200, "POST", "/v3/sandboxes", body)
	equal(t, "current", text(answer, "sandbox", "currentSnapshotId"), snapshot)
	c.want(200, "DELETE", named(text(answer, "sandbox", "name"))+"&deleteOrphanSnapshots=true", nil)
	equal(t, "snapshot of another", text(c.want(200, "GET", "/v2/sandboxes/snapshots/"+snapshot, nil), "snapshot", "status"), "created")
}
