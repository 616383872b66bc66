package vercel_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

// sdkRecord is what the vendor's own SDK sent to the simulator, with its ids replaced. The simulator's
// tests hold it to the SDK.
const sdkRecord = "../../simulator/vercel/testdata/sdk-requests.json"

// wireRequest is a request in the form of the record.
type wireRequest struct {
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Query  map[string]string `json:"query"`
	Header map[string]string `json:"header"`
	Body   any               `json:"body"`
}

func (r wireRequest) line() string {
	body, _ := json.Marshal(r.Body) // it came from JSON
	return fmt.Sprintf("%s %s %v %v %s", r.Method, r.Path, r.Query, r.Header, body)
}

type object = map[string]any

// added are requests of the backend beside those of the SDK, with the line of the contract that each comes
// from. Method and path are patterns.
type added struct{ request, why string }

// Looks and helpers of several operations.
var (
	lookFirst = added{`GET /api/v2/sandboxes/[a-z]+ resume=false`, `section 9: "A caller of the raw REST API gets no auto-resume at all", so the present session is looked up`}
	lookAfter = added{`GET /api/v2/sandboxes/[a-z]+ resume=false`, `section 4: what was made is read back; section 7.3: "after stop, poll GET (no resume)"`}
	helper    = added{`POST /api/v2/sandboxes/sessions/{session}/cmd sh`, `section 7.2: what is no endpoint is done by commands inside; a file is put in its place in one step by them`}
	snapshot  = added{`GET /api/v2/sandboxes/snapshots/{snapshot}`, `section 7.4: "treat the state as eventually consistent"; section 8: an expired one tells by its status`}
	listing   = added{`GET /api/v2/sandboxes/snapshots name=[a-z]+`, `section 4: no idempotency key, so a snapshot that an earlier run took is looked for first`}
	sessions  = added{`GET /api/v2/sandboxes/sessions name=[a-z]+`, `section 5.4: "link via sourceSessionId": which snapshots are the sandbox's own`}
	users     = added{`GET /api/v2/sandboxes `, `section 8: "Deleting a sandbox's currentSnapshotId is allowed and makes it unresumable", so its users are looked for`}
)

// sameOperation is one operation of the backend and its counterpart.
type sameOperation struct {
	// name is that of the step of operations.mjs.
	name string
	run  func(f fixture) error
	// also are requests that the SDK does not send.
	also []added
	// differs changes the SDK's requests as the contract line in why allows; without it they are the same.
	why     string
	differs func(*wireRequest)
}

