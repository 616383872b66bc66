package acceptance_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// TestVercelLookingMakesNoSession: plans and refreshes of sandboxes that run or are stopped, and of all that
// lives in them, make no session, and send nothing but reads and commands that only read. What cannot be
// seen in a stopped sandbox is an error, and no reason to start it.
func TestVercelLookingMakesNoSession(t *testing.T) {
	onOne(t, func(f *fixture) {
		running := f.block(persistent, "running", f.named("running"), seed) + f.block(session, "short", f.named("short")) + `
resource "sandlot_file" "running" {
  sandbox_id = sandlot_persistent_sandbox.running.id
  path       = "notes/a.txt"
  content    = "a"
}
resource "sandlot_command" "running" {
  sandbox_id = sandlot_file.running.sandbox_id
  command    = ["sh", "-c", "cat notes/a.txt; echo log >> notes/log.txt"]
}
data "sandlot_directory" "running" {
  record_id  = sandlot_persistent_sandbox.running.record_id
  recursive  = true
  depends_on = [sandlot_command.running]
}
data "sandlot_file" "log" {
  record_id  = sandlot_persistent_sandbox.running.record_id
  path       = "notes/log.txt"
  depends_on = [sandlot_command.running]
}
output "entries" { value = [for entry in data.sandlot_directory.running.entries : entry.path] }
output "log" { value = data.sandlot_file.log.content }
`
		stopped := f.block(persistent, "stopped", f.named("stopped"), seed) + `
resource "sandlot_file" "stopped" {
  sandbox_id = sandlot_persistent_sandbox.stopped.id
  path       = "notes/b.txt"
  content    = "b"
}
resource "sandlot_command" "stopped" {
  sandbox_id = sandlot_persistent_sandbox.stopped.id
  command    = ["true"]
}
`
		f.Config(running + stopped)
		f.settled()
		if log := f.Show().Output("log"); log != "log\n" {
			f.t.Errorf("the log is %q", log)
		}
		f.cloud.stop(f.Unique("stopped"))
		before := f.cloud.sessions()
		f.cloud.server.ResetRequests()
		for range 2 {
			f.Plan().Empty()
			f.Apply(acctest.Args("-refresh-only")).Succeed()
		}
		f.PlanDestroy().Succeed()
		sent := f.cloud.server.Requests()
		if len(sent) == 0 {
			f.t.Error("nothing was looked at")
		}
		for _, request := range sent {
			asks := request.Method == http.MethodGet && request.Query.Get("resume") != "true" ||
				request.Method == http.MethodPost && (strings.HasSuffix(request.Path, "/cmd") || strings.HasSuffix(request.Path, "/fs/read"))
			if !asks {
				f.t.Errorf("a look sent %s %s?%s", request.Method, request.Path, request.Query.Encode())
			}
		}

		f.Config(running + stopped + `
data "sandlot_directory" "stopped" { record_id = sandlot_persistent_sandbox.stopped.record_id }
`)
		f.Plan().FailWith("not_running")
		if made := f.cloud.sessions() - before; made != 0 {
			f.t.Errorf("looking made %d sessions", made)
		}
		if f.running(f.Unique("stopped")) || !f.running(f.Unique("running")) {
			f.t.Error("looking changed what runs")
		}
	}, "vercel")
}

// TestVercelRefreshByThePage: a refresh of 200 sandboxes, of which some are stopped, makes as many calls as
// there are pages of sandboxes and of snapshots, and no others. A page has 20 entries unless more are asked
// for, and how many more may be is not known (sections 6.3 and 14 of the contract).
func TestVercelRefreshByThePage(t *testing.T) {
	onOne(t, func(f *fixture) {
		const count, asleep, page = 200, 30, 20
		pages := func(entries int) int { return (entries + page - 1) / page }
		f.Config(fmt.Sprintf(`
resource "sandlot_persistent_sandbox" "it" {
  count   = %d
  backend = "vercel"
  name    = "%s-${count.index}"
}
`, count, f.Unique("box")))
		f.Apply(acctest.Args("-parallelism=20")).Succeed()
		for _, sandbox := range f.cloud.server.Inventory().Sandboxes[:asleep] {
			f.cloud.stop(sandbox.Name)
		}
		there := f.cloud.server.Inventory()
		if len(there.Sandboxes) != count || len(there.Snapshots) != asleep {
			f.t.Fatalf("there are %d sandboxes and %d snapshots", len(there.Sandboxes), len(there.Snapshots))
		}
		f.cloud.server.ResetRequests()
		f.Plan(acctest.Args("-parallelism=20")).Empty()
		var asked []string
		for _, request := range f.cloud.server.Requests() {
			asked = append(asked, request.Method+" "+request.Path)
		}
		slices.Sort(asked)
		want := slices.Concat(slices.Repeat([]string{"GET /api/v2/sandboxes"}, pages(count)), slices.Repeat([]string{"GET /api/v2/sandboxes/snapshots"}, pages(asleep)))
		if !slices.Equal(asked, want) {
			f.t.Errorf("the refresh sent %d requests, want %d: %v", len(asked), len(want), slices.Compact(asked))
		}
		if made := f.cloud.sessions() - there.SessionsMade; made != 0 {
			f.t.Errorf("the refresh made %d sessions", made)
		}
	}, "vercel")
}
