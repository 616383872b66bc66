package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/local"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlite"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// box is the name of the sandbox that most tests are about.
const box = "box"

// whole is what the real backend implements.
type whole interface {
	backends.Backend
	backends.Snapshotter
}

// place is a data directory with the real store and the real backend on it.
type place struct {
	t       *testing.T
	dir     string
	store   *sqlite.Store
	backend *local.Backend
	manager *Manager
}

func newPlace(t *testing.T) *place {
	t.Helper()
	testkit.Bubblewrap(t)
	return openPlace(t, filepath.Join(tempDir(t), "data"), nil)
}

// openPlace opens a data directory once more, as another process would.
func openPlace(t *testing.T, dir string, observer effects.Observer) *place {
	t.Helper()
	p := &place{
		t: t, dir: dir,
		store:   sqlite.New(sqlite.Config{Dir: dir, Observer: observer}),
		backend: local.New(local.Config{DataDir: dir, Observer: observer}),
	}
	t.Cleanup(func() {
		if err := p.store.Close(); err != nil {
			t.Error(err)
		}
	})
	p.manager = &Manager{Backend: p.backend, Store: p.store}
	return p
}

// tempDir is t.TempDir that also removes directories that a sandbox closed.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandlot-lifecycle")
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

func persistent(name string) Request {
	return Request{Name: name, Kind: backends.Persistent, Generation: 1, Settings: json.RawMessage(`{"by":"test"}`)}
}

func session(name string) Request {
	request := persistent(name)
	request.Kind = backends.Session
	return request
}

func (p *place) create(m *Manager, request Request) Result {
	p.t.Helper()
	result, err := m.Create(p.t.Context(), request)
	if err != nil {
		p.t.Fatalf("create %s: %v", request.Name, err)
	}
	return result
}

func (p *place) delete(m *Manager, request Request, attachment Attachment, purge bool, want Outcome) {
	p.t.Helper()
	outcome, err := m.Delete(p.t.Context(), request.Name, request.Kind, attachment, purge)
	if err != nil || outcome != want {
		p.t.Fatalf("delete %s with purge %v: %q, %v, want %q", request.Name, purge, outcome, err, want)
	}
}

// record returns the only record of the store.
func (p *place) record() store.Record {
	p.t.Helper()
	records, err := p.store.Find(p.t.Context(), store.Query{})
	if err != nil || len(records) != 1 {
		p.t.Fatalf("the store holds %d records (%v), want 1: %+v", len(records), err, records)
	}
	return records[0]
}

// object returns the only sandbox of the backend.
func (p *place) object() backends.Observed {
	p.t.Helper()
	objects, err := p.backend.List(p.t.Context())
	if err != nil || len(objects) != 1 {
		p.t.Fatalf("the backend holds %d sandboxes (%v), want 1: %+v", len(objects), err, objects)
	}
	return objects[0]
}

// settled checks one committed record and one object that belong together, with nothing under way.
func (p *place) settled() (store.Record, backends.Observed) {
	p.t.Helper()
	record, object := p.record(), p.object()
	if !record.Committed || len(record.Intent) > 0 {
		p.t.Errorf("the record is not settled: committed %v, intent %s", record.Committed, record.Intent)
	}
	if record.ID != object.Marks.Record || record.Name != object.Name || record.Owner != object.Marks.Owner {
		p.t.Errorf("record and object differ: %+v and %+v", record, object.Marks)
	}
	p.tidy()
	return record, object
}

// tidy checks that no half-made or half-removed file is left.
func (p *place) tidy() {
	p.t.Helper()
	for _, dir := range []string{"staging", "trash"} {
		if names := p.entries("local", dir); len(names) > 0 {
			p.t.Errorf("%s still holds %q", dir, names)
		}
	}
}

// empty checks that nothing of any sandbox is left.
func (p *place) empty() {
	p.t.Helper()
	records, err := p.store.Find(p.t.Context(), store.Query{})
	if err != nil || len(records) != 0 {
		p.t.Errorf("the store still holds %+v (%v)", records, err)
	}
	objects, err := p.backend.List(p.t.Context())
	if err != nil || len(objects) != 0 {
		p.t.Errorf("the backend still holds %+v (%v)", objects, err)
	}
	for _, dir := range []string{"sandboxes", "snapshots"} {
		if names := p.entries("local", dir); len(names) > 0 {
			p.t.Errorf("%s still holds %q", dir, names)
		}
	}
	p.tidy()
}

func (p *place) entries(elements ...string) []string {
	p.t.Helper()
	entries, err := os.ReadDir(filepath.Join(append([]string{p.dir}, elements...)...))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// shell runs a script inside that must succeed, and returns what it printed.
func (p *place) shell(m *Manager, script string) string {
	p.t.Helper()
	result, err := m.Exec(p.t.Context(), box, backends.Command{Argv: []string{"sh", "-c", script}})
	if err != nil || result.ExitCode != 0 {
		p.t.Fatalf("%s: status %d, %v: %s", script, result.ExitCode, err, result.Stderr)
	}
	return strings.TrimSpace(string(result.Stdout))
}

func (p *place) status() backends.Status {
	p.t.Helper()
	return p.object().Status
}

// fails checks for a refusal or a kind of error.
func fails(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got the error %v, want %q", err, want)
	}
}

