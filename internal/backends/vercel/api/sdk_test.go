package api

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
)

// sdkRecord is what the vendor's own SDK sent to the simulator, with its ids replaced.
const sdkRecord = "../../../simulator/vercel/testdata/sdk-requests.json"

type sdkRequest struct {
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Query  map[string]string `json:"query"`
	Header map[string]string `json:"header"`
	Body   any               `json:"body"`
}

// allowed are the differences between the SDK's requests and ours, with the line of the contract
// that each comes from. Everything else must be the same.
var allowed = []struct {
	why    string
	meets  func(sdkRequest) bool
	change func(*sdkRequest)
}{
	{
		`section 6.2: "SDK omits it when the caller does"; we always say whether to resume`,
		func(r sdkRequest) bool {
			return r.Method == http.MethodGet && isSandbox(r.Path) && r.Query["resume"] == ""
		},
		func(r *sdkRequest) { r.Query["resume"] = "false" },
	},
	{
		`section 4: "an unnamed ambiguous create cannot be recovered, so always send a name"`,
		func(r sdkRequest) bool {
			return r.Method == http.MethodPost && isCreate(r.Path) && r.member("name") == nil
		},
		func(r *sdkRequest) { r.set("name", "named") },
	},
	{
		`section 7.2: "Go: always send recursive: true"`,
		func(r sdkRequest) bool { return strings.HasSuffix(r.Path, "/fs/mkdir") },
		func(r *sdkRequest) { r.set("recursive", true) },
	},
	{
		`section 11: "Read session.cwd"; callers make paths absolute by it, so that none depends on a default`,
		func(r sdkRequest) bool {
			path, ok := r.member("path").(string)
			return ok && !strings.HasPrefix(path, "/")
		},
		func(r *sdkRequest) { r.set("path", "/vercel/sandbox/"+r.member("path").(string)) },
	},
}

func (r sdkRequest) member(name string) any {
	body, _ := r.Body.(object)
	return body[name]
}

func (r sdkRequest) text(name string) string {
	text, _ := r.member(name).(string)
	return text
}

func (r *sdkRequest) set(name string, value any) {
	r.Body = merged(r.Body.(object), object{name: value})
}

func isCreate(path string) bool {
	return path == "/api"+createPath || path == "/api"+createWithRuntimePath
}

func isSandbox(path string) bool {
	name, ok := strings.CutPrefix(path, "/api"+sandboxesPath+"/")
	return ok && checkName("", name) == nil
}

// TestRequestsAreThoseOfTheSDK sends again by this client what the SDK sent, and compares method,
// path, query, headers and body. The beta SDK is left out: it speaks an older form (section 10).
func TestRequestsAreThoseOfTheSDK(t *testing.T) {
	data, err := os.ReadFile(sdkRecord)
	if err != nil {
		t.Fatal(err)
	}
	var record []struct {
		Script, Operation string
		Requests          []sdkRequest
	}
	if err := json.Unmarshal(data, &record); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, step := range record {
		if step.Script == "beta" {
			continue
		}
		for i, request := range step.Requests {
			name := fmt.Sprintf("%s, %s, %d", step.Script, step.Operation, i)
			for _, difference := range allowed {
				if difference.meets(request) {
					difference.change(&request)
				}
			}
			s := serve(t, anyAnswer)
			c := clientOf(t, s, func(c *Config) { c.TeamID, c.ProjectID = "team_simulated", "prj_simulated" })
			if err := repeat(t.Context(), c, request); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			// A log is followed by the question whether the command is over.
			if count := len(s.all()); count != 1 && !strings.HasSuffix(request.Path, "/logs") {
				t.Errorf("%s: it took %d requests", name, count)
			}
			got := recorded(t, s.all()[0])
			if !reflect.DeepEqual(got, request) {
				t.Errorf("%s: got\n%+v, the SDK sent\n%+v", name, got, request)
			}
			compared++
		}
	}
	if compared < 40 {
		t.Errorf("only %d requests were compared", compared)
	}
}

