package acceptance_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// debianImage is what the examples name; tests put an image in its place that needs no registry.
var debianImage = regexp.MustCompile(`debian:[a-z0-9-]+`)

// walked are the examples that have a test of their own.
var walked = map[string]bool{
	"base-snapshot-pipeline": true, "cloud-host": true, "team-postgres": true, "team-postgres/reader": true, "vercel-workspaces": true, "workspaces": true,
}

// TestExamplesApply applies every other example of the documentation as it stands there. The second
// plan is empty.
func TestExamplesApply(t *testing.T) {
	t.Parallel()
	dirs := exampleDirs(t)
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		for _, dir := range dirs {
			if walked[dir] || inCloud(t, dir) {
				continue
			}
			t.Run(strings.ReplaceAll(dir, "/", "_"), func(t *testing.T) {
				t.Parallel()
				applyExample(newFixture(t, cli, exampleBackend(t, dir)), dir)
			})
		}
	})
}

// inCloud tells of examples that need a cloud.
func inCloud(t *testing.T, dir string) bool {
	t.Helper()
	for _, file := range exampleFiles(t, dir) {
		if content := string(readAll(t, file)); strings.Contains(content, `"sandlot_cloud_host"`) || strings.Contains(content, `"sandlot_orphans"`) {
			return true
		}
	}
	return false
}

func applyExample(f *fixture, dir string) {
	f.example(dir)
	f.Setenv("TF_VAR_api_token", "a-token-for-tests")
	f.Setenv("TF_VAR_owner", f.Owner)
	f.Setenv("TF_VAR_data_dir", f.DataDir)
	f.Setenv("TF_VAR_workspace_id", f.Tag)
	if f.docker() && strings.HasSuffix(dir, "quickstart") {
		f.Setenv("TF_VAR_docker_image", f.image)
	}
	f.settled()
	f.Destroy().Succeed()
}

// example copies an example into the workspace and sets the provider up by the environment alone.
func (f *fixture) example(dir string) {
	f.t.Helper()
	testkit.Bubblewrap(f.t)
	f.Setenv("SANDLOT_DATA_DIR", f.DataDir)
	f.Setenv("SANDLOT_OWNER", f.Owner)
	f.Setenv("SANDLOT_NAMESPACE", f.Tag)
	// Bakes of equal manifests have equal names, and a test of the other CLI bakes on the same engine.
	f.Setenv("SANDLOT_NAME_PREFIX", "ex"+f.Tag)
	f.Write("provider.tf", requiredProvider)
	source := filepath.Join(acctest.Root(), "examples", filepath.FromSlash(dir))
	err := filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		target := filepath.Join(f.Dir, name)
		info, err := entry.Info()
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case strings.HasPrefix(name, "terraform.tfstate"):
			return nil // of somebody who tried the example where it stands
		}
		content := string(readAll(f.t, path))
		if filepath.Ext(name) == ".tf" {
			content = debianImage.ReplaceAllString(content, f.image)
			content = strings.ReplaceAll(content, `"checks"`, `"`+f.Unique("checks")+`"`)
		}
		if filepath.Dir(name) == "." && strings.Contains(content, "required_providers") {
			f.Write("provider.tf", "")
		}
		return os.WriteFile(target, []byte(content), info.Mode().Perm())
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// script runs an executable of the workspace in its environment, with the CLI in TF.
func (f *fixture) script(name string, arguments ...string) *acctest.Result {
	f.t.Helper()
	runner := *f.Workspace
	runner.CLI.Path = filepath.Join(f.Dir, name)
	return runner.Run(arguments[0], acctest.Args(arguments[1:]...), acctest.Env("TF", f.CLI.Path))
}

// simulator builds the program that the scripts of examples serve clouds with.
func (f *fixture) simulator() string {
	f.t.Helper()
	program := filepath.Join(f.t.TempDir(), "sandlot-sim")
	build := exec.CommandContext(f.t.Context(), "go", "build", "-o", program, "./internal/simulator/sandlot-sim")
	build.Dir = acctest.Root()
	if output, err := build.CombinedOutput(); err != nil {
		f.t.Fatalf("build the simulator: %v\n%s", err, output)
	}
	return program
}