func sameOperations() []sameOperation {
	box, copied := marks("box", backends.Persistent), marks("copy", backends.Session)
	spec := backends.Spec{
		Timeout: 10 * time.Minute, Environment: map[string]string{"A": "1"}, Labels: map[string]string{"team": "a"},
		Ports: []backends.Port{{Port: 3000, Public: true}}, Retention: &backends.SnapshotRetention{KeepLast: 2},
		Vercel: &backends.VercelOptions{Region: "iad1", FailoverRegions: []string{"fra1"}},
	}
	const file = "/vercel/sandbox/notes/a.txt"
	withMemory := func(r *wireRequest) { // of a create: the SDK leaves the memory out, in an update it does not
		if body, ok := r.Body.(object); ok {
			body["resources"] = object{"vcpus": 2.0, "memory": 4096.0}
		}
	}
	const memory = `section 6.1: "{vcpus, memory?}", "memory must be vcpus x 2048"; section 1: never depend on a default`
	current := func(f fixture, name string) backends.Observed {
		found, err := f.Get(f.Context(), name)
		if err != nil {
			f.Fatal(err)
		}
		return found
	}
	var taken backends.Snapshot
	return []sameOperation{
		{name: "create", run: func(f fixture) error { _, err := f.Create(f.Context(), box, spec); return err }, also: []added{lookAfter}, why: memory, differs: withMemory},
		{name: "read", run: func(f fixture) error { _, err := f.Get(f.Context(), "box"); return err }},
		{name: "command", run: func(f fixture) error {
			result, err := f.Exec(f.Context(), "box", backends.Command{
				Argv: []string{"sh", "-c", "echo $A $B"}, WorkingDirectory: "/tmp", Environment: map[string]string{"B": "2"}, Timeout: time.Minute,
			})
			if string(result.Stdout) != "1 2\n" {
				f.Errorf("it printed %q", result.Stdout)
			}
			return err
		}, also: []added{
			lookFirst,
			{`GET /api/v2/sandboxes/sessions/{session}/cmd/{command}`, `section 7.1: "run detached, poll cmd/{cid} …, then read logs"`},
			{`GET /api/v2/sandboxes/sessions/{session}/cmd/{command}/logs`, `section 7.1: "Long streams are cut … by the edge", so an end is the true one only if the command was over before`},
		}},
		{
			name: "write file", run: func(f fixture) error {
				return f.WriteFile(f.Context(), "box", file, []byte("text"), 0o640)
			}, also: []added{lookFirst, helper},
			why: `section 7.2: a write overwrites, and the owner of a file is not told; it goes to another name first`,
			differs: func(r *wireRequest) {
				r.Body = []any{strings.Replace(r.Body.([]any)[0].(string), "a.txt", "{temporary}", 1)}
			},
		},
		{name: "read file", run: func(f fixture) error {
			body, _, err := f.OpenFile(f.Context(), "box", file)
			if err == nil {
				_, err = io.ReadAll(body)
				err = errors.Join(err, body.Close())
			}
			return err
		}, also: []added{lookFirst, helper}},
		{name: "update", run: func(f fixture) error {
			spec.CPUs, spec.Timeout, spec.Network.Mode, spec.Labels = 4, 15*time.Minute, backends.NetworkDenyAll, map[string]string{"team": "b"}
			spec.Ports = append(spec.Ports, backends.Port{Port: 4000, Public: true})
			spec.Retention = &backends.SnapshotRetention{KeepLast: 3, Expiration: 48 * time.Hour}
			spec.EnvironmentKept = true
			_, err := f.Reconfigure(f.Context(), box, spec)
			return err
		}, also: []added{lookFirst, lookAfter}},
		{name: "update nothing but the retention", run: func(f fixture) error {
			spec.Retention = &backends.SnapshotRetention{Expiration: 48 * time.Hour}
			_, err := f.Reconfigure(f.Context(), box, spec)
			return err
		}, also: []added{lookFirst, lookAfter}},
		{
			name: "snapshot", run: func(f fixture) (err error) {
				session := current(f, "box").SessionID
				f.server.ResetRequests()
				taken, err = f.CreateSnapshot(f.Context(), box, session)
				return err
			}, also: []added{
				lookFirst, listing, snapshot,
				{`GET /api/v2/sandboxes/[a-z]+ resume=true`, `section 7.4: "Needs a running session; ends it": a persistent one is resumed from it`},
			},
		},
		{name: "stop", run: func(f fixture) error { return f.Stop(f.Context(), "box") }, also: []added{lookFirst, lookAfter}},
		{name: "start", run: func(f fixture) error { return f.Start(f.Context(), "box") }, also: []added{lookFirst}},
		{
			name: "create from snapshot", run: func(f fixture) error {
				_, err := f.Create(f.Context(), copied, backends.Spec{Source: backends.Source{SnapshotID: taken.ID}})
				return err
			}, also: []added{lookAfter}, why: memory, differs: withMemory,
		},
		{name: "create by runtime", run: func(f fixture) error {
			_, err := f.Create(f.Context(), marks("legacy", backends.Session), backends.Spec{Source: backends.Source{Runtime: "node24"}})
			return err
		}, also: []added{lookAfter}, why: memory, differs: withMemory},
		{
			name: "fork", run: func(f fixture) error {
				if err := f.Stop(f.Context(), "box"); err != nil {
					return err
				}
				f.server.ResetRequests()
				_, err := f.Create(f.Context(), marks("fork", backends.Persistent), backends.Spec{Source: backends.Source{CloneOf: "box"}})
				return err
			}, also: []added{lookFirst, lookAfter},
			why: `section 6.6: a fork "Copies everything incl. env", secrets too; a clone starts from the same snapshot, by a create`,
			differs: func(r *wireRequest) {
				tags := r.Body.(object)["tags"]
				*r = wireRequest{
					Method: http.MethodPost, Path: "/api/v3/sandboxes", Query: map[string]string{"teamId": r.Query["teamId"]}, Header: r.Header,
					Body: object{
						"projectId": r.Query["projectId"], "name": "fork", "persistent": true, "ports": []any{}, "timeout": 300000.0, "snapshotExpiration": 0.0,
						"resources": object{"vcpus": 2.0, "memory": 4096.0}, "networkPolicy": object{"mode": "allow-all"}, "tags": tags,
						"source": object{"type": "snapshot", "snapshotId": "{snapshot}"},
					},
				}
			},
		},
		{name: "list", run: func(f fixture) error { _, err := f.List(f.Context()); return err }, also: []added{
			lookFirst, snapshot, // a listing tells neither routes nor session (section 6.3)
		}},
		{name: "list snapshots", run: func(f fixture) error { _, err := f.ListSnapshots(f.Context(), box.Record); return err }, also: []added{
			{`GET /api/v2/sandboxes tags=sandlot-record:record-box`, `section 5.4: "There is no name and no sandbox name on a snapshot"`}, sessions,
		}},
		{name: "delete", run: func(f fixture) error { return f.Delete(f.Context(), copied, backends.DeleteOptions{}) }, also: []added{
			{`GET /api/v2/sandboxes/[a-z]+ resume=false`, `section 4: delete only what the tags say is ours; section 6.5: "Afterwards GET by name: 404"`},
		}},
		{
			name: "delete with its snapshots", run: func(f fixture) error {
				return f.Delete(f.Context(), marks("fork", backends.Persistent), backends.DeleteOptions{Snapshots: true})
			}, also: []added{lookAfter, sessions, listing},
		},
		{
			name: "delete snapshot", run: func(f fixture) error {
				// Nobody may use it any more.
				if err := f.Delete(f.Context(), box, backends.DeleteOptions{}); err != nil {
					return err
				}
				f.server.ResetRequests()
				return f.DeleteSnapshot(f.Context(), box, taken.ID)
			}, also: []added{snapshot, users, {`GET /api/v2/sandboxes/sessions/{session}`, `section 5.4: a snapshot tells whose it is by its session only`}},
		},
	}
}

