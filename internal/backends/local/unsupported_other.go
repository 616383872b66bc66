//go:build !linux

package local

import (
	"context"
	"io"
	"io/fs"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Backend tells on every operating system but Linux that it is not available there.
type Backend struct{}

var (
	_ backends.Backend     = (*Backend)(nil)
	_ backends.Snapshotter = (*Backend)(nil)
)

const needsLinux = "It needs the namespaces of Linux. Use another backend on this operating system."

// New returns a backend. It does no I/O.
func New(Config) *Backend { return &Backend{} }

func refuse(operation, object string) error {
	return &backends.Error{Kind: backends.NotInstalled, Backend: backendName, Operation: operation, Object: object, Detail: needsLinux}
}

// Name implements [backends.Backend].
func (*Backend) Name() string { return backendName }

// Capabilities implements [backends.Backend].
func (*Backend) Capabilities() backends.Capabilities { return capabilities() }

// Probe implements [backends.Backend].
func (*Backend) Probe(context.Context) backends.Availability {
	return backends.Availability{Reason: needsLinux}
}

// Binding implements [backends.Backend].
func (*Backend) Binding(context.Context) (backends.Binding, error) {
	return backends.Binding{}, refuse("read binding", "")
}

// Prepare implements [backends.Backend].
func (*Backend) Prepare(context.Context) (backends.Binding, error) {
	return backends.Binding{}, refuse("prepare data directory", "")
}

// Get implements [backends.Backend].
func (*Backend) Get(_ context.Context, name string) (backends.Observed, error) {
	return backends.Observed{}, refuse("read sandbox", name)
}

// List implements [backends.Backend].
func (*Backend) List(context.Context) ([]backends.Observed, error) {
	return nil, refuse("list sandboxes", "")
}

// Create implements [backends.Backend].
func (*Backend) Create(_ context.Context, marks backends.Marks, _ backends.Spec) (backends.Observed, error) {
	return backends.Observed{}, refuse("create sandbox", marks.Name)
}

// Reconfigure implements [backends.Backend].
func (*Backend) Reconfigure(_ context.Context, marks backends.Marks, _ backends.Spec) (backends.Observed, error) {
	return backends.Observed{}, refuse("reconfigure sandbox", marks.Name)
}

// Start implements [backends.Backend].
func (*Backend) Start(_ context.Context, name string) error { return refuse("start sandbox", name) }

// Stop implements [backends.Backend].
func (*Backend) Stop(_ context.Context, name string) error { return refuse("stop sandbox", name) }

// Delete implements [backends.Backend].
func (*Backend) Delete(_ context.Context, marks backends.Marks, _ backends.DeleteOptions) error {
	return refuse("delete sandbox", marks.Name)
}

// Exec implements [backends.Backend].
func (*Backend) Exec(_ context.Context, name string, _ backends.Command) (backends.ExecResult, error) {
	return backends.ExecResult{}, refuse("run command", name)
}

// StatFile implements [backends.Files].
func (*Backend) StatFile(_ context.Context, _, path string) (backends.FileInfo, error) {
	return backends.FileInfo{}, refuse("look at file", path)
}

// OpenFile implements [backends.Files].
func (*Backend) OpenFile(_ context.Context, _, path string) (io.ReadCloser, backends.FileInfo, error) {
	return nil, backends.FileInfo{}, refuse("read file", path)
}

// ListFiles implements [backends.Files].
func (*Backend) ListFiles(_ context.Context, _, path string) ([]backends.FileInfo, error) {
	return nil, refuse("list directory", path)
}

// WriteFile implements [backends.Files].
func (*Backend) WriteFile(_ context.Context, _, path string, _ []byte, _ fs.FileMode) error {
	return refuse("write file", path)
}

// RemoveFile implements [backends.Files].
func (*Backend) RemoveFile(_ context.Context, _, path string) error {
	return refuse("remove file", path)
}

// CreateSnapshot implements [backends.Snapshotter].
func (*Backend) CreateSnapshot(_ context.Context, _ backends.Marks, id string) (backends.Snapshot, error) {
	return backends.Snapshot{}, refuse("create snapshot", id)
}

// GetSnapshot implements [backends.Snapshotter].
func (*Backend) GetSnapshot(_ context.Context, id string) (backends.Snapshot, error) {
	return backends.Snapshot{}, refuse("read snapshot", id)
}

// ListSnapshots implements [backends.Snapshotter].
func (*Backend) ListSnapshots(_ context.Context, record string) ([]backends.Snapshot, error) {
	return nil, refuse("list snapshots", record)
}

// DeleteSnapshot implements [backends.Snapshotter].
func (*Backend) DeleteSnapshot(_ context.Context, _ backends.Marks, id string) error {
	return refuse("delete snapshot", id)
}
