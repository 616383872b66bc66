package acceptance_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// crashScenario is an operation that is cut short at each of its writes.
type crashScenario struct {
	name string
	// prepare brings the workspace to where the operation starts.
	prepare []acctest.Option
	// options select the operation; destroy makes it a destroy.
	options []acctest.Option
	destroy bool
	// keeps is true when the file that was written inside by the preparation must survive.
	keeps bool
}

// The configuration has what can be left half done: an environment with a secret, a volume, a
// checkpoint, a file and a command.
const crashConfig = `
variable "environment" { default = "one" }
variable "secret" {
  default   = "first-secret"
  ephemeral = true
}
variable "secret_version" { default = 1 }
variable "generation" { default = 1 }
variable "on_destroy" { default = "retain" }
variable "checkpoint" { default = "0" }
variable "text" { default = "one" }

resource "sandlot_persistent_sandbox" "it" {
  backend      = %q
  workspace_id = %q
%s
  environment                   = { STAGE = var.environment }
  secret_environment_wo         = { TOKEN = var.secret }
  secret_environment_wo_version = var.secret_version
  generation                    = var.generation
  on_destroy                    = var.on_destroy
  checkpoint_trigger            = var.checkpoint
  snapshot_retention            = { keep_last = 1 }
  setup = [{ command = ["/bin/sh", "-c", "echo kept > kept.txt"] }]
}

resource "sandlot_file" "it" {
  sandbox_id = sandlot_persistent_sandbox.it.id
  path       = "made/by-terraform.txt"
  content    = var.text
}

resource "sandlot_command" "it" {
  sandbox_id = sandlot_persistent_sandbox.it.id
  command    = ["/bin/sh", "-c", "echo $STAGE > stage.txt"]
  triggers   = { stage = var.environment }
}
`

var crashBackends = map[string]string{
	"local":  "",
	"docker": "  source  = { image = \"sandlot-test/busybox:1\" }\n  volumes = { cache = { target = \"/cache\" } }\n",
}

func crashScenarios() []crashScenario {
	update := []acctest.Option{
		acctest.Var("environment", "two"), acctest.Var("secret", "second-secret"), acctest.Var("secret_version", "2"),
		acctest.Var("checkpoint", "1"), acctest.Var("text", "two"),
	}
	purge := acctest.Var("on_destroy", "purge")
	next := acctest.Var("generation", "2")
	return []crashScenario{
		{name: "create"},
		{name: "update", prepare: []acctest.Option{}, options: update, keeps: true},
		{name: "replace", prepare: []acctest.Option{purge}, options: []acctest.Option{purge, next}},
		{name: "replace-retaining", prepare: []acctest.Option{}, options: []acctest.Option{next}},
		{name: "destroy-purging", prepare: append([]acctest.Option{purge}, update...), options: append([]acctest.Option{purge}, update...), destroy: true},
		{name: "destroy-retaining", prepare: []acctest.Option{}, destroy: true, keeps: true},
	}
}

// TestCrash kills the plugin right before each write of an operation and after the last one, and
// runs the operation again: it must end where an undisturbed one does, with nothing left over and
// nothing doubled. The points are those of a recorded run.
func TestCrash(t *testing.T) {
	for backend := range crashBackends {
		for _, scenario := range crashScenarios() {
			t.Run(backend+"/"+scenario.name, func(t *testing.T) {
				t.Parallel()
				runCrashScenario(t, backend, scenario)
			})
		}
	}
}

func runCrashScenario(t *testing.T, backend string, scenario crashScenario) {
	clis := acctest.CLIs(t)
	if len(clis) == 0 {
		t.Skip("no CLI is there")
	}
	clean := newCrashRun(t, clis[0], backend, scenario)
	record := filepath.Join(t.TempDir(), "effects")
	clean.operate(acctest.Env("SANDLOT_CRASHTEST_RECORD", record)).Succeed()
	clean.settled()
	wanted := clean.inventory()
	points := crashPoints(t, record)
	if len(points) == 0 {
		t.Fatal("no write was recorded")
	}
	for i, point := range points {
		// The points alternate between the CLIs: what is tested is the plugin.
		cli := clis[i%len(clis)]
		t.Run(fmt.Sprintf("%02d_%s", point.number, point.label), func(t *testing.T) {
			run := newCrashRun(t, cli, backend, scenario)
			killed := run.operate(acctest.Env("SANDLOT_CRASHTEST_KILL_AT", fmt.Sprint(point.number)))
			if killed.ExitCode == 0 {
				t.Fatalf("the plugin was not killed at %s:\n%s", point.label, killed)
			}
			run.operate().Succeed()
			run.settled()
			if found := run.inventory(); found != wanted {
				t.Errorf("after a crash at %s:\n%s\nundisturbed:\n%s", point.label, found, wanted)
			}
		})
	}
}

