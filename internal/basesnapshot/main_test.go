package basesnapshot

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	testkit.Bubblewrap(t)
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

// task is what a child process does in a data directory.
type task struct {
	Dir string
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
}

func TestMain(m *testing.M) {
	if err := os.Setenv(canary, "the canary's value"); err != nil {
		panic(err)
	}
	if testkit.IsTask() {
		os.Exit(testkit.RunTask(testkit.Writes, runTask))
	}
	os.Exit(m.Run())
}

func runTask(work task, observer effects.Observer) (answer, error) {
	ctx := context.Background()
	if len(work.Files) > 0 {
		specs := map[string]overlay.Spec{}
		for target, content := range work.Files {
			specs[target] = overlay.Spec{Content: []byte(content)}
		}
		var err error
		if work.Request.Manifest.Files, err = overlay.Collect(ctx, specs, 1<<20); err != nil {
			return answer{}, err
		}
	}
	var records store.Store = sqlite.New(sqlite.Config{Dir: work.Dir, Observer: observer})
	if work.URL != "" {
		records = postgres.New(postgres.Config{URL: work.URL, Observer: observer})
	}
	m := &Manager{NamePrefix: "sandlot", Sandboxes: &sandbox.Manager{Store: records, Backend: local.New(local.Config{DataDir: work.Dir, Observer: observer})}}
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
			return answer{}, errors.New("it did not fail")
		}
		err = nil
	}
	said := answer{Attachment: result.Attachment, Snapshot: result.Current.SnapshotID, Baked: result.Baked}
	return said, errors.Join(err, records.Close())
}

// here is a task in the data directory of the fixture.
func (f *fixture) here(work task) task {
	work.Dir = f.dir
	return work
}

// finish runs a task to its end and returns the points that it passed.
func (f *fixture) finish(work task) (answer, []string) {
	f.t.Helper()
	return testkit.FinishTask[answer](f.t, f.here(work))
}

func (f *fixture) try(work task) (answer, []string, error) {
	f.t.Helper()
	return testkit.TryTask[answer](f.t, f.here(work))
}

// kill runs a task until a point and checks that it died there.
func (f *fixture) kill(work task, stopAt int) {
	f.t.Helper()
	testkit.KillTask(f.t, f.here(work), stopAt)
}
