package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func pointer[T any](value T) *T { return &value }

// anyAnswer satisfies every call: it has the members of all answers.
func anyAnswer(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/fs/read"):
		w.Header().Set("Content-Type", fileType)
		_, _ = w.Write([]byte("content"))
		return
	case strings.HasSuffix(r.URL.Path, "/logs"):
		w.Header().Set("Content-Type", streamType)
		return
	case strings.HasSuffix(r.URL.Path, "/cmd"):
		var body object
		if json.NewDecoder(r.Body).Decode(&body) == nil && body["logs"] == true {
			w.Header().Set("Content-Type", streamType)
			_ = json.NewEncoder(w).Encode(object{"command": commandObject()})
			_ = json.NewEncoder(w).Encode(object{"command": commandObject(object{"exitCode": 0})})
			return
		}
	}
	snapshots := any([]any{snapshotObject()})
	if strings.HasSuffix(r.URL.Path, "/tree") {
		snapshots = []any{object{"snapshot": snapshotObject(), "siblings": []any{}, "count": "1"}}
	}
	reply(w, http.StatusCreated, stateObject(object{
		"snapshot": snapshotObject(), "command": commandObject(object{"exitCode": 0}),
		"sandboxes": []any{sandboxObject()}, "sessions": []any{sessionObject()}, "snapshots": snapshots,
		"commands": []any{commandObject()}, "pagination": object{"count": 1, "next": nil},
	}))
}

