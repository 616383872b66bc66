package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

// place is a data directory with a real store and the real local backend.
type place struct {
	t   *testing.T
	dir string
	// url is the database of the records; "" for the embedded one in dir.
	url     string
	store   store.Store
	backend *local.Backend
	Manager
}

// engines are the stores that a test runs on: each makes a new place.
func engines() map[string]func(*testing.T) *place {
	return map[string]func(*testing.T) *place{
		"sqlite":   newPlace,
		"postgres": func(t *testing.T) *place { return openPlace(t, tempDir(t), testkit.Postgres(t).URL()) },
	}
}

func newPlace(t *testing.T) *place { return openPlace(t, tempDir(t), "") }

func openPlace(t *testing.T, dir, url string) *place {
	t.Helper()
	testkit.Bubblewrap(t)
	p := &place{t: t, dir: dir, url: url, store: openStore(dir, url, nil), backend: local.New(local.Config{DataDir: dir})}
	t.Cleanup(func() {
		if err := p.store.Close(); err != nil {
			t.Error(err)
		}
	})
	p.Manager = Manager{Sandboxes: &sandbox.Manager{Backend: p.backend, Store: p.store}}
	return p
}

func openStore(dir, url string, observer effects.Observer) store.Store {
	if url != "" {
		return postgres.New(postgres.Config{URL: url, Observer: observer})
	}
	return sqlite.New(sqlite.Config{Dir: dir, Observer: observer})
}

// tempDir is t.TempDir that also removes directories that a sandbox closed.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandlot-workspace")
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

// wish is a workspace as a test asks for it, in a form that a child process can be given.
type wish struct {
	Request sandbox.Request
	Base    string
	Version string            // of the template; "" for none
	Files   map[string]string // path to content
	Migrate []string
	Verify  []string
}

// persistent is a workspace of the id with a template of one file.
func persistent(id string) wish {
	return wish{
		Request: sandbox.Request{
			Name: "ws-" + id, WorkspaceID: id, Kind: backends.Persistent, Generation: 1, Settings: json.RawMessage(`{}`),
		},
		Version: "1", Files: map[string]string{"template": "one"},
	}
}

func session(id string) wish {
	w := persistent(id)
	w.Request.Kind = backends.Session
	return w
}

// with returns a copy that was changed.
func (w wish) with(change func(*wish)) wish {
	change(&w)
	return w
}

func (w wish) plan(ctx context.Context) (Plan, error) {
	plan := Plan{BaseSnapshotID: w.Base, KnownTemplateVersion: w.Version}
	if w.Base != "" {
		plan.BaseSnapshotVersion = "version of " + w.Base
	}
	if w.Version == "" {
		return plan, nil
	}
	specs := map[string]overlay.Spec{}
	for path, content := range w.Files {
		specs[path] = overlay.Spec{Content: []byte(content)}
	}
	files, err := overlay.Collect(ctx, specs, 1<<20)
	plan.Template = &Template{Version: w.Version, Files: files, Migrate: w.Migrate, Verify: w.Verify}
	return plan, err
}

