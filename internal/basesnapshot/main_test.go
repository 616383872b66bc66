package basesnapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/local"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/overlay"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/postgres"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlite"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// canary is in the environment of every test process, and of no sandbox.
const canary = "SANDLOT_TEST_CANARY"

// shop is the lane that most tests are about.
var shop = Lane{App: "shop", Template: "web"}

// plain is a manifest that asks for nothing.
func plain() Manifest { return Manifest{SchemaVersion: SchemaVersion, Name: "web"} }

// asked is a request that touches every step a bake has on the local backend.
func asked(version string) Request {
	manifest := plain()
	manifest.TemplateVersion = version
	manifest.Commands = [][]string{{"sh", "-c", "echo " + version + " > made"}}
	return Request{
		Lane: shop, Manifest: manifest, Verify: true,
		Checks:   []SmokeCheck{{Command: []string{"cat", "/workspace/made"}, Expect: version}},
		Settings: json.RawMessage(`{"by":"test"}`),
	}
}

// fixture is a data directory with the real store and the real backend on it.
type fixture struct {
	t       *testing.T
	dir     string
	store   store.Store
	backend *local.Backend
	manager *Manager
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	_, err := exec.LookPath("bwrap")
	testkit.Need(t, "bubblewrap", err == nil, "apt-get install bubblewrap")
	return openFixture(t, filepath.Join(tempDir(t), "data"))
}

func openFixture(t *testing.T, dir string) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: dir, store: sqlite.New(sqlite.Config{Dir: dir}), backend: local.New(local.Config{DataDir: dir})}
	t.Cleanup(func() {
		if err := f.store.Close(); err != nil {
			t.Error(err)
		}
	})
	f.manager = f.over(f.backend)
	return f
}

// useDatabase keeps the records in a database from now on.
func (f *fixture) useDatabase(url string) {
	f.t.Helper()
	records := postgres.New(postgres.Config{URL: url})
	f.t.Cleanup(func() {
		if err := records.Close(); err != nil {
			f.t.Error(err)
		}
	})
	f.store = records
	f.manager = f.over(f.backend)
}

// over is the manager on another backend than the real one.
func (f *fixture) over(backend backends.Backend) *Manager {
	return &Manager{Sandboxes: &sandbox.Manager{Backend: backend, Store: f.store}, NamePrefix: "sandlot"}
}

// tempDir is t.TempDir that also removes directories that a sandbox closed.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandlot-bake")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				err = os.Chmod(path, 0o700)
			}
			return err
		})
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func (f *fixture) create(request Request) Result {
	f.t.Helper()
	result, err := f.manager.Create(f.t.Context(), request)
	if err != nil {
		f.t.Fatalf("create: %v", err)
	}
	return result
}

func (f *fixture) update(attachment sandbox.Attachment, request Request) Result {
	f.t.Helper()
	result, err := f.manager.Update(f.t.Context(), attachment, request)
	if err != nil {
		f.t.Fatalf("update: %v", err)
	}
	return result
}

func (f *fixture) read(attachment sandbox.Attachment) View {
	f.t.Helper()
	view, err := f.manager.Read(f.t.Context(), shop, attachment)
	if err != nil {
		f.t.Fatalf("read: %v", err)
	}
	return view
}

func (f *fixture) delete(attachment sandbox.Attachment, purge bool, retention Retention, want sandbox.Outcome) {
	f.t.Helper()
	outcome, err := f.manager.Delete(f.t.Context(), shop, attachment, purge, retention)
	if err != nil || outcome != want {
		f.t.Fatalf("delete with purge %v: %q, %v, want %q", purge, outcome, err, want)
	}
}

// snapshots are those that the backend holds, of any lane.
func (f *fixture) snapshots() []string {
	f.t.Helper()
	var ids []string
	for _, name := range f.files("local", "snapshots") {
		if id, archive := strings.CutSuffix(name, ".tar.zst"); archive {
			ids = append(ids, id)
		}
	}
	return ids
}