// recorded brings a request into the form of the record.
func recorded(t *testing.T, request seen) sdkRequest {
	t.Helper()
	result := sdkRequest{Method: request.method, Query: map[string]string{}, Header: map[string]string{"content-type": request.header.Get("Content-Type")}}
	result.Path, _ = url.PathUnescape(request.path)
	query, err := url.ParseQuery(request.query)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range query {
		result.Query[name] = strings.Join(values, " and ")
	}
	if cwd := request.header.Get("X-Cwd"); cwd != "" {
		result.Header["x-cwd"] = cwd
	}
	switch {
	case request.body == "":
	case strings.HasSuffix(request.path, "/fs/write"):
		result.Body = entries(t, request.body)
	default:
		if err := json.Unmarshal([]byte(request.body), &result.Body); err != nil {
			t.Fatal(err)
		}
	}
	return result
}

const entryForm = "%s %04o 0:0, type 0, %d bytes"

func entries(t *testing.T, body string) []any {
	t.Helper()
	unpacked, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for archive := tar.NewReader(unpacked); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf(entryForm, header.Name, header.Mode, header.Size))
	}
}

// repeat asks this client for what a recorded request asked for.
func repeat(ctx context.Context, c *Client, r sdkRequest) error {
	path := strings.TrimPrefix(r.Path, "/api")
	page := ListFilter{Sandbox: r.Query["name"], SortOrder: r.Query["sortOrder"], PageSize: whole(r.Query["limit"])}
	const session = "{session}"
	switch r.Method + " " + path {
	case "POST " + createPath, "POST " + createWithRuntimePath:
		var request CreateRequest
		if err := into(r.Body, &request); err != nil {
			return err
		}
		request.NetworkPolicy = policyOf(r.member("networkPolicy"))
		_, err := c.CreateSandbox(ctx, request)
		return err
	case "GET " + sandboxesPath:
		filter := SandboxFilter{SortBy: r.Query["sortBy"], SortOrder: page.SortOrder, NamePrefix: r.Query["namePrefix"], PageSize: page.PageSize}
		filter.Tag, filter.TagValue, _ = strings.Cut(r.Query["tags"], ":")
		return repeatPage[Sandbox](ctx, c, r, "sandboxes", func(call call) call {
			return call.with("sortBy", filter.SortBy).with("namePrefix", filter.NamePrefix)
		}, func() error { return drain(c.ListSandboxes(ctx, filter)) })
	case "GET " + sessionsPath:
		return repeatPage[Session](ctx, c, r, "sessions", nil, func() error { return drain(c.ListSessions(ctx, page)) })
	case "GET " + snapshotsPath:
		return repeatPage[Snapshot](ctx, c, r, "snapshots", nil, func() error { return drain(c.ListSnapshots(ctx, page)) })
	case "GET " + treePath:
		_, err := c.SnapshotTree(ctx, r.Query["snapshotId"], page.SortOrder, page.PageSize)
		return err
	case "GET " + snapshotsPath + "/{snapshot}":
		_, err := c.GetSnapshot(ctx, "{snapshot}")
		return err
	case "DELETE " + snapshotsPath + "/{snapshot}":
		_, err := c.DeleteSnapshot(ctx, "{snapshot}")
		return err
	}
	if rest, ok := strings.CutPrefix(path, sessionsPath+"/"+session+"/"); ok {
		return repeatInSession(ctx, c, r, session, rest)
	}
	name := strings.TrimPrefix(path, sandboxesPath+"/")
	source, fork := strings.CutSuffix(name, "/fork")
	var err error
	switch {
	case fork:
		var request ForkRequest
		if err = into(r.Body, &request); err == nil {
			request.NetworkPolicy = policyOf(r.member("networkPolicy"))
			_, err = c.ForkSandbox(ctx, source, request)
		}
	case r.Method == http.MethodGet && r.Query["resume"] == "true":
		_, err = c.ResumeSandbox(ctx, name)
	case r.Method == http.MethodGet:
		_, err = c.GetSandbox(ctx, name)
	case r.Method == http.MethodDelete:
		_, err = c.DeleteSandbox(ctx, name, r.Query["deleteOrphanSnapshots"] == "true")
	case r.Method == http.MethodPatch:
		var request UpdateRequest
		if err = into(r.Body, &request); err == nil {
			request.NetworkPolicy = policyOf(r.member("networkPolicy"))
			if value, sent := r.Body.(object)["keepLastSnapshots"]; sent {
				request.RemoveKeepLast = value == nil
				err = into(value, &request.KeepLastSnapshots)
			}
		}
		if err == nil {
			_, err = c.UpdateSandbox(ctx, name, request)
		}
	default:
		err = errors.New("nothing of ours asks for this")
	}
	return err
}

