package handle_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
)

// TestParseOldRecords reads what was filed before there were kinds: the five keys of
// buildRecord in github.com/hachej/boring-ui 105663f, packages/agent/src/server/sandbox/
// vercel-sandbox/resolveSandboxHandle.ts, which also says what starts with sbx_.
func TestParseOldRecords(t *testing.T) {
	t.Parallel()
	const rest = `"createdAt":"2026-04-30T01:00:00.000Z","lastUsedAt":"2026-04-30T02:00:00.000Z"}`
	for name, c := range map[string]struct {
		record, session, name, snapshot string
	}{
		"session":  {`{"workspaceId":"w","sandboxId":"sbx_1","snapshotId":"snap_1",` + rest, "sbx_1", "", "snap_1"},
		"name":     {`{"workspaceId":"w","sandboxId":"boring-6f8d",` + rest, "boring-6f8d", "boring-6f8d", ""},
		"null":     {`{"kind":null,"workspaceId":"w","sandboxId":"sbx_1","snapshotId":null,` + rest, "sbx_1", "", ""},
		"kind":     {`{"kind":"vercel-session","workspaceId":"w","sandboxId":"x",` + rest, "x", "", ""},
		"extended": {`{"workspaceId":"w","sandboxId":"sbx_1","snapshotId":"snap_1","currentSnapshotId":"snap_2","handleKind":"session",` + rest, "sbx_1", "", "snap_2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object, shape := mustParse(t, c.record)
			if shape != handle.VercelSession || object.Kind != handle.KindSession || object.Backend != "vercel" || object.State != handle.StateReady {
				t.Errorf("got %s, %+v", shape, object)
			}
			if object.SessionID != c.session || object.Name != c.name || object.SnapshotID != c.snapshot {
				t.Errorf("got %+v", object)
			}
			if !object.LastUsedAt.Equal(time.Date(2026, time.April, 30, 2, 0, 0, 0, time.UTC)) {
				t.Errorf("got %v", object.LastUsedAt)
			}
			// Printed again, it has its kind.
			if again := mustPrint(t, shape, object); !strings.HasPrefix(again, `{"kind":"vercel-session","workspaceId":"w","sandboxId":"`+c.session+`"`) {
				t.Errorf("got %s", again)
			}
		})
	}
}

func TestParseIgnoresUnknownKeys(t *testing.T) {
	t.Parallel()
	for _, g := range goldens {
		record := strings.Replace(compact(t, g.record), "{", `{"added":[{"later":true}],"WorkspaceID":7,`, 1)
		object, shape := mustParse(t, record)
		if got := mustPrint(t, shape, object); got != compact(t, g.record) {
			t.Errorf("%s: got %s", g.name, got)
		}
	}
}

func TestParseState(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]handle.State{
		"": handle.StateReady, "running": handle.StateReady, "pending": handle.StateProvisioning, "stopped": handle.StateStopped,
		"stopping": handle.StateStopped, "snapshotting": handle.StateStopped, "failed": handle.StateError, "aborted": handle.StateError,
	} {
		object := persistent()
		object.Status = status
		parsed, _ := mustParse(t, mustPrint(t, handle.VercelPersistent, object))
		if parsed.State != want || parsed.Status != status {
			t.Errorf("%q: got %q, %q", status, parsed.State, parsed.Status)
		}
	}
}

