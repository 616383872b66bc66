package api

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func TestWaitSession(t *testing.T) {
	is := func(status string) http.HandlerFunc {
		return always(200, object{"session": sessionObject(object{"status": status}), "routes": []any{}})
	}
	running := func(s Session) bool { return s.Status == StatusRunning }
	s := serve(t, inTurn(is("pending"), is("pending"), is("running")))
	session, err := clientOf(t, s).WaitSession(t.Context(), "sbx_S", running)
	if err != nil || session.Status != StatusRunning {
		t.Errorf("got %+v and %v", session, err)
	}
	wantRequests(t, s, 3)
	for _, status := range []string{"stopped", "failed", "aborted"} {
		s := serve(t, is(status))
		start := time.Now()
		session, err := clientOf(t, s).WaitSession(t.Context(), "sbx_S", running)
		wantKind(t, err, backends.NotRunning)
		if session.Status != Status(status) || time.Since(start) > time.Second {
			t.Errorf("got %+v", session)
		}
		wantRequests(t, s, 1)
	}
	s = serve(t, inTurn(is("stopping"), is("stopped")))
	if _, err := clientOf(t, s).WaitSession(t.Context(), "sbx_S", func(s Session) bool { return s.Status.Terminal() }); err != nil {
		t.Errorf("a wanted end is no failure: %v", err)
	}
	s = serve(t, alwaysError(404, CodeNotFound, "no"))
	_, err = clientOf(t, s).WaitSession(t.Context(), "sbx_S", running)
	wantKind(t, err, backends.NotFound)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = clientOf(t, serve(t, is("dreaming"))).WaitSession(ctx, "sbx_S", running)
	wantKind(t, err, backends.TimedOut)
}

func TestWaitSandbox(t *testing.T) {
	is := func(status, snapshot string) http.HandlerFunc {
		return always(200, stateObject(object{"sandbox": sandboxObject(object{"status": status, "currentSnapshotId": snapshot})}))
	}
	s := serve(t, inTurn(is("stopping", "snap_1"), is("stopped", "snap_1"), is("stopped", "snap_2")))
	state, err := clientOf(t, s).WaitSandbox(t.Context(), "demo", func(state SandboxState) bool {
		return state.Sandbox.Status == StatusStopped && state.Sandbox.CurrentSnapshotID != "snap_1"
	})
	if err != nil || state.Sandbox.CurrentSnapshotID != "snap_2" {
		t.Errorf("got %+v and %v", state, err)
	}
	for _, line := range s.lines() {
		if line != "GET /api/v2/sandboxes/demo?projectId=prj_p&resume=false&teamId=team_x" {
			t.Errorf("a wait must not wake: %s", line)
		}
	}
}

func TestWaitSnapshot(t *testing.T) {
	is := func(status string) http.HandlerFunc {
		return always(200, object{"snapshot": snapshotObject(object{"status": status})})
	}
	s := serve(t, inTurn(is("creating"), is("created")))
	if snapshot, err := clientOf(t, s).WaitSnapshot(t.Context(), "snap_1"); err != nil || snapshot.SizeBytes != 5 {
		t.Errorf("got %+v and %v", snapshot, err)
	}
	for status, kind := range map[string]backends.ErrorKind{"failed": backends.Failed, "deleted": backends.Expired} {
		_, err := clientOf(t, serve(t, is(status))).WaitSnapshot(t.Context(), "snap_1")
		wantKind(t, err, kind)
	}
}

func TestReconcile(t *testing.T) {
	tags := map[string]string{"sandlot-owner": "o", "sandlot-record": "r"}
	is := func(tags any, session ...object) http.HandlerFunc {
		return always(200, stateObject(object{"sandbox": sandboxObject(object{"tags": tags}), "session": sessionObject(session...)}))
	}
	gone := alwaysError(404, CodeNotFound, "no such sandbox")
	mine := object{"sandlot-owner": "o", "sandlot-record": "r", "users": "own"}
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		kind    backends.ErrorKind
	}{
		{"ours", is(mine), ""},
		{"ours, in this project", is(mine, object{"projectId": testProject}), ""},
		{"ours, late", inTurn(gone, gone, is(mine)), ""},
		{"never there", gone, backends.NotFound},
		{"no tags", is(absent), backends.NotOurs},
		{"another owner", is(object{"sandlot-owner": "p", "sandlot-record": "r"}), backends.NotOurs},
		{"another record", is(object{"sandlot-owner": "o", "sandlot-record": "q"}), backends.NotOurs},
		{"one tag only", is(object{"sandlot-owner": "o"}), backends.NotOurs},
		{"another project", is(mine, object{"projectId": "prj_q"}), backends.NotOurs},
		{"another name", always(200, stateObject(object{"sandbox": sandboxObject(object{"name": "else", "tags": mine})})), backends.NotOurs},
		{"no permission", alwaysError(403, "forbidden", "no"), backends.Unauthorized},
		{"404 of someone else", always(404, "no such page"), backends.Failed},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, test.handler)
			state, err := clientOf(t, s).Reconcile(t.Context(), "demo", tags)
			if test.kind != "" {
				wantKind(t, err, test.kind)
			} else if err != nil || state.Sandbox.Name != "demo" {
				t.Errorf("got %+v and %v", state, err)
			}
			for _, line := range s.lines() {
				if line != "GET /api/v2/sandboxes/demo?projectId=prj_p&resume=false&teamId=team_x" {
					t.Errorf("it must look and no more: %s", line)
				}
			}
		})
	}
}

// TestLostCreate is the whole way: the reply of a create is lost after its effect, and the sandbox
// is found by its name and tags, once.
func TestLostCreate(t *testing.T) {
	made := false
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			made = true
			panic(http.ErrAbortHandler)
		case made:
			reply(w, 200, stateObject(object{"sandbox": sandboxObject(object{"tags": object{"sandlot-record": "r"}})}))
		default:
			replyError(w, 404, CodeNotFound, "no")
		}
	})
	c := clientOf(t, s)
	_, err := c.CreateSandbox(t.Context(), CreateRequest{Name: "demo", Tags: map[string]string{"sandlot-record": "r"}})
	if !Ambiguous(err) {
		t.Fatalf("got %v", err)
	}
	if _, err := c.Reconcile(t.Context(), "demo", map[string]string{"sandlot-record": "r"}); err != nil {
		t.Error(err)
	}
	wantRequests(t, s, 2)
}