// TestExamplesBaseSnapshotPipeline runs the script that walks through the example's README. It checks
// every step itself.
func TestExamplesBaseSnapshotPipeline(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.example("base-snapshot-pipeline")
		arguments := []string{f.backend}
		if f.docker() {
			arguments = append(arguments, f.image)
		}
		f.script("run.sh", arguments...).Succeed()
		f.nothingLeft()
	})
}

// TestExamplesWorkspaces adds an entry to the map of the example and removes one. The plan names no
// other workspace.
func TestExamplesWorkspaces(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.example("workspaces")
		f.Setenv("TF_VAR_backend", f.backend)
		f.Setenv("TF_VAR_image", f.image)
		f.settled()
		state := f.Show()
		kept, gone := runtimeOf("ticket-1"), runtimeOf("ticket-2")
		name := state.Text(kept, "name")
		before := f.fileHash(name, "TASK.md")
		if want := sum("# ticket-1\n\nMake the tests pass.\n"); before != want {
			f.t.Errorf("TASK.md has the hash %s, want %s", before, want)
		}
		if f.fileHash(name, "bin/report") == "" {
			f.t.Error("the workspace has nothing of its base snapshot")
		}
		handles, _ := state.Output("handles").(map[string]any)
		if len(handles) != 2 || handles["ticket-1"] != name {
			f.t.Errorf("the handles are %v", handles)
		}

		f.Write("workspaces.auto.tfvars", `workspaces = {
			"ticket-1" = { task = "Another task, which is not written any more." }
			"ticket-3" = { task = "Find out why the build is slow." }
		}`)
		f.Plan().Does("create "+runtimeOf("ticket-3"), "delete "+gone)
		f.settled()
		if f.running(state.Text(gone, "name")) {
			f.t.Error("the workspace that was let go of runs on")
		}
		if after := f.Show(); after.Text(kept, "current_session_id") != state.Text(kept, "current_session_id") || f.fileHash(name, "TASK.md") != before {
			f.t.Error("the other workspace was touched")
		}

		// All three come back, and go in one command.
		f.Write("workspaces.auto.tfvars", `workspaces = { "ticket-1" = { task = "" }, "ticket-2" = { task = "" }, "ticket-3" = { task = "" } }`)
		f.Setenv("TF_VAR_on_destroy", "purge")
		f.Setenv("TF_VAR_min_age", "0s")
		f.settled()
		f.Destroy().Succeed()
		f.nothingLeft()
	})
}

// TestExamplesVercelWorkspaces runs the script that walks through the example's README, on the test's own
// simulator. It checks every step itself.
func TestExamplesVercelWorkspaces(t *testing.T) {
	onOne(t, func(f *fixture) {
		f.example("vercel-workspaces")
		f.Setenv("TF_VAR_base_url", f.cloud.server.URL())
		f.Setenv("TF_VAR_owner", f.Owner)
		f.Setenv("TF_VAR_data_dir", f.DataDir)
		f.script("run.sh", "simulated").Succeed()
		if left := f.cloud.server.Inventory().Sandboxes; len(left) > 0 {
			f.t.Errorf("there are %+v", left)
		}
	}, "vercel")
}