// double is the real backend with some answers replaced and all calls noted.
type double struct {
	whole
	mu    sync.Mutex
	calls []string
	// fail is asked before each call; its error replaces the call.
	fail func(call string) error
	// volumes pretends that the backend has named volumes.
	volumes bool
	options []backends.DeleteOptions
}

var errInjected = errors.New("injected")

func failing(calls ...string) func(string) error {
	return func(call string) error {
		if slices.Contains(calls, call) {
			return &backends.Error{Kind: backends.Failed, Backend: "local", Operation: call, Err: errInjected}
		}
		return nil
	}
}

func (d *double) note(call string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, call)
	if d.fail == nil {
		return nil
	}
	return d.fail(call)
}

func (d *double) noted() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

func (d *double) Capabilities() backends.Capabilities {
	table := d.whole.Capabilities()
	table.Volumes = table.Volumes || d.volumes
	return table
}

func (d *double) plain(spec backends.Spec) backends.Spec {
	if d.volumes {
		spec.Volumes = nil
	}
	return spec
}

func (d *double) Binding(ctx context.Context) (backends.Binding, error) {
	if err := d.note("Binding"); err != nil {
		return backends.Binding{}, err
	}
	return d.whole.Binding(ctx)
}

func (d *double) Prepare(ctx context.Context) (backends.Binding, error) {
	if err := d.note("Prepare"); err != nil {
		return backends.Binding{}, err
	}
	return d.whole.Prepare(ctx)
}

func (d *double) Get(ctx context.Context, name string) (backends.Observed, error) {
	if err := d.note("Get"); err != nil {
		return backends.Observed{}, err
	}
	return d.whole.Get(ctx, name)
}

func (d *double) Create(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	if err := d.note("Create"); err != nil {
		return backends.Observed{}, err
	}
	return d.whole.Create(ctx, marks, d.plain(spec))
}

func (d *double) Reconfigure(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	if err := d.note("Reconfigure"); err != nil {
		return backends.Observed{}, err
	}
	return d.whole.Reconfigure(ctx, marks, d.plain(spec))
}

func (d *double) Start(ctx context.Context, name string) error {
	if err := d.note("Start"); err != nil {
		return err
	}
	return d.whole.Start(ctx, name)
}

func (d *double) Stop(ctx context.Context, name string) error {
	if err := d.note("Stop"); err != nil {
		return err
	}
	return d.whole.Stop(ctx, name)
}

func (d *double) Delete(ctx context.Context, marks backends.Marks, options backends.DeleteOptions) error {
	if err := d.note("Delete"); err != nil {
		return err
	}
	d.mu.Lock()
	d.options = append(d.options, options)
	d.mu.Unlock()
	return d.whole.Delete(ctx, marks, options)
}

func (p *place) over(d *double) *Manager {
	d.whole = p.backend
	return &Manager{Backend: d, Store: p.store, ExplicitOwner: p.manager.ExplicitOwner}
}

// What follows runs one operation in a process of its own, which can be killed in the middle.

// task is what a child process does in a data directory.
type task struct {
	Dir        string
	Operation  string // create, update, purge or retain
	Request    Request
	Attachment Attachment
}

func TestMain(m *testing.M) {
	if testkit.IsTask() {
		os.Exit(testkit.RunTask(testkit.Writes, runTask))
	}
	os.Exit(m.Run())
}

func runTask(work task, observer effects.Observer) (Attachment, error) {
	records := sqlite.New(sqlite.Config{Dir: work.Dir, Observer: observer})
	m := &Manager{Store: records, Backend: local.New(local.Config{DataDir: work.Dir, Observer: observer})}
	ctx := context.Background()
	var result Result
	var err error
	switch work.Operation {
	case "create":
		result, err = m.Create(ctx, work.Request)
	case "update":
		result, err = m.Update(ctx, work.Attachment, work.Request)
	default:
		_, err = m.Delete(ctx, work.Request.Name, work.Request.Kind, work.Attachment, work.Operation == "purge")
	}
	return result.Attachment, errors.Join(err, records.Close())
}

// here is a task in the data directory of the place.
func (p *place) here(work task) task {
	work.Dir = p.dir
	return work
}

// finish runs a task to its end and returns the points that it passed.
func (p *place) finish(work task) (Attachment, []string) {
	p.t.Helper()
	return testkit.FinishTask[Attachment](p.t, p.here(work))
}

// kill runs a task until a point and checks that it died there.
func (p *place) kill(work task, stopAt int) {
	p.t.Helper()
	testkit.KillTask(p.t, p.here(work), stopAt)
}