func provision(ctx context.Context, m Manager, w wish) (sandbox.Result, error) {
	plan, err := w.plan(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	return m.Provision(ctx, w.Request, plan)
}

func update(ctx context.Context, m Manager, attachment sandbox.Attachment, w wish) (sandbox.Result, error) {
	plan, err := w.plan(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	request := w.Request
	request.Extension = m.Extension(plan)
	return m.Sandboxes.Update(ctx, attachment, request)
}

func (p *place) provision(w wish) sandbox.Result {
	p.t.Helper()
	result, err := provision(p.t.Context(), p.Manager, w)
	if err != nil {
		p.t.Fatalf("provision %s: %v", w.Request.WorkspaceID, err)
	}
	return result
}

func (p *place) update(attachment sandbox.Attachment, w wish) sandbox.Result {
	p.t.Helper()
	result, err := update(p.t.Context(), p.Manager, attachment, w)
	if err != nil {
		p.t.Fatalf("update %s: %v", w.Request.WorkspaceID, err)
	}
	return result
}

func (p *place) delete(w wish, attachment sandbox.Attachment, purge bool, want sandbox.Outcome) {
	p.t.Helper()
	outcome, err := p.Sandboxes.Delete(p.t.Context(), w.Request.Name, w.Request.Kind, attachment, purge)
	if err != nil || outcome != want {
		p.t.Fatalf("delete with purge %v: %q, %v, want %q", purge, outcome, err, want)
	}
}

// shell runs a script inside and returns what it printed.
func (p *place) shell(w wish, script string) string {
	p.t.Helper()
	result, err := p.Sandboxes.Exec(p.t.Context(), w.Request.Name, backends.Command{Argv: []string{"sh", "-c", script}})
	if err != nil || result.ExitCode != 0 {
		p.t.Fatalf("%s: status %d, %v: %s", script, result.ExitCode, err, result.Stderr)
	}
	return strings.TrimSpace(string(result.Stdout))
}

// row returns the only record, with what it keeps of the workspace.
func (p *place) row() (store.Record, sandbox.Workspace) {
	p.t.Helper()
	records, err := p.store.Find(p.t.Context(), store.Query{})
	if err != nil || len(records) != 1 {
		p.t.Fatalf("the store holds %d records (%v), want 1: %+v", len(records), err, records)
	}
	var kept sandbox.Workspace
	if err := json.Unmarshal(records[0].Workspace, &kept); err != nil {
		p.t.Fatal(err)
	}
	return records[0], kept
}

// settled checks one committed row of a ready workspace and one sandbox that belong together.
func (p *place) settled() (store.Record, sandbox.Workspace) {
	p.t.Helper()
	record, kept := p.row()
	if !record.Committed || len(record.Intent) > 0 || kept.State != sandbox.WorkspaceReady {
		p.t.Errorf("the row is not settled: %+v, %+v", record, kept)
	}
	objects, err := p.backend.List(p.t.Context())
	if err != nil || len(objects) != 1 || objects[0].Marks.Record != record.ID {
		p.t.Errorf("there are the sandboxes %+v (%v), want one of the record %s", objects, err, record.ID)
	}
	return record, kept
}

// empty checks that nothing of any workspace is left, besides the snapshots that a test keeps.
func (p *place) empty(snapshots ...string) {
	p.t.Helper()
	if records, err := p.store.Find(p.t.Context(), store.Query{}); err != nil || len(records) != 0 {
		p.t.Errorf("the store still holds %+v (%v)", records, err)
	}
	if objects, err := p.backend.List(p.t.Context()); err != nil || len(objects) != 0 {
		p.t.Errorf("the backend still holds %+v (%v)", objects, err)
	}
	found, err := filepath.Glob(filepath.Join(p.dir, "local", "snapshots", "*.json"))
	if err != nil || len(found) != len(snapshots) {
		p.t.Errorf("there are the snapshots %v (%v), want %q", found, err, snapshots)
	}
}

// base makes a base snapshot that holds the file `base`, and returns its id.
func (p *place) base() string {
	p.t.Helper()
	ctx := p.t.Context()
	if _, err := p.backend.Prepare(ctx); err != nil {
		p.t.Fatal(err)
	}
	owner, err := p.store.EnsureOwner(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	marks := backends.Marks{Owner: owner, Name: "seed", Kind: backends.Session, Record: "lane"}
	if _, err := p.backend.Create(ctx, marks, backends.Spec{}); err != nil {
		p.t.Fatal(err)
	}
	if err := p.backend.WriteFile(ctx, "seed", "/workspace/base", []byte("from the base"), 0o644); err != nil {
		p.t.Fatal(err)
	}
	snapshot, err := p.backend.CreateSnapshot(ctx, marks, "base-1")
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.backend.Delete(ctx, marks, backends.DeleteOptions{}); err != nil {
		p.t.Fatal(err)
	}
	return snapshot.ID
}

// lose removes the sandbox behind the provider's back.
func (p *place) lose(w wish) {
	p.t.Helper()
	observed, err := p.backend.Get(p.t.Context(), w.Request.Name)
	if err == nil {
		err = p.backend.Delete(p.t.Context(), observed.Marks, backends.DeleteOptions{})
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// refused checks for a refusal of the lifecycle.
func refused(t *testing.T, err error, code sandbox.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Errorf("got the error %v, want %q", err, code)
	}
}

// What follows runs one operation in a process of its own, which can be killed in the middle.

// task is what a child process does.
type task struct {
	Operation  string // provision, update, retain or purge
	Dir, URL   string
	Wish       wish
	Attachment sandbox.Attachment
}

// answer is what it prints.
type answer struct {
	Attachment sandbox.Attachment
	Handle     string
}

func TestMain(m *testing.M) {
	if testkit.IsTask() {
		os.Exit(testkit.RunTask(testkit.Writes, runTask))
	}
	os.Exit(m.Run())
}

func runTask(work task, observer effects.Observer) (answer, error) {
	records := openStore(work.Dir, work.URL, observer)
	m := Manager{Sandboxes: &sandbox.Manager{Store: records, Backend: local.New(local.Config{DataDir: work.Dir, Observer: observer})}}
	ctx := context.Background()
	var result sandbox.Result
	var err error
	switch work.Operation {
	case "provision":
		result, err = provision(ctx, m, work.Wish)
	case "update":
		result, err = update(ctx, m, work.Attachment, work.Wish)
	default:
		_, err = m.Sandboxes.Delete(ctx, work.Wish.Request.Name, work.Wish.Request.Kind, work.Attachment, work.Operation == "purge")
	}
	return answer{Attachment: result.Attachment, Handle: result.Observed.Name}, errors.Join(err, records.Close())
}

func (p *place) task(operation string, w wish, attachment sandbox.Attachment) task {
	return task{Operation: operation, Dir: p.dir, URL: p.url, Wish: w, Attachment: attachment}
}

// finish runs an operation to its end.
func (p *place) finish(operation string, w wish, attachment sandbox.Attachment) (answer, error) {
	p.t.Helper()
	said, _, err := testkit.TryTask[answer](p.t, p.task(operation, w, attachment))
	return said, err
}

// points are those that an operation passes.
func (p *place) points(operation string, w wish, attachment sandbox.Attachment) []string {
	p.t.Helper()
	_, passed := testkit.FinishTask[answer](p.t, p.task(operation, w, attachment))
	return passed
}

// kill runs an operation until a point and checks that it died there.
func (p *place) kill(operation string, w wish, attachment sandbox.Attachment, stopAt int) {
	p.t.Helper()
	testkit.KillTask(p.t, p.task(operation, w, attachment), stopAt)
}