func repeatInSession(ctx context.Context, c *Client, r sdkRequest, session, rest string) error {
	const command = "{command}"
	var err error
	switch r.Method + " " + rest {
	case "POST cmd":
		var request CommandRequest
		if err := into(r.Body, &request); err != nil {
			return err
		}
		if r.member("wait") == true {
			_, err = c.RunCommand(ctx, session, request, func(Output) error { return nil })
		} else {
			_, err = c.StartCommand(ctx, session, request)
		}
	case "GET cmd/" + command:
		if r.Query["wait"] == "true" {
			_, err = c.WaitCommand(ctx, session, command)
		} else {
			_, err = c.GetCommand(ctx, session, command)
		}
	case "GET cmd/" + command + "/logs":
		err = drain(c.Logs(ctx, session, command))
	case "POST cmd/" + command + "/kill":
		_, err = c.KillCommand(ctx, session, command, Signal(r.member("signal").(float64)))
	case "POST fs/mkdir":
		err = c.MakeDir(ctx, session, r.text("path"))
	case "POST fs/read":
		var body io.ReadCloser
		if body, err = c.ReadFile(ctx, session, r.text("path")); err == nil {
			err = body.Close()
		}
	case "POST fs/write":
		var files []File
		for _, entry := range r.Body.([]any) {
			var name string
			var mode uint32
			var size int
			if _, err := fmt.Sscanf(entry.(string), entryForm, &name, &mode, &size); err != nil {
				return err
			}
			files = append(files, File{Path: "/" + name, Mode: fs.FileMode(mode), Content: make([]byte, size)})
		}
		err = c.WriteFiles(ctx, session, files...)
	case "POST stop":
		_, err = c.StopSession(ctx, session)
	case "POST snapshot":
		var request struct{ Expiration *Duration }
		if err = into(r.Body, &request); err == nil {
			_, err = c.TakeSnapshot(ctx, session, request.Expiration)
		}
	case "POST extend-timeout":
		var request struct{ Duration Duration }
		if err = into(r.Body, &request); err == nil {
			_, err = c.ExtendTimeout(ctx, session, request.Duration.Duration)
		}
	case "POST network-policy":
		_, err = c.SetNetworkPolicy(ctx, session, *policyOf(r.Body))
	default:
		err = errors.New("nothing of ours asks for this")
	}
	return err
}

// repeatPage asks for the first page, or by hand for one that a cursor names.
func repeatPage[T any](ctx context.Context, c *Client, r sdkRequest, member string, more func(call) call, first func() error) error {
	cursor := r.Query["cursor"]
	if cursor == "" {
		return first()
	}
	call := get("", "", strings.TrimPrefix(r.Path, "/api")).with("project", c.ProjectID()).with("name", r.Query["name"]).
		with("limit", r.Query["limit"]).with("sortOrder", r.Query["sortOrder"]).with("cursor", cursor)
	if more != nil {
		call = more(call)
	}
	_, _, err := readPage[T](ctx, c, call, member)
	return err
}

func whole(text string) int {
	var number int
	_, _ = fmt.Sscan(text, &number)
	return number
}

// into reads what JSON holds into a typed request.
func into(value, target any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, target)
}

// policyOf reads a policy in the form that the SDK sends.
func policyOf(value any) *NetworkPolicy {
	shape, ok := value.(object)
	if !ok {
		return nil
	}
	if mode, ok := shape["mode"].(string); ok {
		return &NetworkPolicy{Mode: mode}
	}
	policy := &NetworkPolicy{Mode: PolicyCustom}
	var members struct {
		Allow   json.RawMessage
		Subnets subnets
	}
	if into(value, &members) != nil {
		return nil
	}
	policy.AllowedCIDRs, policy.DeniedCIDRs = members.Subnets.Allow, members.Subnets.Deny
	if json.Unmarshal(members.Allow, &policy.AllowedDomains) != nil {
		_ = json.Unmarshal(members.Allow, &policy.Rules)
	}
	return policy
}
