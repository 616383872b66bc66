package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// TestAnswersThatCannotBeUsed: typed errors that name members and show no bodies.
func TestAnswersThatCannotBeUsed(t *testing.T) {
	const secret = "BodyCanary"
	raw := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(body))
		}
	}
	session := func(changes object) http.HandlerFunc {
		return always(200, stateObject(object{"session": sessionObject(changes)}))
	}
	sandbox := func(changes object) http.HandlerFunc {
		return always(200, stateObject(object{"sandbox": sandboxObject(changes)}))
	}
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		says    string // empty: success
	}{
		{"page of HTML", raw("text/html; charset=utf-8", "<html>"+secret+"</html>"), "text/html"},
		{"HTML that claims to be JSON", raw("application/json", "<html>"+secret+"</html>"), "not the JSON"},
		{"half of an object", raw("application/json", `{"sandbox":{"name":"`+secret), "not the JSON"},
		{"nothing", raw("application/json", ""), "not the JSON"},
		{"null", raw("application/json", "null"), "null"},
		{"list", raw("application/json", `["`+secret+`"]`), "not of type"},
		{"no content type", raw("", `{}`), "lacks routes, sandbox, session"},
		{"too long", raw("application/json", `{"x":"`+strings.Repeat(secret, longestAnswer/len(secret)+1)+`"}`), "longer than"},
		{"no routes", always(200, stateObject(object{"routes": absent})), "lacks routes"},
		{"no session", always(200, stateObject(object{"session": absent})), "lacks session"},
		{"null session", always(200, stateObject(object{"session": nil})), "lacks session"},
		{"no name", sandbox(object{"name": absent}), "lacks sandbox.name"},
		{"empty name", sandbox(object{"name": ""}), "lacks sandbox.name"},
		{"no status", session(object{"status": absent}), "lacks session.status"},
		{"no current session", sandbox(object{"currentSessionId": nil}), "lacks sandbox.currentSessionId"},
		{"no persistent", sandbox(object{"persistent": absent}), "lacks sandbox.persistent"},
		{"ISO time", sandbox(object{"createdAt": "2026-01-01T00:00:00Z"}), "must be a number"},
		{"text timeout", session(object{"timeout": secret}), "must be a number"},
		{"huge time", sandbox(object{"createdAt": 1e300}), "must be a number"},
		{"number as name", sandbox(object{"name": 5}), `"sandbox.name" is not of type string`},
		{"route without port", always(200, stateObject(object{"routes": []any{object{"url": "u", "subdomain": "s"}}})), "lacks routes[].port"},
		{"policy without mode", sandbox(object{"networkPolicy": object{"allow": []string{secret}}}), "lacks sandbox.networkPolicy.mode"},
		{"unknown members", sandbox(object{"surprise": object{"a": []int{1}}}), ""},
		{"null where absent", sandbox(object{"currentSnapshotId": nil, "tags": nil, "timeout": nil, "expiresAt": nil, "networkPolicy": nil}), ""},
		{"fractions", sandbox(object{"createdAt": 1700000000000.5, "timeout": 1500.25, "totalEgressBytes": 1.5, "vcpus": 0.5}), ""},
		{"unknown status", session(object{"status": "dreaming"}), ""},
		{"JSON by another name", raw("application/vnd.vercel+json", `{"sandbox":{},"session":{},"routes":[]}`), "lacks"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := clientOf(t, serve(t, test.handler))
			_, err := c.GetSandbox(t.Context(), "demo")
			if test.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantKind(t, err, backends.Failed)
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error does not say %q: %v", test.says, err)
			}
			if strings.Contains(err.Error(), secret) || len(err.Error()) > 600 {
				t.Errorf("the error shows the answer: %v", err)
			}
			// The same answer to a write may stand for something that happened.
			if err := create(t, c); !Ambiguous(err) {
				t.Errorf("the create may have happened: %v", err)
			}
		})
	}
}

// TestEndlessAnswer: reading stops at the bound, long before memory or patience ends.
func TestEndlessAnswer(t *testing.T) {
	for _, status := range []int{200, 400, 500} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			block := []byte(`{"x":"` + strings.Repeat("z", 64<<10))
			for {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		})
		start := time.Now()
		err := read(t, clientOf(t, s, func(c *Config) { c.Retries = 1 }))
		if err == nil || len(err.Error()) > 600 || strings.Contains(err.Error(), "zzz") {
			t.Errorf("%d: got %v", status, err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%d: it took %s", status, took)
		}
	}
}

