package vercel

import (
	"slices"
	"strings"
	"testing"
)

// observed are the requests that were seen before there was a simulator, when the SDK spoke to a stub
// that knew none of this. Each row is a script and a step of it, then what it sent.
var observed = map[string]string{
	"sandboxes: create with options":      `POST /api/v3/sandboxes {"env":{"A":"1"},"keepLastSnapshots":{"count":2},"name":"demo","networkPolicy":{"mode":"deny-all"},"persistent":true,"ports":[3000],"projectId":"prj_simulated","resources":{"vcpus":2},"snapshotExpiration":0,"tags":{"k":"v"},"timeout":600000}`,
	"sandboxes: create runtime":           `POST /api/v2/sandboxes {"name":"legacy","ports":[],"projectId":"prj_simulated","runtime":"node22"}`,
	"snapshots: create name and snapshot": `POST /api/v3/sandboxes {"name":"demo2","ports":[],"projectId":"prj_simulated","source":{"snapshotId":"{snapshot}","type":"snapshot"}}`,

	"sandboxes: get":                `GET /api/v2/sandboxes/demo?projectId=prj_simulated`,
	"sandboxes: get without resume": `GET /api/v2/sandboxes/demo?projectId=prj_simulated&resume=false`,
	"sandboxes: get with resume":    `GET /api/v2/sandboxes/demo?projectId=prj_simulated&resume=true`,

	"commands: run":              `POST /api/v2/sandboxes/sessions/{session}/cmd {"args":["hi"],"command":"echo","env":{},"logs":true,"sudo":false,"wait":true}`,
	"commands: run with timeout": `POST /api/v2/sandboxes/sessions/{session}/cmd {"args":["300"],"command":"sleep","env":{},"logs":true,"sudo":false,"timeout":300,"wait":true}`,
	"commands: run with sudo":    `POST /api/v2/sandboxes/sessions/{session}/cmd {"args":[],"command":"true","env":{},"logs":true,"sudo":true,"wait":true}`,
	"commands: run detached":     `POST /api/v2/sandboxes/sessions/{session}/cmd {"args":["-c","echo begun; sleep 300"],"command":"sh","env":{},"sudo":false}`,
	"commands: logs":             `GET /api/v2/sandboxes/sessions/{session}/cmd/{command}/logs`,
	"commands: wait":             `GET /api/v2/sandboxes/sessions/{session}/cmd/{command}?wait=true`,
	"commands: kill":             `POST /api/v2/sandboxes/sessions/{session}/cmd/{command}/kill {"signal":15}`,

	"files: readFile": `POST /api/v2/sandboxes/sessions/{session}/fs/read {"path":"a/b.txt"}`,
	"files: mkDir":    `POST /api/v2/sandboxes/sessions/{session}/fs/mkdir {"path":"new"}`,

	"sandboxes: extendTimeout": `POST /api/v2/sandboxes/sessions/{session}/extend-timeout {"duration":60000}`,
	"sandboxes: update": `PATCH /api/v2/sandboxes/demo?projectId=prj_simulated {"keepLastSnapshots":null,"networkPolicy":{"mode":"allow-all"},"persistent":false,"ports":[],"resources":{"memory":8192,"vcpus":4},"tags":{},"timeout":900000}
POST /api/v2/sandboxes/sessions/{session}/extend-timeout {"duration":300000}
POST /api/v2/sandboxes/sessions/{session}/network-policy {"mode":"allow-all"}`,
	"snapshots: update currentSnapshotId": `PATCH /api/v2/sandboxes/saved?projectId=prj_simulated {"currentSnapshotId":"{snapshot}"}`,

	"sandboxes: list by name and tag": `GET /api/v2/sandboxes?limit=1&namePrefix=de&project=prj_simulated&sortBy=name&tags=k:v`,
	"sandboxes: list with cursor": `GET /api/v2/sandboxes?limit=2&project=prj_simulated&sortBy=name&sortOrder=asc
GET /api/v2/sandboxes?cursor={cursor}&limit=2&project=prj_simulated&sortBy=name&sortOrder=asc`,
	"snapshots: list sessions": `GET /api/v2/sandboxes/sessions?limit=2&name=saved&project=prj_simulated
GET /api/v2/sandboxes/sessions?cursor={cursor}&limit=2&name=saved&project=prj_simulated`,
	"snapshots: list snapshots": `GET /api/v2/sandboxes/snapshots?name=saved&project=prj_simulated`,

	"snapshots: stop": `POST /api/v2/sandboxes/sessions/{session}/stop`,
	"snapshots: run after stop": `POST /api/v2/sandboxes/sessions/{session}/cmd {"args":["kept.txt"],"command":"cat","env":{},"logs":true,"sudo":false,"wait":true}
GET /api/v2/sandboxes/saved?projectId=prj_simulated&resume=true
POST /api/v2/sandboxes/sessions/{session}/cmd {"args":["kept.txt"],"command":"cat","env":{},"logs":true,"sudo":false,"wait":true}`,
	"transition: mkDir while stopping": `POST /api/v2/sandboxes/sessions/{session}/fs/mkdir {"path":"made"}
GET /api/v2/sandboxes/slow?projectId=prj_simulated&resume=true
POST /api/v2/sandboxes/sessions/{session}/fs/mkdir {"path":"made"}`,
	"snapshots: snapshot":        `POST /api/v2/sandboxes/sessions/{session}/snapshot {"expiration":0}`,
	"snapshots: snapshot get":    `GET /api/v2/sandboxes/snapshots/{snapshot}`,
	"snapshots: snapshot delete": `DELETE /api/v2/sandboxes/snapshots/{snapshot}`,

	"sandboxes: fork":                `POST /api/v2/sandboxes/demo/fork?projectId=prj_simulated {"name":"f1"}`,
	"sandboxes: delete":              `DELETE /api/v2/sandboxes/demo?projectId=prj_simulated`,
	"sandboxes: delete with orphans": `DELETE /api/v2/sandboxes/f1?deleteOrphanSnapshots=true&projectId=prj_simulated`,
	"sandboxes: getOrCreate unknown": `GET /api/v2/sandboxes/later?projectId=prj_simulated
POST /api/v3/sandboxes {"name":"later","ports":[],"projectId":"prj_simulated"}`,
}

