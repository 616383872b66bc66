package api

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// TestErrorCatalog is section 9.2 as a table.
func TestErrorCatalog(t *testing.T) {
	readSession := func(t *testing.T, c *Client) error {
		_, err := c.StopSession(t.Context(), "sbx_S")
		return err
	}
	resume := func(t *testing.T, c *Client) error {
		_, err := c.ResumeSandbox(t.Context(), "demo")
		return err
	}
	fork := func(t *testing.T, c *Client) error {
		_, err := c.ForkSandbox(t.Context(), "demo", ForkRequest{Name: "copy"})
		return err
	}
	start := func(t *testing.T, c *Client) error {
		_, err := c.StartCommand(t.Context(), "sbx_S", CommandRequest{Command: "nope"})
		return err
	}
	for _, test := range []struct {
		name          string
		status        int
		code, message string
		send          func(*testing.T, *Client) error
		kind          backends.ErrorKind
	}{
		{"validation", 400, "bad_request", "invalid value", create, backends.Invalid},
		{"name taken", 400, "bad_request", "A sandbox named demo Already Exists for this project, use GET to resume it", create, backends.AlreadyExists},
		{"name of a fork taken", 400, "bad_request", "already exists", fork, backends.AlreadyExists},
		{"these words elsewhere", 400, "bad_request", "already exists", start, backends.Invalid},
		{"timeout", 400, CodeTimeoutInvalid, "max is 45 min", update, backends.Invalid},
		{"no token", 401, "forbidden", "no", read, backends.Unauthorized},
		{"wrong scope", 403, "forbidden", "no", read, backends.Unauthorized},
		{"billing", 402, "payment_required", "pay", create, backends.NoCapacity},
		{"absent", 404, "not_found", "no such sandbox", read, backends.NotFound},
		{"absent session", 404, "not_found", "no such session", readSession, backends.NotFound},
		{"404 of someone else", 404, "route_not_found", "what?", read, backends.Failed},
		{"404 without a code", 404, "", "", read, backends.Failed},
		{"absent project", 404, "not_found", "no such project", create, backends.Invalid},
		{"absent source of a fork", 404, "not_found", "no such sandbox", fork, backends.NotFound},
		{"image", 409, CodeImageNotReady, "wait", create, backends.Conflict},
		{"drive", 409, "conflict", "attached", read, backends.Conflict},
		{"session over", 410, CodeStopped, "over", readSession, backends.NotRunning},
		{"session failed", 410, CodeFailed, "over", readSession, backends.NotRunning},
		{"session over, other code", 410, "gone", "over", readSession, backends.NotRunning},
		{"nothing to resume", 410, CodeSnapshotNotFound, "expired", resume, backends.Expired},
		{"nothing to create from", 410, CodeSnapshotNotFound, "expired", create, backends.Expired},
		{"stopping", 422, CodeStopping, "wait", readSession, backends.NotRunning},
		{"snapshotting", 422, CodeSnapshotting, "wait", readSession, backends.NotRunning},
		{"region", 422, CodeSnapshotRegion, "elsewhere", create, backends.Invalid},
		{"region, other status", 409 + 2, CodeSnapshotRegion, "elsewhere", create, backends.Invalid},
		{"executable", 400, CodeExecutableNotFound, "nope", start, backends.Invalid},
		{"executable, other status", 424, CodeExecutableNotFound, "nope", start, backends.Invalid},
		{"too large", 413, "too_large", "no", create, backends.Invalid},
		{"quota", 429, "rate_limited", "no", create, backends.RateLimited},
		{"server", 500, "internal", "no", read, backends.Failed},
		{"gateway", 504, "timeout", "no", read, backends.TimedOut},
		{"teapot", 418, "teapot", "no", read, backends.Failed},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.send(t, clientOf(t, serve(t, alwaysError(test.status, test.code, test.message)), func(c *Config) { c.Retries = -1 }))
			wantKind(t, err, test.kind)
			if CodeOf(err) != test.code || StatusOf(err) != test.status {
				t.Errorf("got the code %q and the status %d", CodeOf(err), StatusOf(err))
			}
			if !strings.Contains(err.Error(), test.message) {
				t.Errorf("the API's message is lost: %v", err)
			}
			if got, want := InTransition(err), test.status == 422 && test.kind == backends.NotRunning; got != want {
				t.Errorf("InTransition is %v", got)
			}
			if got, want := Ended(err), test.status == 410 && test.kind == backends.NotRunning; got != want {
				t.Errorf("Ended is %v", got)
			}
			if Ambiguous(err) {
				t.Error("an answer below 500 is not ambiguous, nor is a failed read")
			}
		})
	}
}

