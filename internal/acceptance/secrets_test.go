package acceptance_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

const secretsConfig = `
variable "token" {
  ephemeral = true
  sensitive = true
}
variable "revision" {
  type    = number
  default = 1
}
variable "stage" { default = "one" }
variable "checkpoint" { default = "0" }

resource "sandlot_command" "hash" {
  sandbox_id = sandlot_persistent_sandbox.it.id
  command    = ["sh", "-c", "printf %s \"$TOKEN\" | sha256sum; sleep 2"]
  triggers   = { revision = var.revision, stage = var.stage }
}
`

// TestSecretsStandNowhere gives a secret by an ephemeral variable. A command inside sees it, and it
// stands in no state, backup, plan, log, argument vector, label, record, image or snapshot.
func TestSecretsStandNowhere(t *testing.T) {
	onEach(t, func(f *fixture) {
		if f.backend == "local" {
			testkit.Bubblewrap(f.t)
		}
		asleep := ""
		if f.cloud != nil {
			// A session that runs keeps its environment: each command has one of its own.
			asleep = `desired_state = "stopped"`
		}
		f.Config(secretsConfig + f.block(persistent, "it", f.workspaceID("secret"),
			`secret_environment_wo = { TOKEN = var.token }`, "secret_environment_wo_version = var.revision",
			asleep, `environment = { STAGE = var.stage }`, "checkpoint_trigger = var.checkpoint",
			`setup = [{ command = ["sh", "-c", "echo $TOKEN | wc -c; touch /tmp/x"] }]`))
		canaries := []string{"canary-one-" + f.Tag, "canary-two-" + f.Tag}
		log := filepath.Join(f.Home, "trace.log")
		f.Setenv("TF_LOG", "TRACE")
		f.Setenv("TF_LOG_PATH", log)
		seen := watchArguments(f.t, canaries)
		steps := []struct {
			canary  string
			options []acctest.Option
		}{
			{canaries[0], nil},
			{canaries[1], []acctest.Option{acctest.Var("revision", "2")}},
			{canaries[1], []acctest.Option{acctest.Var("revision", "2"), acctest.Var("stage", "two"), acctest.Var("checkpoint", "1")}},
		}
		for _, step := range steps {
			f.Setenv("TF_VAR_token", step.canary)
			f.Plan(step.options...).Planned()
			result := f.Apply(step.options...).Succeed()
			f.silent("the output", []byte(result.Stdout+result.Stderr), canaries)
			wanted := sha256.Sum256([]byte(step.canary))
			if got := f.Show().Text("sandlot_command.hash", "stdout"); !strings.HasPrefix(got, hex.EncodeToString(wanted[:])) {
				f.t.Fatalf("the command inside saw another secret: its hash is %q", got)
			}
		}
		for _, found := range seen() {
			f.t.Errorf("a secret stood in the arguments of a process: %s", found)
		}
		plan := f.Plan(steps[2].options...).Empty()
		f.silent("the plan file", readAll(f.t, plan.File), canaries)
		f.silentTree(f.Dir, canaries)
		f.silentTree(f.Home, canaries)
		f.silentTree(f.DataDir, canaries)
		f.silentEngine(canaries)
	}, everywhere()...)
}

// silent fails the test when content holds a canary.
func (f *fixture) silent(what string, content []byte, canaries []string) {
	f.t.Helper()
	for _, canary := range canaries {
		if bytes.Contains(content, []byte(canary)) {
			f.t.Errorf("a secret stands in %s", what)
		}
	}
}

// silentTree looks through every file: state, backups, logs, store, snapshots. The one file that
// holds the secrets of a local sandbox is where they belong, and nobody else may read it.
func (f *fixture) silentTree(dir string, canaries []string) {
	f.t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if entry.Name() == "secrets.json" {
			info, err := entry.Info()
			if err == nil && info.Mode().Perm() != 0o600 {
				f.t.Errorf("%s has the mode %s", path, info.Mode())
			}
			return err
		}
		content := readAll(f.t, path)
		if strings.HasSuffix(path, ".zst") {
			content = unpackZstd(f.t, content)
		}
		f.silent(path, content, canaries)
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
}