// TestRequests holds each request to the wire: method, path, query, body and headers, by section 13
// where it was observed and by sections 6 to 8 where not. Every query has the team, too.
func TestRequests(t *testing.T) {
	const inSession = "/api/v2/sandboxes/sessions/sbx_S"
	for _, test := range []struct {
		name, method, path, query, body string
		send                            func(context.Context, *Client) error
	}{
		{"create, many options", "POST", "/api/v3/sandboxes", "", `{"projectId":"prj_p","ports":[3000],"timeout":600000,"resources":{"vcpus":2},"name":"demo","persistent":true,"networkPolicy":{"mode":"deny-all"},"env":{"A":"1"},"tags":{"k":"v"},"snapshotExpiration":0,"keepLastSnapshots":{"count":2}}`, func(ctx context.Context, c *Client) error {
			_, err := c.CreateSandbox(ctx, CreateRequest{
				Name: "demo", Ports: []int{3000}, Timeout: Span(10 * time.Minute), Resources: &Resources{VCPUs: 2}, Persistent: pointer(true),
				NetworkPolicy: &NetworkPolicy{Mode: PolicyDenyAll}, Env: map[string]string{"A": "1"}, Tags: map[string]string{"k": "v"},
				SnapshotExpiration: Span(0), KeepLastSnapshots: &Retention{Count: 2},
			})
			return err
		}},
		{"create by runtime", "POST", "/api/v2/sandboxes", "", `{"projectId":"prj_p","ports":[],"runtime":"node22","name":"demo"}`, func(ctx context.Context, c *Client) error {
			_, err := c.CreateSandbox(ctx, CreateRequest{Name: "demo", Runtime: "node22"})
			return err
		}},
		{"create from snapshot", "POST", "/api/v3/sandboxes", "", `{"projectId":"prj_p","ports":[],"source":{"type":"snapshot","snapshotId":"snap_1"},"name":"demo2"}`, func(ctx context.Context, c *Client) error {
			_, err := c.CreateSandbox(ctx, CreateRequest{Name: "demo2", Source: FromSnapshot("snap_1")})
			return err
		}},
		{"create from git", "POST", "/api/v3/sandboxes", "", `{"projectId":"prj_p","ports":[],"name":"demo","persistent":false,"source":{"type":"git","url":"https://h/r.git","revision":"main","depth":1,"username":"u","password":"secret pass"},"region":"fra1","failoverRegions":[],"image":"x/y:z","keepLastSnapshots":{"count":1,"expiration":86400000,"deleteEvicted":false},"mounts":{"/d":{"drive":"d1","mode":"read-write"}},"networkId":"net_1"}`, func(ctx context.Context, c *Client) error {
			source := FromGit("https://h/r.git", "main")
			source.Depth, source.Username, source.Password = 1, "u", "secret pass"
			_, err := c.CreateSandbox(ctx, CreateRequest{
				Name: "demo", Source: source, Region: "fra1", FailoverRegions: []string{}, Image: "x/y:z", Persistent: pointer(false), NetworkID: "net_1",
				KeepLastSnapshots: &Retention{Count: 1, Expiration: Span(24 * time.Hour), DeleteEvicted: pointer(false)},
				Mounts:            map[string]Mount{"/d": {"d1", "read-write"}},
			})
			return err
		}},
		{"create from tarball", "POST", "/api/v3/sandboxes", "", `{"projectId":"prj_p","ports":[],"name":"demo","source":{"type":"tarball","url":"https://h/a.tar.gz"}}`, func(ctx context.Context, c *Client) error {
			_, err := c.CreateSandbox(ctx, CreateRequest{Name: "demo", Source: FromTarball("https://h/a.tar.gz")})
			return err
		}},
		{"get", "GET", "/api/v2/sandboxes/demo", "projectId=prj_p&resume=false", "", func(ctx context.Context, c *Client) error {
			_, err := c.GetSandbox(ctx, "demo")
			return err
		}},
		{"resume", "GET", "/api/v2/sandboxes/demo", "projectId=prj_p&resume=true", "", func(ctx context.Context, c *Client) error {
			_, err := c.ResumeSandbox(ctx, "demo")
			return err
		}},
		{"update", "PATCH", "/api/v2/sandboxes/demo", "projectId=prj_p", `{"persistent":false,"resources":{"vcpus":4,"memory":8192},"timeout":900000,"networkPolicy":{"mode":"allow-all"},"tags":{},"ports":[],"keepLastSnapshots":null,"currentSnapshotId":"snap_1"}`, func(ctx context.Context, c *Client) error {
			_, err := c.UpdateSandbox(ctx, "demo", UpdateRequest{
				Persistent: pointer(false), Resources: &Resources{VCPUs: 4, Memory: 8192}, Timeout: Span(15 * time.Minute),
				NetworkPolicy: &NetworkPolicy{Mode: PolicyAllowAll}, Tags: map[string]string{}, Ports: []int{}, RemoveKeepLast: true, CurrentSnapshotID: "snap_1",
			})
			return err
		}},
		{"update of nothing", "PATCH", "/api/v2/sandboxes/demo", "projectId=prj_p", `{}`, func(ctx context.Context, c *Client) error {
			_, err := c.UpdateSandbox(ctx, "demo", UpdateRequest{})
			return err
		}},
		{"update of the rest", "PATCH", "/api/v2/sandboxes/demo", "projectId=prj_p", `{"env":{},"snapshotExpiration":0,"keepLastSnapshots":{"count":3},"region":"fra1","failoverRegions":[],"mounts":{},"networkId":"net_1"}`, func(ctx context.Context, c *Client) error {
			_, err := c.UpdateSandbox(ctx, "demo", UpdateRequest{
				Env: map[string]string{}, SnapshotExpiration: Span(0), KeepLastSnapshots: &Retention{Count: 3}, Region: "fra1",
				FailoverRegions: []string{}, Mounts: map[string]Mount{}, NetworkID: "net_1",
			})
			return err
		}},
		{"delete", "DELETE", "/api/v2/sandboxes/demo", "projectId=prj_p", "", func(ctx context.Context, c *Client) error {
			_, err := c.DeleteSandbox(ctx, "demo", false)
			return err
		}},
		{"delete with snapshots", "DELETE", "/api/v2/sandboxes/demo", "projectId=prj_p&deleteOrphanSnapshots=true", "", func(ctx context.Context, c *Client) error {
			_, err := c.DeleteSandbox(ctx, "demo", true)
			return err
		}},
		{"fork", "POST", "/api/v2/sandboxes/demo/fork", "projectId=prj_p", `{"name":"f1"}`, func(ctx context.Context, c *Client) error {
			_, err := c.ForkSandbox(ctx, "demo", ForkRequest{Name: "f1"})
			return err
		}},
		{"fork with overrides", "POST", "/api/v2/sandboxes/demo/fork", "projectId=prj_p", `{"name":"f1","ports":[],"env":{},"tags":{"a":"b"},"networkPolicy":{"allow":["a.b"]},"persistent":true,"timeout":1000}`, func(ctx context.Context, c *Client) error {
			_, err := c.ForkSandbox(ctx, "demo", ForkRequest{
				Name: "f1", Ports: []int{}, Env: map[string]string{}, Tags: map[string]string{"a": "b"}, Persistent: pointer(true), Timeout: Span(time.Second),
				NetworkPolicy: &NetworkPolicy{Mode: PolicyCustom, AllowedDomains: []string{"a.b"}},
			})
			return err
		}},
		{"list", "GET", "/api/v2/sandboxes", "project=prj_p&limit=1&sortBy=name&namePrefix=de&tags=k%3Av", "", func(ctx context.Context, c *Client) error {
			return drain(c.ListSandboxes(ctx, SandboxFilter{PageSize: 1, NamePrefix: "de", Tag: "k", TagValue: "v"}))
		}},
		{"list by status", "GET", "/api/v2/sandboxes", "project=prj_p&status=running&sortOrder=asc", "", func(ctx context.Context, c *Client) error {
			return drain(c.ListSandboxes(ctx, SandboxFilter{Status: StatusRunning, SortOrder: OldestFirst}))
		}},
		{"list sessions", "GET", "/api/v2/sandboxes/sessions", "project=prj_p&name=demo&limit=5", "", func(ctx context.Context, c *Client) error {
			return drain(c.ListSessions(ctx, ListFilter{Sandbox: "demo", PageSize: 5}))
		}},
		{"list snapshots", "GET", "/api/v2/sandboxes/snapshots", "project=prj_p&name=demo", "", func(ctx context.Context, c *Client) error {
			return drain(c.ListSnapshots(ctx, ListFilter{Sandbox: "demo"}))
		}},
		{"snapshot tree", "GET", "/api/v2/sandboxes/snapshots/tree", "project=prj_p&snapshotId=snap_1&limit=2&sortOrder=asc", "", func(ctx context.Context, c *Client) error {
			_, err := c.SnapshotTree(ctx, "snap_1", OldestFirst, 2)
			return err
		}},
		{"get snapshot", "GET", "/api/v2/sandboxes/snapshots/snap_1", "", "", func(ctx context.Context, c *Client) error {
			_, err := c.GetSnapshot(ctx, "snap_1")
			return err
		}},
		{"delete snapshot", "DELETE", "/api/v2/sandboxes/snapshots/snap_1", "", "", func(ctx context.Context, c *Client) error {
			_, err := c.DeleteSnapshot(ctx, "snap_1")
			return err
		}},
		{"get session", "GET", inSession, "", "", func(ctx context.Context, c *Client) error {
			_, err := c.GetSession(ctx, "sbx_S")
			return err
		}},
		{"stop", "POST", inSession + "/stop", "", "", func(ctx context.Context, c *Client) error {
			_, err := c.StopSession(ctx, "sbx_S")
			return err
		}},
		{"snapshot", "POST", inSession + "/snapshot", "", `{"expiration":0}`, func(ctx context.Context, c *Client) error {
			_, err := c.TakeSnapshot(ctx, "sbx_S", Span(0))
			return err
		}},
		{"snapshot by default", "POST", inSession + "/snapshot", "", "", func(ctx context.Context, c *Client) error {
			_, err := c.TakeSnapshot(ctx, "sbx_S", nil)
			return err
		}},
		{"extend timeout", "POST", inSession + "/extend-timeout", "", `{"duration":60000}`, func(ctx context.Context, c *Client) error {
			_, err := c.ExtendTimeout(ctx, "sbx_S", time.Minute)
			return err
		}},
		{"network policy", "POST", inSession + "/network-policy", "", `{"mode":"allow-all"}`, func(ctx context.Context, c *Client) error {
			_, err := c.SetNetworkPolicy(ctx, "sbx_S", NetworkPolicy{Mode: PolicyAllowAll})
			return err
		}},
		{"run", "POST", inSession + "/cmd", "", `{"command":"echo","args":["hi"],"env":{},"sudo":false,"wait":true,"logs":true}`, func(ctx context.Context, c *Client) error {
			_, err := c.RunCommand(ctx, "sbx_S", CommandRequest{Command: "echo", Args: []string{"hi"}}, nil)
			return err
		}},
		{"run with options", "POST", inSession + "/cmd", "", `{"command":"echo","args":[],"env":{"A":"1"},"sudo":true,"wait":true,"logs":true,"cwd":"/tmp","timeout":1000}`, func(ctx context.Context, c *Client) error {
			_, err := c.RunCommand(ctx, "sbx_S", CommandRequest{Command: "echo", Env: map[string]string{"A": "1"}, Sudo: true, Cwd: "/tmp", Timeout: Span(time.Second)}, nil)
			return err
		}},
		{"run detached", "POST", inSession + "/cmd", "", `{"command":"sleep","args":["9"],"env":{},"sudo":false}`, func(ctx context.Context, c *Client) error {
			_, err := c.StartCommand(ctx, "sbx_S", CommandRequest{Command: "sleep", Args: []string{"9"}})
			return err
		}},
		{"get command", "GET", inSession + "/cmd/cmd_C", "", "", func(ctx context.Context, c *Client) error {
			_, err := c.GetCommand(ctx, "sbx_S", "cmd_C")
			return err
		}},
		{"wait", "GET", inSession + "/cmd/cmd_C", "wait=true", "", func(ctx context.Context, c *Client) error {
			_, err := c.WaitCommand(ctx, "sbx_S", "cmd_C")
			return err
		}},
		{"list commands", "GET", inSession + "/cmd", "", "", func(ctx context.Context, c *Client) error {
			_, err := c.ListCommands(ctx, "sbx_S")
			return err
		}},
		{"logs", "GET", inSession + "/cmd/cmd_C/logs", "", "", func(ctx context.Context, c *Client) error {
			return drain(c.Logs(ctx, "sbx_S", "cmd_C"))
		}},
		{"kill", "POST", inSession + "/cmd/cmd_C/kill", "", `{"signal":15}`, func(ctx context.Context, c *Client) error {
			_, err := c.KillCommand(ctx, "sbx_S", "cmd_C", SIGTERM)
			return err
		}},
		{"read file", "POST", inSession + "/fs/read", "", `{"path":"/etc/x"}`, func(ctx context.Context, c *Client) error {
			body, err := c.ReadFile(ctx, "sbx_S", "/etc/x")
			if err == nil {
				err = body.Close()
			}
			return err
		}},
		{"make directory", "POST", inSession + "/fs/mkdir", "", `{"path":"/a/b","recursive":true}`, func(ctx context.Context, c *Client) error {
			return c.MakeDir(ctx, "sbx_S", "/a/b")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, anyAnswer)
			if err := test.send(t.Context(), clientOf(t, s, func(c *Config) { c.UserAgent = "sandlot/test" })); err != nil {
				t.Fatal(err)
			}
			got := s.all()[0]
			want, _ := url.ParseQuery(test.query)
			want.Set("teamId", testTeam)
			query, _ := url.ParseQuery(got.query)
			if got.method != test.method || got.path != test.path || query.Encode() != want.Encode() {
				t.Errorf("got %s %s?%s, want %s %s?%s", got.method, got.path, got.query, test.method, test.path, want.Encode())
			}
			if !sameJSON(got.body, test.body) {
				t.Errorf("got the body %s, want %s", got.body, test.body)
			}
			for name, value := range map[string]string{
				"Authorization": "Bearer " + testToken, "Content-Type": "application/json", "User-Agent": "sandlot/test",
			} {
				if got.header.Get(name) != value {
					t.Errorf("got the header %s %q, want %q", name, got.header.Get(name), value)
				}
			}
			if test.method == http.MethodPost && test.body == "" && got.header.Get("Content-Length") == "" && got.header.Get("Transfer-Encoding") != "" {
				t.Error("an empty body must be sent with its length")
			}
		})
	}
}

// drain reads a sequence to its end.
func drain[T any](sequence func(func(T, error) bool)) error {
	for _, err := range sequence {
		if err != nil {
			return err
		}
	}
	return nil
}
