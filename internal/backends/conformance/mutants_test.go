package conformance_test

import (
	"context"
	"io"
	"io/fs"
	"reflect"
	"sync"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// whole is a backend with every ability.
type whole interface {
	backends.Backend
	backends.Snapshotter
}

// idle replaces the one method named by method with a no-op that returns zero values and nil.
type idle struct {
	whole
	method string
}

func (i idle) Name() string {
	if i.method == "Name" {
		return ""
	}
	return i.whole.Name()
}

func (i idle) Capabilities() backends.Capabilities {
	if i.method == "Capabilities" {
		return backends.Capabilities{}
	}
	return i.whole.Capabilities()
}

func (i idle) Probe(ctx context.Context) backends.Availability {
	if i.method == "Probe" {
		return backends.Availability{}
	}
	return i.whole.Probe(ctx)
}

func (i idle) Binding(ctx context.Context) (backends.Binding, error) {
	if i.method == "Binding" {
		return backends.Binding{}, nil
	}
	return i.whole.Binding(ctx)
}

func (i idle) Prepare(ctx context.Context) (backends.Binding, error) {
	if i.method == "Prepare" {
		return backends.Binding{}, nil
	}
	return i.whole.Prepare(ctx)
}

func (i idle) Get(ctx context.Context, name string) (backends.Observed, error) {
	if i.method == "Get" {
		return backends.Observed{}, nil
	}
	return i.whole.Get(ctx, name)
}

func (i idle) List(ctx context.Context) ([]backends.Observed, error) {
	if i.method == "List" {
		return nil, nil
	}
	return i.whole.List(ctx)
}

func (i idle) Create(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	if i.method == "Create" {
		return backends.Observed{}, nil
	}
	return i.whole.Create(ctx, marks, spec)
}

func (i idle) Reconfigure(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	if i.method == "Reconfigure" {
		return backends.Observed{}, nil
	}
	return i.whole.Reconfigure(ctx, marks, spec)
}

func (i idle) Start(ctx context.Context, name string) error {
	if i.method == "Start" {
		return nil
	}
	return i.whole.Start(ctx, name)
}

func (i idle) Stop(ctx context.Context, name string) error {
	if i.method == "Stop" {
		return nil
	}
	return i.whole.Stop(ctx, name)
}

func (i idle) Delete(ctx context.Context, marks backends.Marks, options backends.DeleteOptions) error {
	if i.method == "Delete" {
		return nil
	}
	return i.whole.Delete(ctx, marks, options)
}

func (i idle) Exec(ctx context.Context, name string, command backends.Command) (backends.ExecResult, error) {
	if i.method == "Exec" {
		return backends.ExecResult{}, nil
	}
	return i.whole.Exec(ctx, name, command)
}

func (i idle) StatFile(ctx context.Context, name, path string) (backends.FileInfo, error) {
	if i.method == "StatFile" {
		return backends.FileInfo{}, nil
	}
	return i.whole.StatFile(ctx, name, path)
}

func (i idle) OpenFile(ctx context.Context, name, path string) (io.ReadCloser, backends.FileInfo, error) {
	if i.method == "OpenFile" {
		return nil, backends.FileInfo{}, nil
	}
	return i.whole.OpenFile(ctx, name, path)
}

func (i idle) ListFiles(ctx context.Context, name, path string) ([]backends.FileInfo, error) {
	if i.method == "ListFiles" {
		return nil, nil
	}
	return i.whole.ListFiles(ctx, name, path)
}

func (i idle) WriteFile(ctx context.Context, name, path string, content []byte, mode fs.FileMode) error {
	if i.method == "WriteFile" {
		return nil
	}
	return i.whole.WriteFile(ctx, name, path, content, mode)
}

func (i idle) RemoveFile(ctx context.Context, name, path string) error {
	if i.method == "RemoveFile" {
		return nil
	}
	return i.whole.RemoveFile(ctx, name, path)
}

func (i idle) CreateSnapshot(ctx context.Context, marks backends.Marks, id string) (backends.Snapshot, error) {
	if i.method == "CreateSnapshot" {
		return backends.Snapshot{}, nil
	}
	return i.whole.CreateSnapshot(ctx, marks, id)
}

func (i idle) GetSnapshot(ctx context.Context, id string) (backends.Snapshot, error) {
	if i.method == "GetSnapshot" {
		return backends.Snapshot{}, nil
	}
	return i.whole.GetSnapshot(ctx, id)
}

func (i idle) ListSnapshots(ctx context.Context, record string) ([]backends.Snapshot, error) {
	if i.method == "ListSnapshots" {
		return nil, nil
	}
	return i.whole.ListSnapshots(ctx, record)
}

func (i idle) DeleteSnapshot(ctx context.Context, marks backends.Marks, id string) error {
	if i.method == "DeleteSnapshot" {
		return nil
	}
	return i.whole.DeleteSnapshot(ctx, marks, id)
}

// boastful has another capability table than its backend.
type boastful struct {
	whole
	table backends.Capabilities
}

func (b boastful) Capabilities() backends.Capabilities { return b.table }

// deaf drops one member of every specification on its way to the backend.
type deaf struct {
	whole
	member string
	// create, reconfigure say on which calls it does.
	create, reconfigure bool
	// echo makes it tell what was asked for all the same.
	echo bool

	mu    *sync.Mutex
	asked map[string]reflect.Value // by the sandbox's name
}

func newDeaf(backend whole, member string, create, reconfigure, echo bool) deaf {
	return deaf{whole: backend, member: member, create: create, reconfigure: reconfigure, echo: echo, mu: &sync.Mutex{}, asked: map[string]reflect.Value{}}
}

func (d deaf) drop(name string, spec backends.Spec) backends.Spec {
	member := reflect.ValueOf(&spec).Elem().FieldByName(d.member)
	d.mu.Lock()
	d.asked[name] = reflect.ValueOf(member.Interface())
	d.mu.Unlock()
	member.SetZero()
	return spec
}

func (d deaf) tell(observed backends.Observed) backends.Observed {
	if !d.echo {
		return observed
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if asked, ok := d.asked[observed.Name]; ok && d.member != "Secrets" {
		reflect.ValueOf(&observed.Spec).Elem().FieldByName(d.member).Set(asked)
	}
	return observed
}

func (d deaf) Create(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	// What the backend refuses stays refused: this mutant is about what is accepted.
	if d.create && len(d.Capabilities().Gaps(spec)) == 0 {
		spec = d.drop(marks.Name, spec)
	}
	observed, err := d.whole.Create(ctx, marks, spec)
	return d.tell(observed), err
}

func (d deaf) Reconfigure(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	if d.reconfigure && len(d.Capabilities().ChangeGaps(spec)) == 0 {
		spec = d.drop(marks.Name, spec)
	}
	observed, err := d.whole.Reconfigure(ctx, marks, spec)
	return d.tell(observed), err
}

func (d deaf) Get(ctx context.Context, name string) (backends.Observed, error) {
	observed, err := d.whole.Get(ctx, name)
	return d.tell(observed), err
}

func (d deaf) List(ctx context.Context) ([]backends.Observed, error) {
	all, err := d.whole.List(ctx)
	for i := range all {
		all[i] = d.tell(all[i])
	}
	return all, err
}

// tracked remembers what was created, so that all of it can be removed whatever a mutant did.
type tracked struct {
	whole
	mu    *sync.Mutex
	marks *[]backends.Marks
}

func (tr tracked) Create(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	tr.mu.Lock()
	*tr.marks = append(*tr.marks, marks)
	tr.mu.Unlock()
	return tr.whole.Create(ctx, marks, spec)
}