// silent looks through what the platform was told and keeps. The environment of a sandbox or a command is
// where secrets are handed in, and nowhere else.
func (p *platform) silent(f *fixture, canaries []string) {
	p.t.Helper()
	if len(p.allSnapshots()) == 0 {
		p.t.Error("no snapshot was made, so none was looked at")
	}
	for _, id := range p.allSnapshots() {
		f.silentTree(p.server.SnapshotDisk(id), canaries)
	}
	there := p.server.Inventory()
	for i := range there.Sandboxes {
		there.Sandboxes[i].Env = nil
	}
	rest, err := json.Marshal(there)
	p.check(err)
	f.silent("what the platform has outside the environment", rest, canaries)
	for _, request := range p.server.Requests() {
		var body map[string]any
		if json.Unmarshal(request.Body, &body) == nil {
			delete(body, "env")
			if request.Body, err = json.Marshal(body); err != nil {
				p.t.Fatal(err)
			}
		}
		whole, err := json.Marshal(struct {
			Path, Query, Header any
			Body                string
		}{request.Path, request.Query, request.Header, string(request.Body)})
		p.check(err)
		f.silent("a request of "+request.Method+" "+request.Path, whole, canaries)
	}
}

// silentEngine looks through all that the engine tells of our objects. The container's own
// environment is where Docker keeps secrets, as the documentation says, and nowhere else.
func (f *fixture) silentEngine(canaries []string) {
	f.t.Helper()
	if f.cloud != nil {
		f.cloud.silent(f, canaries)
	}
	if !f.docker() {
		return
	}
	objects := f.engine.Objects("sandlot.owner=" + f.Owner)
	if len(objects.Images) == 0 {
		f.t.Error("no image was made, so none was looked at")
	}
	for _, id := range objects.Images {
		f.silent("the image "+id, f.engine.Call("GET", "/images/"+id+"/json", nil), canaries)
		f.silent("the history of "+id, f.engine.Call("GET", "/images/"+id+"/history", nil), canaries)
		f.silent("the content of "+id, f.engine.Call("GET", "/images/"+id+"/get", nil), canaries)
	}
	for _, name := range objects.Volumes {
		f.silent("the volume "+name, f.engine.Call("GET", "/volumes/"+name, nil), canaries)
	}
	for _, name := range objects.Containers {
		var whole map[string]any
		if err := json.Unmarshal(f.engine.Call("GET", "/containers/"+name+"/json", nil), &whole); err != nil {
			f.t.Fatal(err)
		}
		config, _ := whole["Config"].(map[string]any)
		if environment, ok := config["Env"].([]any); !ok || len(environment) == 0 {
			f.t.Errorf("the container %s has no environment, so no secret either", name)
		}
		delete(config, "Env")
		rest, err := json.Marshal(whole)
		if err != nil {
			f.t.Fatal(err)
		}
		f.silent("the container "+name+" outside its environment", rest, canaries)
	}
}

// watchArguments looks at the arguments of all processes until the returned function is called,
// which returns those that held a canary.
func watchArguments(t *testing.T, canaries []string) func() []string {
	t.Helper()
	stop, done := make(chan struct{}), make(chan []string, 1)
	go func() {
		found := map[string]bool{}
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				var all []string
				for one := range found {
					all = append(all, one)
				}
				done <- all
				return
			case <-ticker.C:
				files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
				for _, file := range files {
					line, err := os.ReadFile(file)
					if err != nil {
						continue // it ended meanwhile
					}
					for _, canary := range canaries {
						if bytes.Contains(line, []byte(canary)) {
							found[strings.ReplaceAll(string(line), "\x00", " ")] = true
						}
					}
				}
			}
		}
	}()
	return func() []string {
		close(stop)
		return <-done
	}
}