// TestParseServices takes the ports that the handle tells before those that were asked for.
func TestParseServices(t *testing.T) {
	t.Parallel()
	object, _ := mustParse(t, `{"spec":{"provider":"docker","owner":"o","name":"n","cwd":"/c",
		"services":{"web":{"port":3000},"db":{"image":"postgres:18"}}},
		"services":{"web":{"port":4000},"db":{"internal":true},"extra":{"port":5000,"protocol":"tcp"}}}`)
	web, db, extra := object.Services["web"], object.Services["db"], object.Services["extra"]
	if web.Port != 4000 || web.Protocol != "http" || !db.Internal || db.Image != "postgres:18" || extra.Port != 5000 || extra.Protocol != "tcp" {
		t.Errorf("got %+v", object.Services)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const (
		times    = `"createdAt":"2026-04-30T01:00:00Z","lastUsedAt":"2026-04-30T01:00:00Z"}`
		resource = `"workspaceId":"w","resourceKind":"sandbox","handle":"h","createdAt":"2026-04-30T01:00:00Z","updatedAt":"2026-04-30T01:00:00Z"}`
		spec     = `"provider":"docker","owner":"o","name":"n"`
	)
	for _, c := range []struct{ record, message string }{
		{``, "not valid JSON"},
		{`{"kind":`, "not valid JSON"},
		{`{} {}`, "not valid JSON"},
		{`null`, "not a JSON object"},
		{`[]`, "not a JSON object"},
		{`"sbx_1"`, "not a JSON object"},
		{`{}`, "none of the keys"},
		{`{"secret":"hunter2"}`, "none of the keys"},
		{`{"kind":7}`, "`kind` of the record is not a string"},
		{`{"kind":"vercel-volume"}`, `"vercel-volume": known are "vercel-persistent" and "vercel-session"`},
		{strings.Repeat(" ", handle.MaxBytes+1), "1048577 bytes"},

		{`{"workspaceId":"w",` + times, "`sandboxId` of the shape vercel-session is missing"},
		{`{"sandboxId":"sbx_1",` + times, "`workspaceId` of the shape vercel-session is missing"},
		{`{"workspaceId":"w","sandboxId":7,` + times, "`sandboxId` of the shape vercel-session is not a string"},
		{`{"workspaceId":"w","sandboxId":"sbx_1"}`, "`createdAt` of the shape vercel-session is missing"},
		{`{"workspaceId":"w","sandboxId":"sbx_1","createdAt":"yesterday"}`, "`createdAt` of the shape vercel-session is not a time"},
		{`{"workspaceId":"w","sandboxId":"sbx_1","createdAt":"0001-01-01T00:00:00Z"}`, "`createdAt` of the shape vercel-session is not a time"},
		{`{"workspaceId":"w","sandboxId":"sbx_1","createdAt":"9999-12-31T23:59:59-01:00"}`, "`createdAt` of the shape vercel-session is not a time"},
		{`{"workspaceId":"w","sandboxId":"sbx_1","handleKind":"persistent-name",` + times, "`handleKind` of the shape vercel-session is"},

		{`{"kind":"vercel-persistent","workspaceId":"w",` + times, "`sandboxName` of the shape vercel-persistent is missing"},
		{`{"kind":"vercel-persistent","workspaceId":"w","sandboxName":"sbx_1",` + times, "`sandboxName` of the shape vercel-persistent starts with sbx_"},
		{`{"kind":"vercel-persistent","workspaceId":"w","sandboxName":"n","persistent":false,` + times, "`persistent` of the shape vercel-persistent is false"},
		{`{"kind":"vercel-persistent","workspaceId":"w","sandboxName":"n","persistent":"yes",` + times, "`persistent` of the shape vercel-persistent is not true or false"},
		{`{"kind":"vercel-persistent","workspaceId":"w","sandboxName":"n","status":{},` + times, "`status` of the shape vercel-persistent is not a string"},

		{`{"provider":"vercel","handleKind":"persistent-name","state":"running",` + resource, "`state` of the shape workspace-resource is none of"},
		{`{"provider":"vercel","handleKind":"persistent-name","state":"ready","metadata":[],` + resource, "`metadata` of the shape workspace-resource is not an object"},
		{`{"provider":"vercel","handleKind":"persistent-name","state":"ready",` + strings.Replace(resource, `"h"`, `"sbx_1"`, 1), "`handle` of the shape workspace-resource starts with sbx_"},
		{`{"handleKind":"session","state":"ready",` + resource, "`provider` of the shape workspace-resource is missing"},
		{`{"provider":"docker","state":"ready",` + resource, "`handleKind` of the shape workspace-resource is missing"},

		{`{"driver":"orbstack"}`, "`name` of the shape spawnbox is missing"},
		{`{"driver":"docker","name":"n"}`, "`driver` of the shape spawnbox is \"docker\""},
		{`{"driver":"orbstack","name":"n","isolated":1}`, "`isolated` of the shape spawnbox is not true or false"},

		{`{"backendName":"vercel","sessionKey":"k","metadata":{"machine":"m"}}`, "`backendName` of the shape eve is \"vercel\""},
		{`{"backendName":"spawnbox","metadata":{"machine":"m"}}`, "`sessionKey` of the shape eve is missing"},
		{`{"backendName":"spawnbox","sessionKey":"k"}`, "`metadata` of the shape eve is missing"},
		{`{"backendName":"spawnbox","sessionKey":"k","metadata":{}}`, "`metadata.machine` of the shape eve is missing"},
		{`{"backendName":"spawnbox","sessionKey":"k","metadata":"m"}`, "`metadata` of the shape eve is not an object"},

		{`{"spec":7}`, "`spec` of the shape agent-env is not an object"},
		{`{"spec":{"provider":"vercel","owner":"o","name":"n","cwd":"/"}}`, "`spec.provider` of the shape agent-env is \"vercel\""},
		{`{"spec":{` + spec + `,"cwd":"c"}}`, "`spec.cwd` of the shape agent-env is not an absolute path"},
		{`{"spec":{` + spec + `,"cwd":"/c"}}`, "`spec.services` of the shape agent-env is missing"},
		{`{"spec":{` + spec + `,"cwd":"/c","services":{}}}`, "`services` of the shape agent-env is missing"},
		{`{"spec":{` + spec + `,"cwd":"/c","services":{}},"services":{}}`, "`spec.services` of the shape agent-env is empty"},
		{`{"spec":{` + spec + `,"cwd":"/c","services":{"a":{}}},"services":{}}`, "`services.a.port` of the shape agent-env is missing"},
		{`{"spec":{` + spec + `,"cwd":"/c","services":{"a":{}}},"services":{"a":{"port":1.5}}}`, "`services.a.port` of the shape agent-env is not a whole number"},
		{`{"spec":{` + spec + `,"cwd":"/c","services":{"a":{}}},"services":{"a":{"port":0}}}`, "`services.a.port` of the shape agent-env is not a port"},
		{`{"spec":{` + spec + `,"cwd":"/c","services":{"a":{"port":1}}},"services":{"a":{"internal":true}}}`, "`services.a.internal` of the shape agent-env stands beside a port"},
		{`{"spec":{` + spec + `,"cwd":"/c","services":{"a":{"port":1,"env":{"A":1}}}},"services":{}}`, "`spec.services.a.env.A` of the shape agent-env is not a string"},
		{`{"spec":{` + spec + `,"cwd":"/c","cloud":{},"services":{}},"services":{}}`, "`spec.cloud.provider` of the shape agent-env is missing"},
		{`{"spec":{` + spec + `,"cwd":"/c","cloud":{"provider":"hetzner","serverId":"7"},"services":{}},"services":{}}`, "`spec.cloud.serverId` of the shape agent-env is not a whole number"},
		{`{"spec":{` + spec + `,"cwd":"/c","cloud":{"provider":"hetzner","idleTimeoutMs":-1},"services":{}},"services":{}}`, "`spec.cloud.idleTimeoutMs` of the shape agent-env is out of range"},
	} {
		object, _, err := handle.Parse(c.record)
		var record *handle.RecordError
		var key *handle.KeyError
		if err == nil || !strings.Contains(err.Error(), c.message) || !errors.As(err, &record) && !errors.As(err, &key) {
			t.Errorf("%.120s: got %v, want %q", c.record, err, c.message)
			continue
		}
		if object.WorkspaceID != "" || object.Name != "" {
			t.Errorf("%s: an error came with %+v", c.record, object)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v repeats a value", err)
		}
	}
}

// TestParseKeepsErrorsShort: a message is no place for a megabyte.
func TestParseKeepsErrorsShort(t *testing.T) {
	t.Parallel()
	_, _, err := handle.Parse(`{"kind":"` + strings.Repeat("ä", 10_000) + `"}`)
	if err == nil || len(err.Error()) > 300 {
		t.Errorf("got %v", err)
	}
}