// TestRecordMeetsContract compares the record of what the SDK sends with what was seen of it before.
// TestSDK holds the record to the SDK.
func TestRecordMeetsContract(t *testing.T) {
	record := readRecord(t)
	find := func(row string) *recordedOperation {
		script, operation, _ := strings.Cut(row, ": ")
		found := slices.IndexFunc(record, func(o recordedOperation) bool { return o.Script == script && o.Operation == operation })
		if found < 0 {
			t.Fatalf("%s is not on record", row)
		}
		return &record[found]
	}
	for row, want := range observed {
		var lines []string
		for _, request := range find(row).Requests {
			lines = append(lines, request.line())
			if request.Query["teamId"] != DefaultTeam {
				t.Errorf("%s: team %q", row, request.Query["teamId"])
			}
		}
		equal(t, row, strings.Join(lines, "\n"), want)
	}
	upload := find("files: writeFiles").Requests[0]
	equal(t, "content type of an upload", upload.Header["content-type"], "application/gzip")
	equal(t, "folder of an upload", upload.Header["x-cwd"], "/")
	for _, entry := range []string{"vercel/sandbox/a/b.txt 0644 0:0, type 0, 5 bytes", "tmp/x 0755 0:0, type 0, 19 bytes"} {
		if entries, _ := upload.Body.([]any); !slices.Contains(entries, any(entry)) {
			t.Errorf("upload has %v, not %s", entries, entry)
		}
	}
}
