package acceptance_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

const (
	session    = "sandlot_sandbox"
	persistent = "sandlot_persistent_sandbox"

	baseSnapshot     = "sandlot_base_snapshot"
	workspaceRuntime = "sandlot_workspace_runtime"
)

// fixture is a workspace for one backend.
type fixture struct {
	*acctest.Workspace
	t       *testing.T
	backend string
	engine  *acctest.Engine // nil on local
	image   string          // empty on local
	cloud   *platform       // nil on all but vercel
}

// backendsVariable narrows the backends that the tests of onEach run on: "vercel", or "local docker".
const backendsVariable = "SANDLOT_TEST_BACKENDS"

// everywhere are all backends, for tests whose configurations each of them honors.
func everywhere() []string { return []string{"local", "docker", "vercel"} }

// chosen are those of the backends that backendsVariable leaves.
func chosen(backends []string) []string {
	only := strings.Fields(os.Getenv(backendsVariable))
	if len(only) == 0 {
		return backends
	}
	return slices.DeleteFunc(backends, func(backend string) bool { return !slices.Contains(only, backend) })
}

// onEach runs a parallel subtest for each CLI and each of the backends; without any, for those that
// share a machine with the CLI. Vercel takes its turn under one of the CLIs, another one for each other
// test: what they do differently they do on every backend.
func onEach(t *testing.T, test func(f *fixture), backends ...string) {
	t.Helper()
	t.Parallel()
	if len(backends) == 0 {
		backends = []string{"local", "docker"}
	}
	backends = chosen(backends)
	clis, turn := acctest.CLIs(t), len(t.Name())
	for i, cli := range clis {
		t.Run(cli.Name, func(t *testing.T) {
			t.Parallel()
			for _, backend := range backends {
				if backend == "vercel" && i != turn%len(clis) {
					continue
				}
				t.Run(backend, func(t *testing.T) {
					t.Parallel()
					test(newFixture(t, cli, backend))
				})
			}
		})
	}
}

// onOne runs a parallel subtest for each of the backends, each under another of the CLIs: for what
// the CLI makes no difference to. Without backends it is local.
func onOne(t *testing.T, test func(f *fixture), backends ...string) {
	t.Helper()
	t.Parallel()
	clis := acctest.CLIs(t)
	if len(clis) == 0 {
		t.Skip("no CLI is there")
	}
	if len(backends) == 0 {
		backends = []string{"local"}
	}
	backends = chosen(backends)
	for i, backend := range backends {
		cli := clis[(i+len(t.Name()))%len(clis)]
		t.Run(backend+"/"+cli.Name, func(t *testing.T) {
			t.Parallel()
			test(newFixture(t, cli, backend))
		})
	}
}

func newFixture(t *testing.T, cli acctest.CLI, backend string) *fixture {
	t.Helper()
	f := &fixture{Workspace: acctest.NewWorkspace(t, cli, ""), t: t, backend: backend}
	if backend == "docker" {
		f.image = testkit.DockerImage(t)
		f.engine = acctest.DockerEngine(t)
		f.engine.CleanUp("sandlot.owner=" + f.Owner)
		f.Setenv("DOCKER_HOST", f.engine.Host())
	}
	if backend == "vercel" {
		f.cloud = newPlatform(t, f.Workspace)
	}
	return f
}

func (f *fixture) docker() bool { return f.backend == "docker" }

// id is the identity of a sandbox of this backend.
func (f *fixture) id(name string) string { return f.backend + "/" + name }

// source is the attribute that every sandbox of the backend needs, if any.
func (f *fixture) source() string {
	if f.docker() {
		return fmt.Sprintf("source = { image = %q }", f.image)
	}
	return ""
}

// block is a resource. Each line is an attribute; backend and source are there unless a line gives
// them.
func (f *fixture) block(kind, label string, lines ...string) string {
	gives := givenBy(lines)
	if kind != baseSnapshot && !gives("source") {
		lines = append([]string{f.source()}, lines...)
	}
	if !gives("backend") {
		lines = append([]string{fmt.Sprintf("backend = %q", f.backend)}, lines...)
	}
	return fmt.Sprintf("resource %q %q {\n  %s\n}\n", kind, label, strings.Join(lines, "\n  "))
}

// givenBy tells whether one of the lines gives an attribute.
func givenBy(lines []string) func(attribute string) bool {
	return func(attribute string) bool {
		return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), attribute+" ") })
	}
}

// named is the line of a unique name.
func (f *fixture) named(name string) string { return fmt.Sprintf("name = %q", f.Unique(name)) }

// workspaceID is the line of a unique workspace id.
func (f *fixture) workspaceID(id string) string {
	return fmt.Sprintf("workspace_id = %q", f.Unique(id))
}

// keptFile is what seed writes, below the workspace.
const keptFile = "kept"

// seed is a setup by which a command inside writes random bytes into the workspace, so that nobody
// can make them again.
const seed = `setup = [{ command = ["sh", "-c", "head -c 4096 /dev/urandom > /workspace/` + keptFile + `"] }]`