// TestOperationsAreThoseOfTheSDK does with the backend what operations.mjs does with the vendor's SDK, and
// compares method, path, query, headers and body of what both sent. What the backend sends besides only
// looks, or stands in the table.
func TestOperationsAreThoseOfTheSDK(t *testing.T) {
	data, err := os.ReadFile(sdkRecord)
	if err != nil {
		t.Fatal(err)
	}
	var record []struct {
		Script, Operation string
		Requests          []wireRequest
	}
	if err := json.Unmarshal(data, &record); err != nil {
		t.Fatal(err)
	}
	counterparts := map[string][]wireRequest{}
	for _, step := range record {
		if step.Script == "operations" {
			counterparts[step.Operation] = step.Requests
		}
	}
	f := newFixture(t, simulator.Settings{})
	for _, operation := range sameOperations() {
		theirs, ok := counterparts[operation.name]
		if !ok {
			t.Fatalf("%s is not on record", operation.name)
		}
		delete(counterparts, operation.name)
		f.server.ResetRequests()
		if err := operation.run(f); err != nil {
			t.Fatalf("%s: %v", operation.name, err)
		}
		f.compare(operation, theirs)
	}
	for name := range counterparts {
		t.Errorf("the SDK does %q, and nothing is compared with it", name)
	}
}