// TestErrorPages: the status decides, the page is not shown. A 404 of a proxy is no absence.
func TestErrorPages(t *testing.T) {
	for status, kind := range map[int]backends.ErrorKind{
		401: backends.Unauthorized, 403: backends.Unauthorized, 404: backends.Failed, 429: backends.RateLimited,
		502: backends.Failed, 410: backends.Expired, 400: backends.Invalid,
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html><h1>PageCanary</h1></html>"))
		})
		err := read(t, clientOf(t, s))
		wantKind(t, err, kind)
		if strings.Contains(err.Error(), "PageCanary") {
			t.Errorf("%d: the page is shown: %v", status, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	other := serve(t, always(200, stateObject()))
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/api/v2/sandboxes/demo", status)
		})
		c := clientOf(t, s)
		wantKind(t, read(t, c), backends.Failed)
		wantKind(t, create(t, c), backends.Failed)
		wantKind(t, remove(t, c), backends.Failed)
		wantRequests(t, s, 3)
	}
	wantRequests(t, other, 0)

	moved := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v2/sandboxes/demo" {
			http.Redirect(w, r, "/api/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		reply(w, 200, stateObject())
	}
	s := serve(t, moved)
	if err := read(t, clientOf(t, s)); err != nil {
		t.Errorf("a read may follow on the same host: %v", err)
	}
	if last := s.all()[1]; last.header.Get("Authorization") == "" || last.path != "/api/elsewhere" {
		t.Errorf("got %+v", last)
	}
	wantKind(t, remove(t, clientOf(t, s)), backends.Failed)
	loop := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
	wantKind(t, read(t, clientOf(t, loop)), backends.Failed)
	if len(loop.all()) > 5 {
		t.Error("it runs in circles")
	}
}

func TestUnknownHostAndUntrustedServer(t *testing.T) {
	config := testConfig("http://127.0.0.1:1")
	err := read(t, newClient(t, config))
	wantKind(t, err, backends.Failed)
	untrusted := httptest.NewTLSServer(always(200, stateObject()))
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer untrusted.Close()
	config.BaseURL = untrusted.URL
	err = read(t, newClient(t, config))
	wantKind(t, err, backends.Failed)
	if !strings.Contains(err.Error(), "certificate") {
		t.Errorf("the reason is lost: %v", err)
	}
}

func TestLocalChecks(t *testing.T) {
	s := serve(t, anyAnswer)
	c := clientOf(t, s)
	ctx := t.Context()
	for name, send := range map[string]func() error{
		"no name":            func() error { _, err := c.CreateSandbox(ctx, CreateRequest{}); return err },
		"reserved name":      func() error { _, err := c.CreateSandbox(ctx, CreateRequest{Name: "sessions"}); return err },
		"long name":          func() error { _, err := c.GetSandbox(ctx, strings.Repeat("a", 129)); return err },
		"slash":              func() error { _, err := c.GetSandbox(ctx, "a/b"); return err },
		"dots":               func() error { _, err := c.DeleteSandbox(ctx, "..", true); return err },
		"reserved read":      func() error { _, err := c.ResumeSandbox(ctx, "snapshots"); return err },
		"reserved update":    func() error { _, err := c.UpdateSandbox(ctx, "drives", UpdateRequest{}); return err },
		"fork to no name":    func() error { _, err := c.ForkSandbox(ctx, "demo", ForkRequest{}); return err },
		"fork of a bad name": func() error { _, err := c.ForkSandbox(ctx, "a b", ForkRequest{Name: "f"}); return err },
		"snapshot and runtime": func() error {
			_, err := c.CreateSandbox(ctx, CreateRequest{Name: "a", Source: FromSnapshot("s"), Runtime: "node22"})
			return err
		},
		"snapshot and image": func() error {
			_, err := c.CreateSandbox(ctx, CreateRequest{Name: "a", Source: FromSnapshot("s"), Image: "i"})
			return err
		},
		"runtime and image": func() error {
			_, err := c.CreateSandbox(ctx, CreateRequest{Name: "a", Runtime: "node22", Image: "i"})
			return err
		},
		"empty session":     func() error { _, err := c.GetSession(ctx, ""); return err },
		"session of dots":   func() error { _, err := c.StopSession(ctx, ".."); return err },
		"empty command":     func() error { _, err := c.GetCommand(ctx, "sbx_S", ""); return err },
		"empty snapshot":    func() error { _, err := c.DeleteSnapshot(ctx, ""); return err },
		"relative file":     func() error { _, err := c.ReadFile(ctx, "sbx_S", "a"); return err },
		"file above":        func() error { return c.WriteFiles(ctx, "sbx_S", File{Path: "/a/../../b"}) },
		"root as directory": func() error { return c.MakeDir(ctx, "sbx_S", "/") },
		"prefix by other order": func() error {
			return drain(c.ListSandboxes(ctx, SandboxFilter{NamePrefix: "a", SortBy: SortByCreation}))
		},
		"status by other order": func() error {
			return drain(c.ListSandboxes(ctx, SandboxFilter{Status: StatusRunning, SortBy: SortByName}))
		},
		"policy without a mode":  func() error { _, err := c.SetNetworkPolicy(ctx, "sbx_S", NetworkPolicy{}); return err },
		"adopt without any tags": func() error { _, err := c.Reconcile(ctx, "demo", nil); return err },
	} {
		if err := send(); !errors.Is(err, backends.Invalid) {
			t.Errorf("%s: got %v, want that it is invalid", name, err)
		}
	}
	wantRequests(t, s, 0)
	if _, err := c.GetSnapshot(ctx, "a/../b c?d"); err != nil {
		t.Error(err)
	}
	if got := s.all()[0].path; got != "/api/v2/sandboxes/snapshots/a%2F..%2Fb%20c%3Fd" {
		t.Errorf("an id leads elsewhere: %s", got)
	}
}