// TestDecoding holds one full answer to its members.
func TestDecoding(t *testing.T) {
	c := clientOf(t, serve(t, always(200, stateObject(object{
		"resumed": true,
		"routes":  []any{object{"url": "https://sb-1.vercel.run", "subdomain": "sb-1", "port": 3000}, object{"url": "u", "subdomain": "s", "port": 1, "system": true}},
		"sandbox": sandboxObject(object{
			"statusUpdatedAt": 1700000000002, "currentSnapshotId": "snap_1", "region": "iad1", "failoverRegions": []string{"sfo1"},
			"vcpus": 2, "memory": 4096, "image": "r@sha256:1", "timeout": 300000, "tags": object{"k": "v"}, "snapshotExpiration": 0,
			"keepLastSnapshots": object{"count": 2, "deleteEvicted": true}, "expiresAt": 1700000300000, "cwd": "/w",
			"mounts": object{"/d": object{"drive": "d", "mode": "snapshot"}}, "totalDurationMs": 1500,
			"networkPolicy": object{
				"mode": "custom", "allowedDomains": []string{"a.b"}, "allowedCIDRs": []string{"10.0.0.0/8"}, "deniedCIDRs": []string{"10.1.0.0/16"},
				"injectionRules": []any{object{"domain": "a.b", "headerNames": []string{"X"}, "headers": object{"X": "old value"}, "match": object{"path": object{"exact": "/p"}}}},
				"forwardRules":   []any{object{"domain": "c.d", "forwardURL": "https://e.f"}},
			},
		}),
		"session": sessionObject(object{"startedAt": 1700000001000, "projectId": "prj_p", "networkTransfer": object{"ingress": 1, "egress": 2}}),
	}))))
	state, err := c.GetSandbox(t.Context(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	sandbox, session := state.Sandbox, state.Session
	policy := sandbox.NetworkPolicy
	for name, ok := range map[string]bool{
		"resumed":    state.Resumed,
		"routes":     len(state.Routes) == 2 && state.Routes[0].Port == 3000 && state.Routes[0].URL == "https://sb-1.vercel.run" && state.Routes[1].System,
		"times":      sandbox.CreatedAt.Equal(time.UnixMilli(1700000000000)) && sandbox.StatusUpdatedAt.UnixMilli() == 1700000000002,
		"snapshot":   sandbox.CurrentSnapshotID == "snap_1" && *sandbox.SnapshotExpiration == Duration{},
		"resources":  sandbox.VCPUs == 2 && sandbox.Memory == 4096,
		"timeout":    sandbox.Timeout.Duration == 5*time.Minute,
		"retention":  sandbox.KeepLastSnapshots.Count == 2 && *sandbox.KeepLastSnapshots.DeleteEvicted,
		"tags":       sandbox.Tags["k"] == "v",
		"mounts":     sandbox.Mounts["/d"] == Mount{"d", "snapshot"},
		"totals":     sandbox.TotalDuration.Duration == 1500*time.Millisecond,
		"policy":     policy.Mode == PolicyCustom && policy.AllowedDomains[0] == "a.b" && policy.AllowedCIDRs[0] == "10.0.0.0/8" && policy.DeniedCIDRs[0] == "10.1.0.0/16",
		"injections": policy.InjectionRules[0].HeaderNames[0] == "X" && policy.InjectionRules[0].Match.Path.Exact == "/p",
		"forwards":   policy.ForwardRules[0].ForwardURL == "https://e.f",
		"deadline":   session.Deadline().UnixMilli() == 1700000301000,
		"transfer":   session.NetworkTransfer.Egress == 2,
	} {
		if !ok {
			t.Errorf("%s: got %+v", name, state)
		}
	}
	without := Session{CreatedAt: Time{time.UnixMilli(5)}, Timeout: Duration{time.Second}}
	if without.Deadline().UnixMilli() != 1005 {
		t.Error("a session that has not started is counted from its creation")
	}
}

func TestPages(t *testing.T) {
	page := func(next any, names ...string) http.HandlerFunc {
		items := []any{}
		for _, name := range names {
			items = append(items, sandboxObject(object{"name": name}))
		}
		return always(200, object{"sandboxes": items, "pagination": object{"count": len(names), "next": next}})
	}
	names := func(t *testing.T, handler http.HandlerFunc) (*server, string, error) {
		s := serve(t, handler)
		var all []string
		for sandbox, err := range clientOf(t, s).ListSandboxes(t.Context(), SandboxFilter{PageSize: 2}) {
			if err != nil {
				return s, strings.Join(all, " "), err
			}
			all = append(all, sandbox.Name)
		}
		return s, strings.Join(all, " "), nil
	}
	s, got, err := names(t, inTurn(page("c1&x", "a", "b"), page("c2"), page(nil, "c")))
	if err != nil || got != "a b c" {
		t.Errorf("got %q and %v", got, err)
	}
	lines := s.lines()
	if len(lines) != 3 || strings.Contains(lines[0], "cursor") || !strings.Contains(lines[1], "cursor=c1%26x") || !strings.Contains(lines[2], "cursor=c2") {
		t.Errorf("got the requests %q", lines)
	}
	for name, handler := range map[string]http.HandlerFunc{
		"the same cursor again": page("c1", "a"),
		"empty cursor":          page("", "a"),
		"no next":               always(200, object{"sandboxes": []any{}, "pagination": object{"count": 0}}),
		"no pagination":         always(200, object{"sandboxes": []any{}}),
		"no items":              always(200, object{"pagination": object{"next": nil}}),
		"broken item":           always(200, object{"sandboxes": []any{object{"name": "a"}}, "pagination": object{"next": nil}}),
		"second page fails":     inTurn(page("c1", "a"), alwaysError(500, "x", "y")),
	} {
		_, _, err := names(t, handler)
		if err == nil {
			t.Errorf("%s: a listing that is not whole must end with an error", name)
		} else {
			wantKind(t, err, backends.Failed)
		}
	}
	s = serve(t, page("c1", "a", "b"))
	for range clientOf(t, s).ListSandboxes(t.Context(), SandboxFilter{}) {
		break
	}
	wantRequests(t, s, 1)
}

func TestSnapshotTree(t *testing.T) {
	node := object{"snapshot": snapshotObject(object{"parentId": "snap_0", "creationMethod": "manual"}), "siblings": []any{snapshotObject(object{"id": "snap_2"})}, "count": "12"}
	c := clientOf(t, serve(t, always(200, object{"snapshots": []any{node}, "anchor": node, "pagination": object{"count": 1, "next": "snap_0"}})))
	page, err := c.SnapshotTree(t.Context(), "snap_1", "", 0)
	if err != nil || page.Next != "snap_0" || page.Anchor.Count != "12" || page.Nodes[0].Siblings[0].ID != "snap_2" || page.Nodes[0].Snapshot.ParentID != "snap_0" {
		t.Errorf("got %+v and %v", page, err)
	}
}
