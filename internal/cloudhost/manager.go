package cloudhost

import (
	"context"
	"errors"
	"io"
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

	engines connections
}

func (m *Manager) now() time.Time {
	if m.Now != nil {
		return m.Now().UTC()
	}
	return time.Now().UTC()
}

func (m *Manager) records() sandbox.Records {
	return sandbox.Records{Store: m.Store, ExplicitOwner: m.ExplicitOwner}
}

// lock serializes everything that changes one host, across processes.
func (m *Manager) lock(ctx context.Context, name string) (context.Context, func() error, error) {
	return m.records().Lock(ctx, "cloud-host/"+name, "the cloud host "+name)
}

// write stores a changed record with its documents.
func (m *Manager) write(ctx context.Context, k *known) error {
	if err := k.seal(); err != nil {
		return err
	}
	return m.records().Write(ctx, &k.Record)
}

// find returns our record of a name wherever it is bound to, nil when there is none: a host of that name
// under a rotated token is the same host.
func (m *Manager) find(ctx context.Context, owner, name string) (*known, error) {
	found, err := m.Store.Find(ctx, store.Query{Backend: Backend, Kind: RecordKind, Owner: owner, Name: name})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if len(found) > 1 {
		return nil, refuse(CodeAmbiguous, "Keep one of them: look at the records of the store.", "There are %d records of %s.", len(found), ID(owner, name))
	}
	return open(found[0])
}

// byID returns the record of an id, which must be that of a host.
func (m *Manager) byID(ctx context.Context, recordID string) (*known, error) {
	record, err := m.records().ByID(ctx, recordID)
	if err != nil {
		return nil, err
	}
	if record == nil || record.Kind != RecordKind {
		return nil, refuse(CodeRecordMissing,
			"Use the `data_dir` or the database that the host was made with.",
			"There is no record %q of a cloud host here.", recordID)
	}
	return open(*record)
}

// ignoreClosed is the error of a Close without what an end that was there already says.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
