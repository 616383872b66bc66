package acceptance_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// crashStep is an operation that is cut short at each of its writes.
type crashStep struct {
	name string
	// options select what the configuration says; destroy makes it a destroy.
	options []acctest.Option
	destroy bool
	// keeps is true when the workspace before this step must still be there after it.
	keeps bool
}

// crashChain is a life that a sandbox goes through. In one pass each of its steps is killed once.
type crashChain struct {
	name  string
	steps []crashStep
	// config is the configuration, crashConfig when nil.
	config func(r *crashRun) string
	// sample picks the points that are tried, all of them when nil.
	sample func(backend string, step int, points []crashPoint) []crashPoint
	// killed judges what a killed step left, before the next one.
	killed func(r *crashRun, step crashStep)
	// plansOnce leaves the plan after a step to the last one.
	plansOnce bool
	// saves is true when the sandbox is a session that is saved, once more after a crash: what a killed
	// run saved may be older than the files are. The saved ones go with the sandbox.
	saves bool
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
  setup = [{ command = ["/bin/sh", "-c", "head -c 32 /dev/urandom > kept"] }]
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
	"vercel": "  ports  = [{ port = 3000, public = true }]\n  labels = { team = \"a\" }\n",
}

func crashChains() []crashChain {
	purge := acctest.Var("on_destroy", "purge")
	next := acctest.Var("generation", "2")
	update := []acctest.Option{
		acctest.Var("environment", "two"), acctest.Var("secret", "second-secret"), acctest.Var("secret_version", "2"),
		acctest.Var("checkpoint", "1"), acctest.Var("text", "two"),
	}
	with := func(lists ...[]acctest.Option) []acctest.Option { return slices.Concat(lists...) }
	return []crashChain{
		{name: "purging", sample: sampleSessions, steps: []crashStep{
			{name: "create", options: with([]acctest.Option{purge})},
			{name: "update", options: with(update, []acctest.Option{purge}), keeps: true},
			{name: "replace", options: with(update, []acctest.Option{purge, next})},
			{name: "destroy", options: with(update, []acctest.Option{purge, next}), destroy: true},
		}},
		{name: "retaining", sample: sampleSessions, steps: []crashStep{
			{name: "create"},
			{name: "destroy", destroy: true, keeps: true},
			{name: "re-attach", options: with(update), keeps: true},
			{name: "replace", options: with(update, []acctest.Option{next})},
		}},
	}
}

// TestCrash kills the plugin right before each write of each step and after the last one, and runs
// the step again: it must end where an undisturbed one does, with nothing left over and nothing
// doubled. The points are those of a recorded run.
func TestCrash(t *testing.T) {
	for _, backend := range chosen(everywhere()) {
		for _, chain := range append(crashChains(), laneCrashChain()) {
			t.Run(backend+"/"+chain.name, func(t *testing.T) {
				t.Parallel()
				runCrashChain(t, backend, chain)
			})
		}
	}
}

func runCrashChain(t *testing.T, backend string, chain crashChain) {
	clis := acctest.CLIs(t)
	if len(clis) == 0 {
		t.Skip("no CLI is there")
	}
	clean := newCrashRun(t, clis[0], backend, chain)
	points, wanted, passes := make([][]crashPoint, len(chain.steps)), make([]string, len(chain.steps)), 0
	for i, step := range chain.steps {
		record := filepath.Join(t.TempDir(), "effects")
		clean.operate(step, acctest.Env("SANDLOT_CRASHTEST_RECORD", record)).Succeed()
		clean.settled(step)
		clean.kept = clean.checkKept(step)
		wanted[i], points[i] = clean.inventory(), crashPoints(t, record)
		found := len(points[i])
		if chain.sample != nil {
			points[i] = chain.sample(backend, i, points[i])
		}
		passes = max(passes, len(points[i]))
		t.Logf("%s: %d points, %d of them are tried", step.name, found, len(points[i]))
	}
	for pass := range passes {
		// The passes alternate between the CLIs: what is tested is the plugin.
		cli := clis[pass%len(clis)]
		t.Run(fmt.Sprintf("pass_%02d", pass), func(t *testing.T) {
			t.Parallel()
			run := newCrashRun(t, cli, backend, chain)
			for i, step := range chain.steps {
				if pass < len(points[i]) {
					run.killAt(step, points[i][pass])
					if chain.killed != nil {
						chain.killed(run, step)
					}
				}
				run.operate(step).Succeed()
				if !chain.plansOnce || step.destroy || chain.steps[i+1].destroy {
					run.settled(step)
				}
				run.kept = run.checkKept(step)
				if found := run.inventory(); found != wanted[i] {
					t.Fatalf("%s, pass %d: after a crash:\n%s\nundisturbed:\n%s", step.name, pass, found, wanted[i])
				}
			}
		})
	}
}

