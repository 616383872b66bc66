package vercel

import (
	"testing"
	"time"
)

// atNoon is a client of a simulator whose time the test moves.
func atNoon(t *testing.T, settings Settings) (client, *VirtualClock) {
	t.Helper()
	clock := NewVirtualClock(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC))
	return newClient(t, Config{Clock: clock, Settings: settings}), clock
}

func TestSessionTimesOut(t *testing.T) {
	c, clock := atNoon(t, Settings{})
	name, session := c.create(object{"timeout": 60_000})
	clock.Advance(59 * time.Second)
	c.want(200, "POST", within(session, "/extend-timeout"), object{"duration": 60_000})
	clock.Advance(59 * time.Second)
	equal(t, "status", text(c.get(name), "sandbox", "status"), "running")
	clock.Advance(2 * time.Second)
	got := c.get(name)
	equal(t, "status", text(got, "sandbox", "status"), "stopped")
	equal(t, "duration", at(got, "session", "duration"), any(float64(120_000)))
	snapshot := text(got, "sandbox", "currentSnapshotId")
	equal(t, "method", text(c.want(200, "GET", "/v2/sandboxes/snapshots/"+snapshot, nil), "snapshot", "creationMethod"), "automatic")
	c.refused(400, codeTimeoutInvalid, "POST", within(text(c.resume(name), "session", "id"), "/extend-timeout"), object{"duration": 24 * 60 * 60 * 1000})
}

// TestSnapshotExpiresAfterLastUse: a resume, a create and a fork begin the time anew.
func TestSnapshotExpiresAfterLastUse(t *testing.T) {
	c, clock := atNoon(t, Settings{})
	name, session := c.create(object{"snapshotExpiration": 2 * day, "timeout": 60_000})
	stopped := c.want(200, "POST", within(session, "/stop"), nil)
	snapshot := text(stopped, "snapshot", "id")
	state := func() string {
		return text(c.want(200, "GET", "/v2/sandboxes/snapshots/"+snapshot, nil), "snapshot", "status")
	}
	clock.Advance(47 * time.Hour)
	equal(t, "status", state(), "created")
	c.want(200, "POST", "/v2/sandboxes/"+name+"/fork?projectId="+DefaultProject.ID, object{"name": "fork"})
	clock.Advance(47 * time.Hour)
	equal(t, "status", state(), "created")
	clock.Advance(2 * time.Hour)
	equal(t, "status", state(), "deleted")
	c.refused(410, codeSnapshotNotFound, "GET", named(name)+"&resume=true", nil)
	c.want(200, "GET", named(name), nil)
	c.refused(404, codeNotFound, "DELETE", "/v2/sandboxes/snapshots/"+snapshot, nil)
}

func TestExpirationOfSnapshots(t *testing.T) {
	c, _ := atNoon(t, Settings{})
	for what, one := range map[string]struct {
		create, snapshot object
		path             string
		want             any
	}{
		"default":               {path: "/v2", want: float64(30 * day)},
		"default of the next":   {path: "/v3", want: float64(7 * day)},
		"sandbox":               {create: object{"snapshotExpiration": 3 * day}, path: "/v3", want: float64(3 * day)},
		"request":               {create: object{"snapshotExpiration": 3 * day}, snapshot: object{"expiration": 4 * day}, path: "/v2", want: float64(4 * day)},
		"never":                 {snapshot: object{"expiration": 0}, path: "/v2", want: nil},
		"never by the sandbox":  {create: object{"snapshotExpiration": 0}, path: "/v2", want: nil},
		"request and retention": {create: object{"keepLastSnapshots": object{"count": 1, "expiration": 5 * day}}, snapshot: object{"expiration": 4 * day}, path: "/v2", want: float64(4 * day)},
	} {
		_, session := c.create(one.create)
		taken := c.want(201, "POST", one.path+"/sandboxes/sessions/"+session+"/snapshot", one.snapshot)
		created, _ := at(taken, "snapshot", "createdAt").(float64)
		expires := at(taken, "snapshot", "expiresAt")
		if at, set := expires.(float64); set {
			expires = at - created
		}
		equal(t, what, expires, one.want)
	}
}

func TestRetention(t *testing.T) {
	c, clock := atNoon(t, Settings{})
	for _, evict := range []bool{true, false} {
		name, session := c.create(object{"keepLastSnapshots": object{"count": 2, "deleteEvicted": evict, "expiration": 9 * day}, "snapshotExpiration": 0})
		var made []string
		for range 4 {
			clock.Advance(time.Second)
			made = append(made, text(c.want(200, "POST", within(session, "/stop"), nil), "snapshot", "id"))
			session = text(c.resume(name), "session", "id")
		}
		for i, id := range made {
			sp := c.want(200, "GET", "/v2/sandboxes/snapshots/"+id, nil)
			expires, _ := at(sp, "snapshot", "expiresAt").(float64)
			used, _ := at(sp, "snapshot", "lastUsedAt").(float64)
			left := int64(expires-used) / day
			switch {
			case i >= 2:
				equal(t, "kept", text(sp, "snapshot", "status"), "created")
				equal(t, "expiration of kept", left, 9)
			case evict:
				equal(t, "evicted", text(sp, "snapshot", "status"), "deleted")
			default:
				equal(t, "evicted", text(sp, "snapshot", "status"), "created")
				equal(t, "expiration of evicted", left, 30)
			}
		}
	}
}

// TestUnresumableGo: what cannot be resumed is removed after two weeks, and reads do not count.
func TestUnresumableGo(t *testing.T) {
	c, clock := atNoon(t, Settings{})
	kept, _ := c.create(object{"timeout": 60_000, "snapshotExpiration": 0})
	lost, _ := c.create(object{"timeout": 60_000, "persistent": false})
	clock.Advance(13 * 24 * time.Hour)
	c.get(lost)
	clock.Advance(2 * 24 * time.Hour)
	c.refused(404, codeNotFound, "GET", named(lost), nil)
	c.get(kept)
}

func TestLazyStop(t *testing.T) {
	c, clock := atNoon(t, Settings{LazyStop: 5000, OrphanDelay: 1000})
	name, session := c.create(nil)
	stopped := c.want(200, "POST", within(session, "/stop"), nil)
	equal(t, "status", text(stopped, "session", "status"), "stopping")
	equal(t, "snapshot", at(stopped, "snapshot"), nil)
	equal(t, "current", text(c.get(name), "sandbox", "currentSnapshotId"), "")
	c.refused(422, codeStopping, "POST", within(session, "/cmd"), object{"command": "true"})
	clock.Advance(5 * time.Second)
	equal(t, "status", text(c.get(name), "sandbox", "status"), "stopped")
	snapshot := text(c.get(name), "sandbox", "currentSnapshotId")
	equal(t, "saved", snapshot != "", true)

	session = text(c.resume(name), "session", "id")
	c.want(201, "POST", within(session, "/snapshot"), nil)
	c.refused(422, codeSnapshotting, "POST", within(session, "/cmd"), object{"command": "true"})
	clock.Advance(5 * time.Second)
	c.refused(410, codeStopped, "POST", within(session, "/cmd"), object{"command": "true"})

	c.want(200, "DELETE", named(name)+"&deleteOrphanSnapshots=true", nil)
	equal(t, "orphan", text(c.want(200, "GET", "/v2/sandboxes/snapshots/"+snapshot, nil), "snapshot", "status"), "created")
	clock.Advance(time.Second)
	equal(t, "orphan", text(c.want(200, "GET", "/v2/sandboxes/snapshots/"+snapshot, nil), "snapshot", "status"), "deleted")
}
