package acceptance_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// everyCrashVariable asks for a kill at every point, where a sample is the default: the tests of
// packages basesnapshot and workspace kill at every point, too.
const everyCrashVariable = "SANDLOT_TEST_EVERY_CRASH"

// laneCrashConfig has a base snapshot and a session that starts from it, with all that can be left
// half done: a bake, an overlay, a migration, a session that is saved and one that is restored.
const laneCrashConfig = `
variable "text" { default = "one" }
variable "template" { default = "1" }
variable "state" { default = "running" }

resource "sandlot_base_snapshot" "it" {
  backend = %[1]q
  app     = "shop"
  manifest = {
    name             = "web"
    template_version = %[2]q
    commands         = [["sh", "-c", "echo ${var.text} > base.txt"]]
    template_files   = { "tool" = { content = "tool" } }
%[3]s
  }
  smoke_checks = [{ command = ["cat", "base.txt"], expect = var.text }]
  retention    = { min_age = "0s", purge = true }
  on_destroy   = "purge"
}

resource "sandlot_workspace_runtime" "it" {
  backend       = %[1]q
  workspace_id  = "crash-%[2]s"
  kind          = "session"
  base_snapshot = { id = sandlot_base_snapshot.it.snapshot_id, version = sandlot_base_snapshot.it.version }
  template = {
    version = var.template
    files   = { "t/file" = { content = "template" } }
    migrate = { command = ["sh", "-c", "echo $SANDLOT_TEMPLATE_TO > t/file"] }
  }
  desired_state      = var.state
  checkpoint_trigger = var.template
  on_destroy         = "purge"
  setup              = [{ command = ["sh", "-c", "head -c 32 /dev/urandom > kept"] }]
}
`

var laneCrashSources = map[string]string{"local": "", "vercel": "", "docker": "    source = { image = \"sandlot-test/busybox:1\" }"}

// laneCrashChain bakes, provisions, rotates, migrates, saves, restores and purges.
func laneCrashChain() crashChain {
	rotated := []acctest.Option{acctest.Var("text", "two"), acctest.Var("template", "2")}
	return crashChain{
		name: "lanes",
		steps: []crashStep{
			{name: "create"},
			{name: "rotate and stop", options: append(slices.Clone(rotated), acctest.Var("state", "stopped"))},
			{name: "restore", options: rotated, keeps: true},
			{name: "destroy", options: rotated, destroy: true},
		},
		config: func(r *crashRun) string {
			return fmt.Sprintf(laneCrashConfig, r.backend, r.Tag, laneCrashSources[r.backend])
		},
		sample:    sampleCrashes,
		killed:    (*crashRun).laneStands,
		plansOnce: true,
		saves:     true,
	}
}

// onceOf leaves the first of each row of points that are all alike.
func onceOf(alike func(crashPoint) bool, points []crashPoint) []crashPoint {
	var chosen []crashPoint
	for i, point := range points {
		if i == 0 || !alike(point) || !alike(points[i-1]) {
			chosen = append(chosen, point)
		}
	}
	return chosen
}

// sampleSessions counts the commands and uploads that follow on each other in one session of a platform
// once: a command that looks for a file is a request like one that writes it.
func sampleSessions(backend string, _ int, points []crashPoint) []crashPoint {
	if os.Getenv(everyCrashVariable) != "" || backend != "vercel" {
		return points
	}
	return onceOf(func(point crashPoint) bool {
		return strings.HasSuffix(point.label, "-cmd") || strings.HasSuffix(point.label, "-fs-write")
	}, points)
}

// sampleCrashes takes points in equal steps. What a backend does while it makes one sandbox aside
// (its staging) counts once: the tests of the other chains kill there.
func sampleCrashes(backend string, step int, points []crashPoint) []crashPoint {
	if os.Getenv(everyCrashVariable) != "" {
		return points
	}
	chosen := onceOf(func(point crashPoint) bool { return strings.HasPrefix(point.object, "local/staging/") }, points)
	chosen = sampleSessions(backend, step, chosen)
	stride := map[string]int{"local": 7, "docker": 11, "vercel": 4}[backend]
	var sample []crashPoint
	for i := step % stride; i < len(chosen); i += stride {
		sample = append(sample, chosen[i])
	}
	return sample
}

// laneStands checks what a killed step left: a lane that once had a current snapshot has one that is
// there (a purge deletes it before it forgets it), and a workspace that says it is ready has its
// template.
func (r *crashRun) laneStands(step crashStep) {
	r.t.Helper()
	file := filepath.Join(r.DataDir, "sandlot.db")
	if _, err := os.Stat(file); err != nil {
		return // killed before the store was made
	}
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	var current string
	switch err := db.QueryRow(`SELECT snapshot_id FROM snapshots WHERE is_current = 1`).Scan(&current); {
	case err == nil && !step.destroy && !r.hasSnapshot(current):
		r.t.Errorf("%s: the lane points at %s, which is not there", step.name, current)
	case err != nil && step.name != "create" && !step.destroy:
		r.t.Errorf("%s: the lane points at nothing: %v", step.name, err)
	}
	var state string
	err = db.QueryRow(`SELECT COALESCE(workspace, '') FROM records WHERE kind = 'session' AND committed`).Scan(&state)
	if err == nil && step.name == "create" && strings.Contains(state, `"ready"`) && r.workspaceFile(r.box(), "t/file") == "" {
		r.t.Errorf("%s: the workspace is ready, and its template is not there", step.name)
	}
}

func (r *crashRun) hasSnapshot(id string) bool {
	r.t.Helper()
	if r.engine != nil {
		return len(r.engine.Objects("sandlot.snapshot="+id).Images) > 0
	}
	if r.cloud != nil {
		return slices.Contains(r.cloud.snapshots(), id)
	}
	_, err := os.Stat(filepath.Join(r.DataDir, "local", "snapshots", id+".tar.zst"))
	return err == nil
}