// crashRun is one workspace in which a scenario runs.
type crashRun struct {
	*acctest.Workspace
	t        *testing.T
	backend  string
	scenario crashScenario
	engine   *acctest.Engine
}

func newCrashRun(t *testing.T, cli acctest.CLI, backend string, scenario crashScenario) *crashRun {
	t.Helper()
	run := &crashRun{Workspace: acctest.NewWorkspace(t, cli, acctest.Build(t, "crashtest")), t: t, backend: backend, scenario: scenario}
	if backend == "docker" {
		run.engine = acctest.DockerEngine(t)
		dockerImage(t)
		run.engine.CleanUp("sandlot.owner=" + run.Owner)
	} else {
		needBubblewrap(t)
	}
	run.Config(fmt.Sprintf(crashConfig, backend, "crash-"+run.Tag, crashBackends[backend]))
	if scenario.prepare != nil {
		run.Apply(scenario.prepare...).Succeed()
	}
	return run
}

// operate runs the operation under test.
func (r *crashRun) operate(more ...acctest.Option) *acctest.Result {
	options := append(append([]acctest.Option{}, r.scenario.options...), more...)
	if r.scenario.destroy {
		return r.Destroy(options...)
	}
	return r.Apply(options...)
}

// settled checks what a user sees after the operation: nothing more to do, and the data that has to
// be there is.
func (r *crashRun) settled() {
	r.t.Helper()
	if !r.scenario.destroy {
		r.Plan(r.scenario.options...).Empty()
	} else if left := r.Show().Addresses(); len(left) > 0 {
		r.t.Fatalf("the state still holds %v", left)
	}
	if !r.scenario.keeps {
		return
	}
	if content := r.workspaceFile("kept.txt"); content != "kept\n" {
		r.t.Errorf("kept.txt holds %q", content)
	}
}

// workspaceFile reads a file of the first generation's workspace, past the provider.
func (r *crashRun) workspaceFile(name string) string {
	r.t.Helper()
	if r.backend == "docker" {
		containers := r.engine.Objects("sandlot.owner=" + r.Owner).Containers
		if len(containers) != 1 {
			r.t.Fatalf("expected one container, found %v", containers)
		}
		content, _ := r.engine.ReadFile(containers[0], "/workspace/"+name)
		return string(content)
	}
	matches, err := filepath.Glob(filepath.Join(r.DataDir, "local", "sandboxes", "*", "workspace", name))
	if err != nil || len(matches) != 1 {
		r.t.Fatalf("expected one %s, found %v (%v)", name, matches, err)
	}
	content, err := os.ReadFile(matches[0])
	if err != nil {
		r.t.Fatal(err)
	}
	return string(content)
}

// inventory counts everything that is there, with what differs between two runs taken out.
func (r *crashRun) inventory() string {
	r.t.Helper()
	var b strings.Builder
	if r.engine != nil {
		objects := r.engine.Objects("sandlot.owner=" + r.Owner)
		fmt.Fprintf(&b, "containers %d, volumes %d, images %d, networks %d\n", len(objects.Containers), len(objects.Volumes), len(objects.Images), len(objects.Networks))
	}
	for _, folder := range []string{"sandboxes", "snapshots", "staging", "trash"} {
		entries, err := os.ReadDir(filepath.Join(r.DataDir, "local", folder))
		if err != nil && !os.IsNotExist(err) {
			r.t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %d\n", folder, len(entries))
	}
	b.WriteString(storeRows(r.t, r.DataDir))
	return b.String()
}

type crashPoint struct {
	number int
	label  string
}

// crashPoints reads the points of a recorded run: the near side of each write, and the far side of
// the last. The far side of any other is the near side of the next: nothing changes in between.
func crashPoints(t *testing.T, record string) []crashPoint {
	t.Helper()
	content, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var points []crashPoint
	var last crashPoint
	for scanner := bufio.NewScanner(bytes.NewReader(content)); scanner.Scan(); {
		fields := strings.Split(scanner.Text(), "\t")
		var number int
		if _, err := fmt.Sscan(fields[0], &number); err != nil || len(fields) < 5 {
			t.Fatalf("unexpected line in the record: %q", scanner.Text())
		}
		last = crashPoint{number: number, label: strings.ReplaceAll(strings.Join(fields[1:4], "_"), "/", "-")}
		if fields[1] == "before" {
			points = append(points, last)
		}
	}
	return append(points, last)
}