// TestExamplesTeamPostgres applies the example on a database with the roles that its README makes. The
// read-only role plans it, and a second state sees the workspaces.
func TestExamplesTeamPostgres(t *testing.T) {
	onEach(t, func(f *fixture) {
		server := testkit.NewPostgresServer(f.t)
		database := server.Database(f.t)
		roles := readAll(f.t, filepath.Join(acctest.Root(), "examples", "team-postgres", "roles.sql"))
		database.Exec(f.t, string(roles)+"ALTER ROLE sandlot_writer PASSWORD 'writer'; ALTER ROLE sandlot_reader PASSWORD 'reader';")
		writer := acctest.Env("SANDLOT_POSTGRES_URL", databaseURL(f.t, database, "sandlot_writer", "writer"))
		reader := acctest.Env("SANDLOT_POSTGRES_URL", databaseURL(f.t, database, "sandlot_reader", "reader"))

		f.example("team-postgres")
		f.Setenv("TF_VAR_owner", f.Owner)
		f.Setenv("TF_VAR_namespace", f.Tag)
		f.Setenv("SANDLOT_OWNER", "")
		first, second := runtimeOf("ticket-1"), runtimeOf("ticket-2")
		f.Plan(reader).Does("create "+first, "create "+second)
		f.Apply(reader).FailWith("store_failed")
		if made := f.engine.Objects("sandlot.owner=" + f.Owner); len(made.Containers)+len(made.Volumes) > 0 {
			f.t.Errorf("the read-only role made %+v", made)
		}
		f.settled(writer)
		f.Plan(reader).Empty()
		f.Plan(reader, acctest.Var("workspaces", `{"ticket-1" = "Another task.", "ticket-3" = "A new one."}`)).
			Does("update "+first, "delete "+second, "create "+runtimeOf("ticket-3"))

		other := *f
		other.Workspace = f.Beside()
		other.example("team-postgres/reader")
		other.Apply(reader).Succeed()
		state, name := other.Show(), f.Show().Text(first, "name")
		if record := fmt.Sprint(state.Output("handle")); state.Output("state") != "ready" || !strings.Contains(record, `"handle":"`+name+`"`) {
			f.t.Errorf("another state sees %v: %s", state.Output("state"), record)
		}

		before := f.StateFile()
		server.Stop(f.t)
		failed := f.Plan(writer)
		if found := failed.Diagnostics.Errors(); failed.ExitCode != 1 || len(found) != 2 || !strings.Contains(found[0].Detail, "does not answer") {
			f.t.Errorf("without a database:\n%s", failed)
		}
		if !bytes.Equal(before, f.StateFile()) {
			f.t.Error("the state changed without a database")
		}
		server.Start(f.t)
		f.Plan(writer).Empty()

		f.Setenv("TF_VAR_on_destroy", "purge")
		f.settled(writer)
		f.Destroy(writer).Succeed()
		if rows := database.Text(f.t, "SELECT count(*)::text FROM sandlot.records"); rows != "0" {
			f.t.Errorf("%s records are left", rows)
		}
	}, "docker")
}

// databaseURL is the address of a database for a role.
func databaseURL(t *testing.T, database *testkit.Database, role, password string) string {
	t.Helper()
	address, err := url.Parse(database.URL())
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(role, password)
	return address.String()
}

func runtimeOf(id string) string { return fmt.Sprintf("sandlot_workspace_runtime.agent[%q]", id) }

const requiredProvider = "terraform {\n  required_providers {\n    sandlot = {\n      source = \"sandlot-dev/sandlot\"\n    }\n  }\n}\n"

// exampleDirs are the folders of examples/, relative to it, that hold a configuration.
func exampleDirs(t *testing.T) []string {
	t.Helper()
	root := filepath.Join(acctest.Root(), "examples")
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if files, err := filepath.Glob(filepath.Join(path, "*.tf")); err != nil || len(files) > 0 {
			dir, relErr := filepath.Rel(root, path)
			dirs = append(dirs, dir)
			return relErr
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) < 10 {
		t.Fatalf("only %d examples were found: %v", len(dirs), dirs)
	}
	return dirs
}

func exampleFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(acctest.Root(), "examples", dir, "*.tf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no configuration in %s (%v)", dir, err)
	}
	return files
}

// exampleBackend is docker for the examples that need an engine.
func exampleBackend(t *testing.T, dir string) string {
	t.Helper()
	for _, file := range exampleFiles(t, dir) {
		if strings.Contains(string(readAll(t, file)), "docker") {
			return "docker"
		}
	}
	return "local"
}
