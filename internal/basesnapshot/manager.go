package basesnapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Manager bakes base snapshots on one backend and keeps their lanes.
type Manager struct {
	// Sandboxes gives backend, store, owner and locks.
	Sandboxes *sandbox.Manager
	// NamePrefix begins the names of the sandboxes and snapshots that a bake makes.
	NamePrefix string
}

// Request is what a create or update asks for.
type Request struct {
	Lane        Lane
	Manifest    Manifest
	Environment Environment
	Checks      []SmokeCheck
	// Verify boots a sandbox from a new snapshot and checks it before the lane points at it.
	Verify bool
	// Network is that of the seed sandbox; zero is the backend's default. It does not count for the
	// hash: it decides whether a bake works, not what comes out.
	Network backends.Network
	// Expiration is how long a snapshot may be used; 0 is for ever.
	Expiration time.Duration
	Retention  Retention
	// RebakeTrigger asks for a new bake when it is neither empty nor the one that the lane holds.
	RebakeTrigger string
	// Settings are kept in the record and returned by reads, so that an import knows them.
	Settings json.RawMessage
}

// SmokeCheck is a command that has to succeed in a good snapshot.
type SmokeCheck struct {
	Command []string `json:"command"`
	// Expect has to be contained in what the command prints; empty: anything will do.
	Expect string `json:"expect,omitempty"`
}

// Retention says which former snapshots are kept.
type Retention struct {
	// MinAge is the age from which a snapshot may be deleted; 0 says that the lane is disposable.
	MinAge time.Duration
	// KeepPrevious is how many former snapshots are kept to go back to.
	KeepPrevious int64
	// Purge deletes what neither of them keeps, after each rotation.
	Purge bool
}

// Result is how a lane stands after a create or update.
type Result struct {
	Attachment sandbox.Attachment
	// Current is the snapshot that new workspaces start from, Previous the one before it, if any.
	Current  Entry
	Previous *Entry
	// History are all entries of the lane, the newest first.
	History []Entry
	// Baked is true when a new snapshot was made, and not an existing one used.
	Baked bool
	// Reattached is true when a create found the lane and took it over.
	Reattached bool
	// Warnings tell of old snapshots that retention lets go and that could not be deleted.
	Warnings []string
}

// Check judges a request by itself. It returns a *[FieldError] or *sandbox.Refusal for each thing that
// is wrong, joined.
func (r Request) Check() error {
	problems := []error{r.Manifest.Check(), r.Environment.check()}
	if err := r.Lane.Check(); err != nil {
		problems = append(problems, &FieldError{Field: "lane", Err: err})
	}
	if r.Manifest.Runtime != r.Lane.Runtime {
		problems = append(problems, &FieldError{Field: "manifest.runtime", Err: fmt.Errorf("%q is not the runtime of the lane, %q", r.Manifest.Runtime, r.Lane.Runtime)})
	}
	for i, check := range r.Checks {
		if err := checkCommand(check.Command); err != nil {
			problems = append(problems, &FieldError{Field: fmt.Sprintf("smoke_checks[%d].command", i), Err: err})
		}
	}
	return errors.Join(problems...)
}

// Gaps returns what of a request a backend with this capability table cannot honor.
func (r Request) Gaps(table backends.Capabilities) []backends.Gap {
	var gaps []backends.Gap
	if !table.Snapshot || !table.SnapshotSource {
		gaps = append(gaps, backends.Gap{Attribute: "backend", Detail: "It cannot save snapshots and start sandboxes from them."})
	}
	if r.Manifest.Runtime != "" {
		gaps = append(gaps, backends.Gap{Attribute: "manifest.runtime", Detail: "It has no runtimes to choose from. Use a source."})
	}
	if len(r.Manifest.SystemPackages) > 0 && !table.SystemPackages {
		gaps = append(gaps, backends.Gap{Attribute: "manifest.system_packages", Detail: "Commands cannot become root there, so that no packages can be installed into the system."})
	}
	for _, gap := range table.Gaps(backends.Spec{Source: r.Manifest.Source, Network: r.Network}) {
		if gap.Attribute != "network.mode" {
			gap.Attribute = "manifest." + gap.Attribute
		}
		gaps = append(gaps, gap)
	}
	return gaps
}

// place is where snapshots live and whose they are.
type place struct {
	backend, binding, owner string
}

func placeOf(record store.Record) place {
	return place{backend: record.Backend, binding: record.Binding, owner: record.Owner}
}

// entries returns the entries of all lanes that were baked from a manifest of this hash.
func (m *Manager) entries(ctx context.Context, where place, hash string) ([]store.Snapshot, error) {
	return m.store().FindSnapshots(ctx, store.SnapshotQuery{Backend: where.backend, Binding: where.binding, Owner: where.owner, ManifestHash: hash})
}

func (m *Manager) backend() backends.Backend { return m.Sandboxes.Backend }
func (m *Manager) store() store.Store        { return m.Sandboxes.Store }

// snapshotter is the backend as one that saves snapshots.
func (m *Manager) snapshotter() (backends.Snapshotter, error) {
	snapshotter, ok := m.backend().(backends.Snapshotter)
	if !ok || !m.backend().Capabilities().Snapshot {
		return nil, &backends.Error{Kind: backends.Unsupported, Backend: m.backend().Name(), Operation: "bake base snapshot", Object: "backend", Detail: "It cannot save snapshots."}
	}
	return snapshotter, nil
}

// lockLane serializes everything that changes one lane.
func (m *Manager) lockLane(ctx context.Context, lane Lane) (context.Context, func() error, error) {
	id := ID(m.backend().Name(), lane)
	return m.Sandboxes.Lock(ctx, "base-snapshot/lane/"+id, id)
}

// lockManifest serializes everything that makes, shares or deletes the snapshots of one manifest. It
// is asked for below the lock of a lane, and nothing below it.
func (m *Manager) lockManifest(ctx context.Context, where place, hash string) (context.Context, func() error, error) {
	key := fmt.Sprintf("base-snapshot/bake/%s/%s/%s/%s", where.backend, where.binding, where.owner, hash)
	return m.Sandboxes.Lock(ctx, key, "the bake of manifest "+hash[:min(8, len(hash))])
}

// underManifest runs work under the lock of a manifest.
func (m *Manager) underManifest(ctx context.Context, where place, hash string, work func(context.Context) error) (err error) {
	ctx, unlock, err := m.lockManifest(ctx, where, hash)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return work(ctx)
}

// present asks whether the backend still has the snapshot of an entry, and that it is ours.
func (m *Manager) present(ctx context.Context, entry store.Snapshot) (bool, error) {
	if entry.SnapshotID == "" {
		return false, nil
	}
	snapshotter, err := m.snapshotter()
	if err != nil {
		return false, err
	}
	found, err := snapshotter.GetSnapshot(ctx, entry.SnapshotID)
	if isMissing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return found.Marks.Owner == entry.Owner || m.backend().Capabilities().UnmarkedSnapshots, nil
}

// find returns the record of a lane, nil when there is none.
func (m *Manager) find(ctx context.Context, where place, lane Lane) (*store.Record, error) {
	records, err := m.store().Find(ctx, store.Query{Backend: where.backend, Binding: where.binding, Owner: where.owner, Kind: RecordKind, Name: recordPrefix + lane.String()})
	if err != nil || len(records) == 0 {
		return nil, err
	}
	return &records[0], nil
}

// hashes returns the hashes of entries, sorted, each once.
func hashes(entries []store.Snapshot) []string {
	var all []string
	for _, entry := range entries {
		all = append(all, entry.ManifestHash)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// now is the present time as precise as every store keeps it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
