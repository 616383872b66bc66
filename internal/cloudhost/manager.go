package cloudhost

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/seal"
)

// Manager carries the hosts of one project through their lives. It is made by each Configure anew, and
// used by pointer: it remembers one listing and the connections it made. It is safe for concurrent use.
type Manager struct {
	API   *hetzner.Client
	Store store.Store
	// Keyring seals the private keys in the store. Empty, they are kept in files below DataDir alone.
	Keyring seal.Keyring
	// SharedStore is true when the records live beyond this machine: then a host needs a Keyring.
	SharedStore bool
	// DataDir is the absolute folder below which the SSH files are written.
	DataDir string
	// ExplicitOwner is the configured owner; empty means the store's own.
	ExplicitOwner string
	// Rebind accepts a rotated token for hosts whose server carries the label of its record.
	Rebind bool
	// Observer is told of every SSH call and file write. Optional.
	Observer effects.Observer
	// Now is the clock that `expires_at` is compared with. Default: [time.Now].
	Now func() time.Time
}

var errNotYet = errors.New("not built yet")

// Create makes a host, or takes over the one that is there: what a killed create left is finished, a
// retained or attached one is re-attached with its disk, address and keys, and brought to DesiredState.
// It waits until the host is ready, for as long as ctx allows.
//
// saved is called, under the lock, whenever the record has learned something: first before the first
// allocation, then after each. The caller saves the state with it.
//
// A failure before the server was made has removed what this create made; a failure after that, or one
// that could not be cleaned up, is a *[PartialError]. Refusals that touch nothing: [CodeExpired],
// [CodeKeyringRequired], [CodeOtherOptions], [CodeMissing], [sandbox.CodeNotOurs],
// [sandbox.CodeOtherBinding], [CodeAmbiguous]. Of the API: a *backends.Error with the kinds NoCapacity,
// Unauthorized, Invalid, RateLimited, TimedOut, Conflict and Failed, and a *hetzner.APIError as its cause.
func (m *Manager) Create(ctx context.Context, request Request, saved func(Host)) (Result, error) {
	return Result{}, errNotYet
}

// Update brings an attached host to the request and finishes what a killed run began: labels, expiry and
// idle timeout without a call that touches the server, DesiredState by a graceful shutdown or a power-on,
// AuthorizedKeys over SSH. An uncommitted host is carried on to its commit. ServerType, Location and Image
// of the request are ignored. Errors: those of Create, [sandbox.CodeTakenOver], [CodeRecordMissing],
// [CodeStillRunning].
func (m *Manager) Update(ctx context.Context, attachment sandbox.Attachment, request Request, saved func(Host)) (Result, error) {
	return Result{}, errNotYet
}

// Read looks at the host of a state. Many reads are served by one listing, and what is not in that is read
// singly. A failing API or store, or another binding, is an error, never absence. It needs no keys and
// writes nothing. A lost record makes Recorded false; [CodeForeignLabels] when the server carries others.
func (m *Manager) Read(ctx context.Context, owner, name string, attachment sandbox.Attachment) (Host, error) {
	return Host{}, errNotYet
}

// Import looks up the host of an owner and name by its record, also one whose server is gone. Without a
// record it is [CodeRecordMissing]: its keys cannot be rebuilt from marks. It writes nothing.
func (m *Manager) Import(ctx context.Context, owner, name string) (Host, error) {
	return Host{}, errNotYet
}

// ByRecord looks at the host of a record, for data sources. [CodeRecordMissing] when there is none.
func (m *Manager) ByRecord(ctx context.Context, recordID string) (Host, error) {
	return Host{}, errNotYet
}

// Foresee looks a name up in the store alone, so that a plan can say what a create will meet. No API is
// asked.
func (m *Manager) Foresee(ctx context.Context, request Request) (Foresight, error) {
	return Foresight{}, errNotYet
}

// Delete lets go of a host. With purge it verifies every resource, then deletes server, address and key,
// and the record when all are gone; it can be repeated after any failure. Otherwise the server is shut down
// gracefully and the record detached. What was never committed is removed under either. A state whose
// attachment is not the record's only forgets. Refusals before the first deletion: [CodeForeignLabels],
// [CodeForeignAssignment], [CodeUntrackedIPv6], [CodeAmbiguous], [CodeConflictingID], [CodeProtected],
// [sandbox.CodeUnproven], [CodeRecordMissing].
func (m *Manager) Delete(ctx context.Context, owner, name string, attachment sandbox.Attachment, purge bool) (sandbox.Outcome, error) {
	return "", errNotYet
}

// Dispose purges a host that was never committed, and returns false when it was: then nothing is touched.
func (m *Manager) Dispose(ctx context.Context, owner, name string, attachment sandbox.Attachment) (bool, error) {
	return false, errNotYet
}

// Orphans lists what carries the label of our owner and is on no record: servers, then addresses, then
// keys, each by id. It deletes nothing.
func (m *Manager) Orphans(ctx context.Context) ([]Orphan, error) {
	return nil, errNotYet
}

// Access returns how to log in to a host. It makes no call of the API and writes nothing. Errors:
// [CodeRecordMissing], [CodeIncomplete] while there is no address, [CodeKeysMissing], and those of package
// seal: the keys were sealed with a key that is not at hand.
func (m *Manager) Access(ctx context.Context, recordID string) (Access, error) {
	return Access{}, errNotYet
}

// DialEngine connects to the Docker socket of a host through an SSH channel, with the key pinned. Channels
// to one host share a connection. Errors: those of Access, [CodeMissing], [CodeSleeping], [CodeIncomplete],
// [sandbox.CodeOtherBinding], and those of readiness about SSH and docker.
func (m *Manager) DialEngine(ctx context.Context, recordID string) (net.Conn, error) {
	return nil, errNotYet
}

// CheckCatalogue asks the catalogue whether a server type, location and image are offered together. Each
// problem names what is offered instead. An error means that the catalogue could not be read, so that a
// plan can go on without it.
func (m *Manager) CheckCatalogue(ctx context.Context, serverType, location, image string) ([]hetzner.Problem, error) {
	return nil, errNotYet
}

// SSHConfigPath is where the SSH configuration of a record is, or would be. No I/O.
func (m *Manager) SSHConfigPath(recordID string) string { return "" }