// compare walks through what the backend sent: the SDK's requests in their order, and what is added.
func (f fixture) compare(operation sameOperation, theirs []wireRequest) {
	f.Helper()
	used := map[string]bool{}
	for _, request := range f.server.Requests() {
		ours := f.recorded(request)
		if len(theirs) > 0 {
			want := theirs[0]
			if operation.differs != nil && want.Method != http.MethodGet {
				operation.differs(&want)
			}
			if reflect.DeepEqual(ours, want) {
				theirs = theirs[1:]
				continue
			}
		}
		allowed := false
		for _, extra := range operation.also {
			if ours.meets(extra.request) {
				used[extra.request], allowed = true, true
			}
		}
		if !allowed {
			f.Errorf("%s: the SDK does not send\n%s", operation.name, ours.line())
		}
	}
	for _, missing := range theirs {
		f.Errorf("%s: the SDK sends, and the backend does not,\n%s", operation.name, missing.line())
	}
	for _, extra := range operation.also {
		if !used[extra.request] {
			f.Errorf("%s: the table allows what is not sent: %s", operation.name, extra.request)
		}
	}
}

// meets compares with a pattern of method, path and what tells it apart: a query, or the command that is run.
func (r wireRequest) meets(pattern string) bool {
	parts := strings.SplitN(pattern, " ", 3)
	path := strings.NewReplacer("{", `\{`, "}", `\}`).Replace(parts[1])
	if r.Method != parts[0] || !regexp.MustCompile("^"+path+"$").MatchString(r.Path) {
		return false
	}
	switch more := parts[min(2, len(parts)-1)]; {
	case len(parts) < 3:
		return r.Query["wait"] == ""
	case more == "sh":
		return r.Body.(object)["command"] == "/bin/sh"
	case more == "":
		return r.Query["tags"] == "" && r.Query["cursor"] == ""
	default:
		name, value, _ := strings.Cut(more, "=")
		return regexp.MustCompile("^" + value + "$").MatchString(r.Query[name])
	}
}

// generated are the ids that differ from run to run.
var generated = map[string]*regexp.Regexp{
	"{session}": regexp.MustCompile(`sbx_[a-z2-7]{24}`), "{snapshot}": regexp.MustCompile(`snap_[a-z2-7]{24}`),
	"{command}": regexp.MustCompile(`cmd_[a-z2-7]{24}`), "{temporary}": regexp.MustCompile(`\.sandlot-[0-9a-f]{16}`),
}

func withoutIDs(text string) string {
	for name, pattern := range generated {
		text = pattern.ReplaceAllString(text, name)
	}
	return text
}

// recorded brings a request that the simulator received into the form of the record.
func (f fixture) recorded(request simulator.Request) wireRequest {
	f.Helper()
	result := wireRequest{
		Method: request.Method, Path: withoutIDs(request.Path), Query: map[string]string{},
		Header: map[string]string{"content-type": request.Header.Get("Content-Type")},
	}
	for name, values := range request.Query {
		result.Query[name] = withoutIDs(strings.Join(values, " and "))
	}
	if cwd := request.Header.Get("X-Cwd"); cwd != "" {
		result.Header["x-cwd"] = cwd
	}
	switch {
	case len(request.Body) == 0:
	case strings.HasSuffix(request.Path, "/fs/write"):
		result.Body = f.entries(request.Body)
	default:
		if err := json.Unmarshal([]byte(withoutIDs(string(request.Body))), &result.Body); err != nil {
			f.Fatal(err)
		}
	}
	return result
}

// entries describes an uploaded archive as the record does.
func (f fixture) entries(body []byte) []any {
	f.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		f.Fatal(err)
	}
	var all []any
	for archive := tar.NewReader(unpacked); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, withoutIDs(fmt.Sprintf("%s %04o %d:%d, type %c, %d bytes", header.Name, header.Mode, header.Uid, header.Gid, header.Typeflag, header.Size)))
	}
}
