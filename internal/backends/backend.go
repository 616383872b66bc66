// Package backends defines what a sandbox backend is: a small required core, optional
// abilities, a capability table and typed errors. One folder below holds each backend.
package backends

import (
	"context"
	"io"
	"io/fs"
	"time"
)

// Backend is the core that every backend implements. What else a backend can do stands in its
// [Capabilities] and in the optional interfaces of this package.
//
// Methods return *[Error]; a missing sandbox is [NotFound], and only a successful answer of the
// backend may say so. Methods are safe for concurrent use. Those documented as reads never
// start, wake, create, adopt or delete anything, and create no file.
type Backend interface {
	// Name is the value of the `backend` attribute. No I/O.
	Name() string
	// Capabilities is a static table. No I/O.
	Capabilities() Capabilities
	// Probe tells whether the backend can be used here and now. A read.
	Probe(ctx context.Context) Availability
	// Binding tells where objects live. A read; [NotFound] when the place was never prepared.
	Binding(ctx context.Context) (Binding, error)
	// Prepare makes the place where objects live, when there is none, and returns its binding.
	Prepare(ctx context.Context) (Binding, error)

	// Get reads one sandbox, whoever owns it. A read.
	Get(ctx context.Context, name string) (Observed, error)
	// List reads all sandboxes that carry marks of any owner. A read.
	List(ctx context.Context) ([]Observed, error)

	// Create makes a sandbox and starts it. An option that the capability table does not have is
	// refused with [Unsupported] before any call; a taken name with [AlreadyExists]. What a failed
	// Create made is removed by it; what could not be removed stands in Error.Left.
	Create(ctx context.Context, marks Marks, spec Spec) (Observed, error)
	// Reconfigure brings an existing sandbox to spec, without touching the data in its workspace
	// and volumes, and leaves it running or stopped as found. It finishes what a killed
	// Reconfigure began and recovers a sandbox whose compute was lost (that one ends up running).
	// Members of spec.Source are ignored. secrets that are nil while spec.SecretNames is not empty
	// keep their present values.
	Reconfigure(ctx context.Context, marks Marks, spec Spec) (Observed, error)
	// Start and Stop change the run state; doing so twice is not an error. Stop of a persistent
	// sandbox loses no file.
	Start(ctx context.Context, name string) error
	Stop(ctx context.Context, name string) error
	// Delete removes the compute and the workspace, and what options say, after it checked that
	// the object carries the same owner and record as marks ([NotOurs] otherwise). An absent
	// sandbox is success, but its volumes, snapshots and leftovers are still removed. It verifies
	// that they are gone.
	Delete(ctx context.Context, marks Marks, options DeleteOptions) error

	// Exec runs a command in a running sandbox ([NotRunning] otherwise) and waits for it. An exit
	// status other than 0 is not an error here.
	Exec(ctx context.Context, name string, command Command) (ExecResult, error)

	Files
}

// Files reads and writes files of a sandbox, running or stopped; where the capability table has
// FilesNeedCompute, of a running one only ([NotRunning] otherwise). Paths are absolute and clean, as
// made by sandbox.ResolvePath. A path below the workspace must stay below it: a link that
// leads elsewhere is refused with [PathEscapes]. A missing file is [FileNotFound].
type Files interface {
	// StatFile describes a file without following a link at its end. A read.
	StatFile(ctx context.Context, name, path string) (FileInfo, error)
	// OpenFile reads a regular file. A read.
	OpenFile(ctx context.Context, name, path string) (io.ReadCloser, FileInfo, error)
	// ListFiles reads the entries of a directory, sorted by name. A read.
	ListFiles(ctx context.Context, name, path string) ([]FileInfo, error)
	// WriteFile replaces a file in one step and makes missing parents. The file belongs to the
	// sandbox's user. Mode holds permission bits only.
	WriteFile(ctx context.Context, name, path string, content []byte, mode fs.FileMode) error
	// RemoveFile removes a file; a missing one is success. Directories are refused with [Invalid].
	RemoveFile(ctx context.Context, name, path string) error
}

// Checker is implemented by backends that restrict more of a specification than their table can say.
type Checker interface {
	// CheckSpec returns what a sandbox of that kind cannot have, besides [Capabilities.Gaps], in a
	// stable order. Create and Reconfigure refuse the first of it with [Unsupported]. No I/O.
	CheckSpec(kind Kind, spec Spec) []Gap
}