func (f *fixture) files(elements ...string) []string {
	f.t.Helper()
	entries, err := os.ReadDir(filepath.Join(append([]string{f.dir}, elements...)...))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// tidy checks that no sandbox is left, nothing half-made, and exactly the snapshots that the
// registry has.
func (f *fixture) tidy() {
	f.t.Helper()
	boxes, err := f.backend.List(f.t.Context())
	if err != nil || len(boxes) != 0 {
		f.t.Errorf("these sandboxes are left: %+v (%v)", boxes, err)
	}
	for _, dir := range []string{"staging", "trash", "sandboxes"} {
		if names := f.files("local", dir); len(names) > 0 {
			f.t.Errorf("%s still holds %q", dir, names)
		}
	}
	known := map[string]bool{}
	for _, entry := range f.entries() {
		if entry.Status == store.SnapshotBaking {
			f.t.Errorf("an entry is still baking: %+v", entry)
		}
		if saved(entry) {
			known[entry.SnapshotID] = true
		}
	}
	there := f.snapshots()
	if len(there) != len(known) || slices.ContainsFunc(there, func(id string) bool { return !known[id] }) {
		f.t.Errorf("the backend has the snapshots %q, the registry %v", there, known)
	}
	if records := len(f.files("local", "snapshots")); records != 2*len(there) {
		f.t.Errorf("there are %d files for %d snapshots", records, len(there))
	}
}

// empty checks that nothing of any lane is left.
func (f *fixture) empty() {
	f.t.Helper()
	f.tidy()
	records, err := f.store.Find(f.t.Context(), store.Query{})
	if err != nil || len(records) != 0 {
		f.t.Errorf("the store still holds %+v (%v)", records, err)
	}
	if entries := f.entries(); len(entries) != 0 {
		f.t.Errorf("the registry still holds %+v", entries)
	}
}

// entries are all of the registry, the newest first.
func (f *fixture) entries() []store.Snapshot {
	f.t.Helper()
	entries, err := f.store.FindSnapshots(f.t.Context(), store.SnapshotQuery{})
	if err != nil {
		f.t.Fatal(err)
	}
	return entries
}

// inside runs a script in a new sandbox that was made from a snapshot.
func (f *fixture) inside(snapshot, script string) string {
	f.t.Helper()
	marks := backends.Marks{Owner: "test", Name: "looker", Kind: backends.Session, Record: "test"}
	ctx := context.WithoutCancel(f.t.Context())
	if _, err := f.backend.Create(ctx, marks, backends.Spec{Source: backends.Source{SnapshotID: snapshot}}); err != nil {
		f.t.Fatalf("start from %s: %v", snapshot, err)
	}
	defer func() {
		if err := f.backend.Delete(ctx, marks, backends.DeleteOptions{}); err != nil {
			f.t.Error(err)
		}
	}()
	result, err := f.backend.Exec(ctx, marks.Name, backends.Command{Argv: []string{"sh", "-c", script}})
	if err != nil || result.ExitCode != 0 {
		f.t.Fatalf("%s: status %d, %v: %s", script, result.ExitCode, err, result.Stderr)
	}
	return strings.TrimSpace(string(result.Stdout))
}

// detached is for what is cleaned up after a test, when its own context has ended.
func detached(t *testing.T) context.Context { return context.WithoutCancel(t.Context()) }

// fails checks for a refusal or a kind of error.
func fails(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got the error %v, want %q", err, want)
	}
}

// What follows runs one operation in a process of its own, which can be killed in the middle.

const (
	taskVariable = "SANDLOT_TEST_TASK"
	stopVariable = "SANDLOT_TEST_STOP_AT"
	dirVariable  = "SANDLOT_TEST_DATA_DIR"
)

// task is what a child process does.
type task struct {
	// URL is the database of the records; "" for the embedded one.
	URL        string
	Operation  string // create, update, purge or retire
	Request    Request
	Retention  Retention
	Attachment sandbox.Attachment
	// Fails says that it has to.
	Fails bool
	// Files are template files by their content, which a request does not carry to another process.
	Files map[string]string
}

