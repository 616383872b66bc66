package basesnapshot

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// whole is what the real backend implements.
type whole interface {
	backends.Backend
	backends.Snapshotter
}

var errInjected = errors.New("injected")

// faulty is the real backend, whose calls are noted and can be made to fail.
type faulty struct {
	whole
	mu    sync.Mutex
	calls []string
	// fail is asked before each call; its error takes the call's place.
	fail func(call, object string) error
	// seen are the specifications of what was created.
	seen []backends.Spec
}

// failing makes some calls fail.
func failing(calls ...string) func(string, string) error {
	return func(call, _ string) error {
		if slices.Contains(calls, call) {
			return &backends.Error{Kind: backends.Failed, Backend: "local", Operation: call, Err: errInjected}
		}
		return nil
	}
}

func (f *faulty) note(call, object string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call+" "+object)
	if f.fail == nil {
		return nil
	}
	return f.fail(call, object)
}

func (f *faulty) noted() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

func (f *faulty) Create(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	if err := f.note("Create", marks.Name); err != nil {
		return backends.Observed{}, err
	}
	f.mu.Lock()
	f.seen = append(f.seen, spec)
	f.mu.Unlock()
	return f.whole.Create(ctx, marks, spec)
}

func (f *faulty) Delete(ctx context.Context, marks backends.Marks, options backends.DeleteOptions) error {
	if err := f.note("Delete", marks.Name); err != nil {
		return err
	}
	return f.whole.Delete(ctx, marks, options)
}

func (f *faulty) Exec(ctx context.Context, name string, command backends.Command) (backends.ExecResult, error) {
	if err := f.note("Exec", name); err != nil {
		return backends.ExecResult{}, err
	}
	return f.whole.Exec(ctx, name, command)
}

func (f *faulty) WriteFile(ctx context.Context, name, path string, content []byte, mode fs.FileMode) error {
	if err := f.note("WriteFile", path); err != nil {
		return err
	}
	return f.whole.WriteFile(ctx, name, path, content, mode)
}

func (f *faulty) CreateSnapshot(ctx context.Context, marks backends.Marks, id string) (backends.Snapshot, error) {
	if err := f.note("CreateSnapshot", marks.Name); err != nil {
		return backends.Snapshot{}, err
	}
	return f.whole.CreateSnapshot(ctx, marks, id)
}

func (f *faulty) GetSnapshot(ctx context.Context, id string) (backends.Snapshot, error) {
	if err := f.note("GetSnapshot", id); err != nil {
		return backends.Snapshot{}, err
	}
	return f.whole.GetSnapshot(ctx, id)
}

func (f *faulty) DeleteSnapshot(ctx context.Context, marks backends.Marks, id string) error {
	if err := f.note("DeleteSnapshot", id); err != nil {
		return err
	}
	return f.whole.DeleteSnapshot(ctx, marks, id)
}
