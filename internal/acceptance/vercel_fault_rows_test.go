package acceptance_test

import (
	"net/http"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

const (
	vercelCreates  = "/v3/sandboxes"
	vercelSessions = "/v2/sandboxes/sessions/*/"
)

// vercelFaults are the rows.
func vercelFaults() []vercelFault {
	made := func(f *faultRun) { f.settled() }
	bare := func(f *faultRun) { f.Config(f.vercelBox(f.lines...)); f.settled(); f.configure() }
	stopped := func(f *faultRun) { f.settled(); f.cloud.stop(f.name()) }
	plan := func(f *faultRun) *acctest.Result { return f.Plan().Result }
	destroy := func(f *faultRun) *acctest.Result { return f.Destroy() }
	changed := func(lines ...string) func(f *faultRun) *acctest.Result {
		return func(f *faultRun) *acctest.Result { f.configure(lines...); return f.Apply() }
	}
	kept := func(f *faultRun) {
		f.t.Helper()
		if !f.exists(f.name()) || f.Show().Text(vercelAddress, "status") == "missing" {
			f.t.Error("it is gone, or said to be")
		}
	}
	const always = -1
	return []vercelFault{
		{
			name:     "create answered with 429 and Retry-After",
			faults:   []simulator.Fault{{Method: http.MethodPost, Path: vercelCreates, Status: 429, Code: "rate_limited", Header: map[string]string{"Retry-After": "1"}}},
			sessions: 1,
		},
		{name: "create answered with 500 after its effect", faults: []simulator.Fault{{Method: http.MethodPost, Path: vercelCreates, Status: 500, Effect: true}}, sessions: 1},
		{name: "create whose reply is lost", faults: []simulator.Fault{{Method: http.MethodPost, Path: vercelCreates, Cut: simulator.CutAfter}}, sessions: 1},
		{
			name: "create while the image is prepared", lines: []string{`source = { image = "team/project/image:1" }`},
			faults: []simulator.Fault{simulator.ImageNotReady(2)}, sessions: 1,
		},
		{
			name: "create of a name that somebody else has", before: func(f *faultRun) {
				_, err := f.cloud.client.CreateSandbox(f.t.Context(), api.CreateRequest{Name: f.name(), Ports: []int{}})
				f.cloud.check(err)
			},
			code: "not_ours", says: []string{"exists already and is not ours", "Choose another name"},
			holds: func(f *faultRun) {
				if there := f.cloud.must(f.name()); len(there.Tags) > 0 || there.Status != "running" || len(f.Show().Addresses()) > 0 {
					f.t.Errorf("it is %+v by now", there)
				}
			},
			mend: func(f *faultRun) { f.cloud.remove(f.name()) }, sessions: 1,
		},
		{
			// Everything is refused from the look at the new sandbox on, its removal included.
			name:   "token revoked in the middle of an apply",
			faults: []simulator.Fault{{Method: http.MethodGet, Path: "/v2/sandboxes/box-*", Skip: 1, Status: 403, Code: "forbidden", Message: "The token was revoked.", Count: always}},
			code:   "unauthorized", says: []string{"refused the token for this team and project", "The token was revoked.", "clean up after the failed create"},
			holds: func(f *faultRun) {
				if f.cloud.must(f.name()); !f.Show().Tainted(vercelAddress) {
					f.t.Error("the state does not keep what was left behind")
				}
			},
			sessions: 2,
		},
		{
			name: "refresh with the credentials of another team", before: made,
			command: func(f *faultRun) *acctest.Result {
				f.Setenv("VERCEL_TEAM_ID", "team_other")
				f.cloud.server.ResetRequests()
				return plan(f)
			},
			code: "other_binding", says: []string{simulator.DefaultTeam + "/" + simulator.DefaultProject.ID, "team_other/" + simulator.DefaultProject.ID, "Nothing was accessed"},
			holds: func(f *faultRun) {
				kept(f)
				if sent := f.cloud.server.Requests(); len(sent) > 0 {
					f.t.Errorf("%d requests were sent", len(sent))
				}
			},
			mend: func(f *faultRun) { f.Setenv("VERCEL_TEAM_ID", simulator.DefaultTeam) },
		},
		{
			name: "refresh answered with 401", before: made, command: plan, faults: []simulator.Fault{{Status: 401, Code: "forbidden", Count: always}},
			code: "unauthorized", says: []string{"Check that the token is valid"}, holds: kept,
		},
		{
			name: "refresh answered with a 404 that is not the API's", before: made, command: plan,
			faults: []simulator.Fault{{Status: 404, Body: "<html>Not here</html>", Count: always}},
			code:   "failed", says: []string{"It answered 404, but not in the form of the API", "base_url"}, holds: kept,
		},
		{
			name: "refresh with an endless answer", before: made, command: plan,
			faults: []simulator.Fault{{Method: http.MethodGet, Body: strings.Repeat("[", 64<<10), Endless: true, Header: map[string]string{"Content-Type": "application/json"}, Count: always}},
			code:   "failed", says: []string{"longer than any that the API would give"}, holds: kept,
		},
		{
			name: "update whose reply is lost", before: made, command: changed(`environment = { A = "2" }`),
			faults: []simulator.Fault{{Method: http.MethodPatch, Cut: simulator.CutAfter}},
			holds: func(f *faultRun) {
				if env := f.cloud.must(f.name()).Env; env["A"] != "2" {
					f.t.Errorf("the environment is %v", env)
				}
			},
		},
		{
			name: "stop whose reply is lost", before: made, command: changed(`desired_state = "stopped"`),
			faults: []simulator.Fault{{Method: http.MethodPost, Path: vercelSessions + "stop", Cut: simulator.CutAfter}},
			holds: func(f *faultRun) {
				if there := f.cloud.must(f.name()); there.Status != "stopped" || there.Snapshot == "" {
					f.t.Errorf("it is %+v", there)
				}
			},
		},
		{
			name: "stop that goes on after its reply", settings: simulator.Settings{LazyStop: 1500, ImpatientResume: true}, before: made, command: destroy,
			holds: func(f *faultRun) {
				if there := f.cloud.must(f.name()); there.Status != "stopped" || there.Snapshot == "" {
					f.t.Errorf("it is %+v", there)
				}
			},
			mend: func(f *faultRun) { f.configure(`desired_state = "running"`) }, sessions: 1,
		},
		{
			name: "checkpoint whose reply is lost", before: made, command: changed(`checkpoint_trigger = "1"`),
			faults: []simulator.Fault{{Method: http.MethodPost, Path: vercelSessions + "snapshot", Cut: simulator.CutAfter}},
			holds: func(f *faultRun) {
				if taken := f.cloud.server.Inventory().Snapshots; len(taken) != 1 || taken[0].Automatic || taken[0].ID != f.Show().Text(vercelAddress, "current_snapshot_id") {
					f.t.Errorf("there are %+v", taken)
				}
			},
			sessions: 1,
		},
		{
			name: "start from a snapshot that has expired", before: func(f *faultRun) {
				stopped(f)
				f.cloud.check(f.cloud.server.ExpireSnapshot(f.cloud.must(f.name()).Snapshot))
			},
			command: changed(`desired_state = "running"`), code: "expired", says: []string{"has expired or was deleted", "The name still exists, the data does not"},
			holds: func(f *faultRun) {
				kept(f)
				f.Apply(acctest.Args("-refresh-only")).Succeed()
				if f.Show().Text(vercelAddress, "resumable") != "false" {
					f.t.Error("it is said to be resumable")
				}
			},
			mend: func(f *faultRun) {
				// The data is gone, so there is nothing to keep: it is thrown away and made anew.
				f.lines = nil
				f.configure(`on_destroy = "purge"`)
				f.Apply().Succeed()
				f.Destroy().Succeed()
			},
			sessions: 1,
		},
		{
			name: "command whose stream is cut", before: bare, more: vercelCommand(`for i in 1 2 3; do echo $i; sleep 0.3; done`),
			faults: []simulator.Fault{{Method: http.MethodGet, Path: vercelSessions + "cmd/*/logs", CutAfterLines: 1, Count: 2}},
			holds: func(f *faultRun) {
				if printed := f.Show().Text("sandlot_command.it", "stdout"); printed != "1\n2\n3\n" {
					f.t.Errorf("it printed %q", printed)
				}
			},
		},
		{
			name: "command in the window before a stop", before: bare, more: vercelCommand(`echo once >> ran.txt; cat ran.txt`),
			faults: []simulator.Fault{{Method: http.MethodPost, Path: vercelSessions + "cmd", Status: 422, Code: "sandbox_stopping"}},
			holds: func(f *faultRun) {
				if printed := f.Show().Text("sandlot_command.it", "stdout"); printed != "once\n" {
					f.t.Errorf("it printed %q", printed)
				}
			},
		},
		{
			name: "purge whose reply is lost", lines: []string{`on_destroy = "purge"`}, before: stopped, command: destroy, gone: true,
			faults: []simulator.Fault{{Method: http.MethodDelete, Path: "/v2/sandboxes/box-*", Cut: simulator.CutAfter}},
		},
		{
			name: "purge of what another sandbox would be resumed from", lines: []string{`on_destroy = "purge"`},
			before: func(f *faultRun) {
				stopped(f)
				_, err := f.cloud.client.CreateSandbox(f.t.Context(), api.CreateRequest{Name: "clone", Ports: []int{}, Source: api.FromSnapshot(f.cloud.must(f.name()).Snapshot)})
				f.cloud.check(err)
			},
			command: destroy, code: "conflict", says: []string{"The sandbox clone would be resumed from this snapshot", "Delete that sandbox first"}, holds: kept,
			mend: func(f *faultRun) { f.cloud.remove("clone") }, gone: true,
		},
	}
}

// vercelCommand runs a script in the sandbox.
func vercelCommand(script string) string {
	return `
resource "sandlot_command" "it" {
  sandbox_id = sandlot_persistent_sandbox.it.id
  command    = ["sh", "-c", "` + script + `"]
}
`
}