// killAt runs a step that does not survive a point.
func (r *crashRun) killAt(step crashStep, point crashPoint) {
	r.t.Helper()
	r.t.Logf("%s is killed at %s", step.name, point.label)
	killed := r.operate(step, acctest.Env("SANDLOT_CRASHTEST_KILL_AT", fmt.Sprint(point.number)))
	if killed.ExitCode == 0 {
		r.t.Fatalf("the plugin was not killed at %s:\n%s", point.label, killed)
	}
}

// crashRun is one workspace in which a chain runs.
type crashRun struct {
	*acctest.Workspace
	t       *testing.T
	backend string
	engine  *acctest.Engine
	cloud   *platform
	saves   bool
	// kept is what a command inside wrote when the sandbox was made.
	kept string
}

func newCrashRun(t *testing.T, cli acctest.CLI, backend string, chain crashChain) *crashRun {
	t.Helper()
	run := &crashRun{Workspace: acctest.NewWorkspace(t, cli, acctest.Build(t, "crashtest")), t: t, backend: backend, saves: chain.saves}
	switch backend {
	case "docker":
		run.engine = acctest.DockerEngine(t)
		dockerImage(t)
		run.engine.CleanUp("sandlot.owner=" + run.Owner)
	case "vercel":
		run.cloud = newPlatform(t, run.Workspace)
	default:
		testkit.Bubblewrap(t)
	}
	if chain.config != nil {
		run.Config(chain.config(run))
	} else {
		run.Config(fmt.Sprintf(crashConfig, backend, "crash-"+run.Tag, crashBackends[backend]))
	}
	return run
}

// operate runs a step.
func (r *crashRun) operate(step crashStep, more ...acctest.Option) *acctest.Result {
	options := slices.Concat(step.options, more)
	if step.destroy {
		return r.Destroy(options...)
	}
	return r.Apply(options...)
}

// settled checks what a user sees after a step: nothing more to do.
func (r *crashRun) settled(step crashStep) {
	r.t.Helper()
	if !step.destroy {
		r.Plan(step.options...).Empty()
	} else if left := r.Show().Addresses(); len(left) > 0 {
		r.t.Fatalf("the state still holds %v", left)
	}
}

// checkKept checks that the data that has to be there is, and returns what the next step has to keep:
// a stopped session has its files elsewhere.
func (r *crashRun) checkKept(step crashStep) string {
	r.t.Helper()
	content := r.workspaceFile(r.box(), "kept")
	if step.keeps && (content == "" || content != r.kept) {
		r.t.Errorf("%s: the file in the workspace changed from %q to %q", step.name, r.kept, content)
	}
	if content == "" && r.saves {
		return r.kept
	}
	return content
}

// box is the name of the sandbox.
func (r *crashRun) box() string { return "sandlot-dev-ws-" + workspaceHash("crash-"+r.Tag) }

// workspaceFile reads a file of a workspace past the provider, "" when there is none.
func (r *crashRun) workspaceFile(name, file string) string {
	r.t.Helper()
	if r.cloud != nil {
		content, _ := r.cloud.readFile(name, file)
		return string(content)
	}
	if r.backend == "docker" {
		if _, found := r.engine.Container(name); !found {
			return ""
		}
		content, _ := r.engine.ReadFile(name, "/workspace/"+file)
		return string(content)
	}
	content, err := os.ReadFile(filepath.Join(r.DataDir, "local", "sandboxes", name, "workspace", file))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(content)
}

// inventory counts everything that is there, with what differs between two runs taken out.
func (r *crashRun) inventory() string {
	r.t.Helper()
	var b strings.Builder
	there := strings.Contains(string(r.StateFile()), `"sandlot_workspace_runtime"`)
	if r.engine != nil {
		objects := r.engine.Objects("sandlot.owner=" + r.Owner)
		fmt.Fprintf(&b, "containers %d, volumes %d, images %d, networks %d\n", len(objects.Containers), len(objects.Volumes), len(objects.Images), len(objects.Networks))
	}
	if r.cloud != nil {
		b.WriteString(r.cloud.described(func(snapshot simulator.SnapshotEntry) bool {
			return r.saves && there && snapshot.Sandbox == r.box() && !snapshot.Automatic
		}))
	}
	for _, folder := range []string{"sandboxes", "snapshots", "staging", "trash"} {
		entries, err := os.ReadDir(filepath.Join(r.DataDir, "local", folder))
		if err != nil && !os.IsNotExist(err) {
			r.t.Fatal(err)
		}
		if r.saves && there {
			entries = slices.DeleteFunc(entries, func(entry os.DirEntry) bool { return strings.HasPrefix(entry.Name(), r.box()) && folder == "snapshots" })
		}
		fmt.Fprintf(&b, "%s %d\n", folder, len(entries))
	}
	b.WriteString(storeRows(r.t, r.DataDir))
	return b.String()
}

type crashPoint struct {
	number int
	label  string
	object string
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
		last = crashPoint{number: number, label: strings.ReplaceAll(strings.Join(fields[1:4], "_"), "/", "-"), object: fields[4]}
		if fields[1] == "before" {
			points = append(points, last)
		}
	}
	return append(points, last)
}