// workspaceFile reads a file in the workspace, past the provider: from the disk, the engine or the
// simulator's own disk. None of it starts anything.
func (f *fixture) workspaceFile(name, file string) (content []byte, found bool) {
	f.t.Helper()
	switch {
	case f.cloud != nil:
		return f.cloud.readFile(name, file)
	case f.docker():
		return f.engine.ReadFile(name, "/workspace/"+file)
	}
	content, err := os.ReadFile(filepath.Join(f.sandboxDir(name), "workspace", file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.t.Fatal(err)
	}
	return content, err == nil
}

// read is the content of a file in the workspace, "" when there is none.
func (f *fixture) read(name, file string) string {
	f.t.Helper()
	content, _ := f.workspaceFile(name, file)
	return string(content)
}

// fileHash returns the SHA-256 of a file in the workspace, "" when there is none.
func (f *fixture) fileHash(name, file string) string {
	f.t.Helper()
	content, found := f.workspaceFile(name, file)
	if !found {
		return ""
	}
	return sum(string(content))
}

// mustHash is fileHash of a file that has to be there.
func (f *fixture) mustHash(name string) string {
	f.t.Helper()
	hash := f.fileHash(name, keptFile)
	if hash == "" {
		f.t.Fatalf("%s has no %s in its workspace", name, keptFile)
	}
	return hash
}

// sandboxDir is the folder of a local sandbox.
func (f *fixture) sandboxDir(name string) string {
	return filepath.Join(f.DataDir, "local", "sandboxes", name)
}

// exists tells whether the sandbox's compute is there.
func (f *fixture) exists(name string) bool {
	f.t.Helper()
	if f.docker() {
		_, found := f.engine.Container(name)
		return found
	}
	if f.cloud != nil {
		_, found := f.cloud.sandbox(name)
		return found
	}
	_, err := os.Stat(f.sandboxDir(name))
	return err == nil
}

// running tells whether the sandbox runs.
func (f *fixture) running(name string) bool {
	f.t.Helper()
	if f.docker() {
		return f.engine.MustContainer(name).State.Running
	}
	if f.cloud != nil {
		return f.cloud.must(name).Status == "running"
	}
	return f.readRecord(name)["status"] == "running"
}

// vanish removes a sandbox with its data, as somebody outside would.
func (f *fixture) vanish(name string) {
	f.t.Helper()
	if f.cloud != nil {
		f.cloud.remove(name)
		return
	}
	if !f.docker() {
		if err := os.RemoveAll(f.sandboxDir(name)); err != nil {
			f.t.Fatal(err)
		}
		return
	}
	f.engine.Remove(name)
	for _, volume := range f.engine.Objects("sandlot.name=" + name).Volumes {
		f.engine.RemoveVolume(volume)
	}
}

// stopOutside and startOutside change the run state behind the provider's back.
func (f *fixture) stopOutside(name string) {
	f.t.Helper()
	if f.cloud != nil {
		f.cloud.stop(name)
		return
	}
	if f.docker() {
		f.engine.Stop(name)
		return
	}
	f.editRecord(name, func(record map[string]any) { record["status"] = "stopped"; delete(record, "session_id") })
}

func (f *fixture) startOutside(name string) {
	f.t.Helper()
	if f.cloud != nil {
		f.cloud.resume(name)
		return
	}
	if f.docker() {
		f.engine.Start(name)
		return
	}
	f.editRecord(name, func(record map[string]any) { record["status"], record["session_id"] = "running", "by-hand" })
}

func (f *fixture) recordPath(name string) string {
	return filepath.Join(f.sandboxDir(name), "sandbox.json")
}

// readRecord reads the file that describes a local sandbox.
func (f *fixture) readRecord(name string) map[string]any {
	f.t.Helper()
	raw, err := os.ReadFile(f.recordPath(name))
	if err != nil {
		f.t.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal(raw, &record); err != nil {
		f.t.Fatal(err)
	}
	return record
}

// editRecord changes the file that describes a local sandbox.
func (f *fixture) editRecord(name string, edit func(record map[string]any)) {
	f.t.Helper()
	record := f.readRecord(name)
	edit(record)
	raw, err := json.Marshal(record)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.recordPath(name), raw, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// mark is one of the marks on the sandbox itself: owner, record, kind, workspace.
func (f *fixture) mark(name, key string) string {
	f.t.Helper()
	if f.cloud != nil {
		return f.cloud.must(name).Tags["sandlot-"+key]
	}
	if f.docker() {
		labels, _ := f.engine.MustContainer(name).Config["Labels"].(map[string]any)
		value, _ := labels["sandlot."+key].(string)
		return value
	}
	marks, _ := f.readRecord(name)["marks"].(map[string]any)
	value, _ := marks[key].(string)
	return value
}

// settled applies the present configuration and demands an empty second plan.
func (f *fixture) settled(options ...acctest.Option) *acctest.Result {
	f.t.Helper()
	result := f.Apply(options...).Succeed()
	f.Plan(options...).Empty()
	return result
}

// loseStore removes the embedded store, but neither sandboxes nor the id of the data directory.
func (f *fixture) loseStore() {
	f.t.Helper()
	files, err := filepath.Glob(filepath.Join(f.DataDir, "sandlot.db*"))
	if err != nil || len(files) == 0 {
		f.t.Fatalf("there is no store in %s: %v", f.DataDir, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			f.t.Fatal(err)
		}
	}
}

// busybox is the path of a static busybox.
func busybox(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("busybox")
	testkit.Need(t, "busybox", err == nil, "apt-get install busybox-static")
	return path
}

// sum is the SHA-256 of a text in hex.
func sum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}