// answer is what it prints.
type answer struct {
	Attachment sandbox.Attachment
	Snapshot   string
	Baked      bool
	// Writes is how many effects changed something, counted right before and right after.
	Writes int64
	// Effects are those writes, by name.
	Effects []string
}

func TestMain(m *testing.M) {
	if err := os.Setenv(canary, "the canary's value"); err != nil {
		panic(err)
	}
	if os.Getenv(taskVariable) != "" {
		if err := runTask(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func runTask() error {
	var work task
	if err := json.Unmarshal([]byte(os.Getenv(taskVariable)), &work); err != nil {
		return err
	}
	var stopAt, writes atomic.Int64
	if text := os.Getenv(stopVariable); text != "" {
		var number int64
		if _, err := fmt.Sscan(text, &number); err != nil {
			return err
		}
		stopAt.Store(number)
	}
	var mu sync.Mutex
	said := answer{}
	observer := func(_ context.Context, phase effects.Phase, effect effects.Effect) {
		if !effect.Write {
			return
		}
		if phase == effects.Before {
			mu.Lock()
			said.Effects = append(said.Effects, effect.System+" "+effect.Action+" "+effect.Object)
			mu.Unlock()
		}
		if writes.Add(1) == stopAt.Load() {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	ctx := context.Background()
	if len(work.Files) > 0 {
		specs := map[string]overlay.Spec{}
		for target, content := range work.Files {
			specs[target] = overlay.Spec{Content: []byte(content)}
		}
		var err error
		if work.Request.Manifest.Files, err = overlay.Collect(ctx, specs, 1<<20); err != nil {
			return err
		}
	}
	dir := os.Getenv(dirVariable)
	var records store.Store = sqlite.New(sqlite.Config{Dir: dir, Observer: observer})
	if work.URL != "" {
		records = postgres.New(postgres.Config{URL: work.URL, Observer: observer})
	}
	m := &Manager{NamePrefix: "sandlot", Sandboxes: &sandbox.Manager{Store: records, Backend: local.New(local.Config{DataDir: dir, Observer: observer})}}
	var result Result
	var err error
	switch work.Operation {
	case "create":
		result, err = m.Create(ctx, work.Request)
	case "update":
		result, err = m.Update(ctx, work.Attachment, work.Request)
	default:
		_, err = m.Delete(ctx, work.Request.Lane, work.Attachment, work.Operation == "purge", work.Retention)
	}
	if work.Fails {
		if err == nil {
			return errors.New("it did not fail")
		}
		err = nil
	}
	if err := errors.Join(err, records.Close()); err != nil {
		return err
	}
	said.Attachment, said.Snapshot, said.Baked, said.Writes = result.Attachment, result.Current.SnapshotID, result.Baked, writes.Load()
	return json.NewEncoder(os.Stdout).Encode(said)
}

// child prepares a process that does one task in the data directory, and is killed at the given
// point; 0 lets it finish.
func (f *fixture) child(work task, stopAt int64) *exec.Cmd {
	f.t.Helper()
	raw, err := json.Marshal(work)
	if err != nil {
		f.t.Fatal(err)
	}
	command := exec.CommandContext(f.t.Context(), os.Args[0])
	command.Env = append(os.Environ(), taskVariable+"="+string(raw), dirVariable+"="+f.dir, fmt.Sprintf("%s=%d", stopVariable, stopAt))
	return command
}

// finish runs a task to its end.
func (f *fixture) finish(work task) answer {
	f.t.Helper()
	said, err := f.try(work)
	if err != nil {
		f.t.Fatal(err)
	}
	return said
}

func (f *fixture) try(work task) (answer, error) {
	f.t.Helper()
	output, err := f.child(work, 0).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return answer{}, fmt.Errorf("%s: %w: %s", work.Operation, err, exit.Stderr)
	}
	var said answer
	return said, errors.Join(err, json.Unmarshal(output, &said))
}

// kill runs a task until a point and checks that it died there.
func (f *fixture) kill(work task, stopAt int64) {
	f.t.Helper()
	err := f.child(work, stopAt).Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != -1 {
		f.t.Fatalf("%s was not killed at point %d: %v", work.Operation, stopAt, err)
	}
}