// CheckSpec returns the gaps of a specification that a backend itself knows of.
func CheckSpec(backend Backend, kind Kind, spec Spec) []Gap {
	if checker, ok := backend.(Checker); ok {
		return checker.CheckSpec(kind, spec)
	}
	return nil
}

// Locator is implemented by backends whose configuration alone says where objects live.
type Locator interface {
	// Location is what Binding returns when the place can be reached. No I/O.
	Location() (Binding, error)
}

// Glancer is implemented by backends that can read many sandboxes by few requests.
type Glancer interface {
	// Glance is Get for a sandbox that was last asked to be as spec says. It answers from one listing
	// that all calls share until this backend itself changes something, and reads singly what that
	// does not tell for certain. A read.
	Glance(ctx context.Context, name string, spec Spec) (Observed, error)
}

// Snapshotter is implemented by backends whose capability table has Snapshot.
//
// Where it has AssignedSnapshotIDs, the id that CreateSnapshot takes is the [Observed].SessionID of
// the session to save, and the one it returns is the snapshot's: all others take that. The same
// session is saved once only, so that a call can be repeated after a crash.
type Snapshotter interface {
	// CreateSnapshot saves the file system and the workspace under id. Secrets and the environment
	// are left out. A snapshot of that id that carries the same marks is returned as it is.
	CreateSnapshot(ctx context.Context, marks Marks, id string) (Snapshot, error)
	// GetSnapshot reads one snapshot; [NotFound] as for sandboxes. A read.
	GetSnapshot(ctx context.Context, id string) (Snapshot, error)
	// ListSnapshots reads the snapshots whose marks name the record. A read.
	ListSnapshots(ctx context.Context, record string) ([]Snapshot, error)
	// DeleteSnapshot removes a snapshot whose marks have the same owner. An absent one is success;
	// one that a sandbox still needs is [Conflict].
	DeleteSnapshot(ctx context.Context, marks Marks, id string) error
}

// Availability is the answer of a probe.
type Availability struct {
	Available bool
	// Version of the engine or program, as it tells it.
	Version string
	// Reason says why it is not available and what to do. Empty when it is.
	Reason string
}

// Binding is where the objects of a backend live: an engine, an account, a data directory.
type Binding struct {
	// ID is compared; it must not change while objects live.
	ID string
	// Description is for people: an address without credentials, a path.
	Description string
}

// DeleteOptions tell what goes besides compute and workspace.
type DeleteOptions struct {
	Volumes   bool // named volumes, also those no longer attached
	Snapshots bool // snapshots taken of this sandbox
}

// Command is one command to run inside a sandbox.
type Command struct {
	// Argv is passed as it is: no shell.
	Argv []string
	// Environment is added to the sandbox's own environment and secrets.
	Environment map[string]string
	// WorkingDirectory is absolute; empty means the sandbox's own.
	WorkingDirectory string
	// User is a name or uid; empty means the sandbox's own.
	User string
	// Timeout ends the command with [TimedOut]; 0 means none beyond the context's.
	Timeout time.Duration
	// SecretNames are variables of the sandbox whose values the output must not show. Backends that
	// know the secrets of a sandbox themselves need not be told.
	SecretNames []string
	// OutputLimit bounds the bytes kept of each stream; 0 means 64 KiB. The rest is discarded.
	OutputLimit int
}

// DefaultOutputLimit is how many bytes of each stream are kept when a command does not say.
const DefaultOutputLimit = 64 << 10

// ExecResult is how a command ended.
type ExecResult struct {
	ExitCode int
	Stdout   []byte
	Stderr   []byte
	// Truncated is true when a stream was longer than the limit.
	Truncated bool
}

// FileInfo describes a file inside a sandbox.
type FileInfo struct {
	Path       string // absolute inside the sandbox
	Size       int64  // bytes
	Mode       fs.FileMode
	ModTime    time.Time
	LinkTarget string // of a symbolic link
}

// Snapshot is a saved state of a sandbox.
type Snapshot struct {
	ID string
	// Marks are the zero value where the capability table has UnmarkedSnapshots.
	Marks     Marks
	SizeBytes int64
	CreatedAt time.Time
	// ExpiresAt is when it goes by itself unless it is used before. Zero: never.
	ExpiresAt time.Time
}
