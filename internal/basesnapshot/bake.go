package basesnapshot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// usableWithin is how long a new snapshot may take until the backend has it.
const usableWithin = 5 * time.Minute

// bake is one bake under way. The locks of its lane and of its manifest are held.
type bake struct {
	*Manager
	work        *job
	snapshotter backends.Snapshotter
	entry       store.Snapshot
	environment map[string]string
	// Known once the seed runs.
	workspace string
	session   string
	marker    marker
}

// bake makes a new snapshot and makes the lane point at it. When any step fails, everything that was
// made goes again, and the lane points where it did.
func (m *Manager) bake(ctx context.Context, work *job) error {
	snapshotter, err := m.snapshotter()
	if err != nil {
		return err
	}
	b := &bake{Manager: m, work: work, snapshotter: snapshotter, environment: work.request.Environment.passed()}
	// Before the first allocation, so that whatever a killed bake leaves is found.
	if b.entry, err = m.enter(ctx, work); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		b.makeSeed, b.installPackages, b.runCommands, b.copyFiles, b.writeMarker, b.checkSeed,
		b.save, b.removeSeed, b.tryOut, b.publish,
	} {
		err := ctx.Err()
		if err == nil {
			err = step(ctx)
		}
		if err != nil {
			return b.abort(ctx, withoutValues(err, b.environment))
		}
	}
	return nil
}

// enter writes the entry of a bake that is about to begin.
func (m *Manager) enter(ctx context.Context, work *job) (store.Snapshot, error) {
	raw, err := store.Encode(details{
		Manifest:    work.request.Manifest,
		Environment: slices.Sorted(maps.Keys(work.request.Environment.Values)),
		Allowlist:   work.request.Environment.Allowlist,
		Checks:      work.request.Checks,
		Attempt:     work.attempt,
	})
	if err != nil {
		return store.Snapshot{}, err
	}
	return m.store().InsertSnapshot(ctx, store.Snapshot{
		ID: sandbox.NewToken(), Lane: work.lane, Backend: work.where.backend, Binding: work.where.binding, Owner: work.where.owner,
		ManifestHash: work.hash, Version: Label(work.request.Manifest, work.hash, now()),
		SnapshotID: m.announcedID(work.hash), Status: store.SnapshotBaking, Seed: m.seedName(work.where.owner, work.hash), Manifest: raw,
	})
}

// makeSeed makes the sandbox that everything is put into. It gets no environment: what it has would
// be there in the snapshot.
func (b *bake) makeSeed(ctx context.Context) error {
	observed, err := b.backend().Create(ctx, seedMarks(b.entry), b.seedSpec())
	if errors.Is(err, backends.AlreadyExists) {
		return &StepError{
			Step: "the seed sandbox " + b.entry.Seed, Detail: "a sandbox of that name exists, and no bake that this store knows of made it",
			Err: fmt.Errorf("if a bake of another store is at work on the same manifest, wait for it; otherwise remove that sandbox: %w", err),
		}
	}
	if err != nil {
		return &StepError{Step: "the seed sandbox " + b.entry.Seed, Err: err}
	}
	b.workspace, b.session, b.entry.SourceDigest = observed.Workspace, observed.SessionID, observed.ResolvedImage
	return b.layOut()
}

// seedTimeout is how long a seed may run where the platform ends every session. The smallest plan of
// Vercel allows no more.
const seedTimeout = 45 * time.Minute

func (b *bake) seedSpec() backends.Spec {
	spec := backends.Spec{Source: b.work.request.Manifest.Source, Network: b.work.request.Network}
	table := b.backend().Capabilities()
	if table.Defaults.Timeout != 0 {
		spec.Timeout = seedTimeout
	}
	if expiration := b.work.request.Expiration; table.NativeRetention && expiration != 0 {
		spec.Retention = &backends.SnapshotRetention{Expiration: expiration}
	}
	return spec
}

// announcedID is the id of a snapshot before it is made, "" where the platform will choose it.
func (m *Manager) announcedID(hash string) string {
	if m.backend().Capabilities().AssignedSnapshotIDs {
		return ""
	}
	return m.snapshotName(hash)
}

// runCommands runs the commands of the manifest in the workspace.
func (b *bake) runCommands(ctx context.Context) error {
	for i, argv := range b.work.request.Manifest.Commands {
		if err := b.run(ctx, fmt.Sprintf("command %d", i+1), backends.Command{Argv: argv}); err != nil {
			return err
		}
	}
	return nil
}

// copyFiles puts the template files into the seed.
func (b *bake) copyFiles(ctx context.Context) error {
	for _, entry := range b.work.request.Manifest.Files.Entries {
		content, err := entry.Open(ctx)
		if err != nil {
			return &StepError{Step: "the template file " + entry.Path, Err: err}
		}
		target, err := sandbox.ResolvePath(b.workspace, entry.Path)
		if err == nil {
			err = b.backend().WriteFile(ctx, b.entry.Seed, target, content, entry.Mode.FileMode())
		}
		if err != nil {
			return &StepError{Step: "the template file " + entry.Path, Err: err}
		}
	}
	return nil
}

func (b *bake) writeMarker(ctx context.Context) error {
	if err := b.backend().WriteFile(ctx, b.entry.Seed, b.marker.path, b.marker.content, 0o644); err != nil {
		return &StepError{Step: "the marker " + b.marker.path, Err: err}
	}
	return nil
}

func (b *bake) checkSeed(ctx context.Context) error { return b.check(ctx, b.entry.Seed, "in the seed") }

// save takes the snapshot, the last thing that happens to the seed: on some backends that ends it.
// An id that the platform chose is noted before the seed goes, by which alone it could be found.
func (b *bake) save(ctx context.Context) error {
	asked := b.entry.SnapshotID
	if asked == "" {
		asked = b.session
	}
	made, err := b.snapshotter.CreateSnapshot(ctx, seedMarks(b.entry), asked)
	if err == nil && b.entry.SnapshotID == "" {
		b.entry.SnapshotID = made.ID
		b.entry, err = b.store().UpdateSnapshot(ctx, b.entry)
	}
	if err == nil {
		var found backends.Snapshot
		found, err = b.awaitSnapshot(ctx)
		b.entry.SizeBytes = found.SizeBytes
		if err == nil && !found.ExpiresAt.IsZero() && b.work.request.Expiration == 0 {
			err = fmt.Errorf("it expires at %s, although it was to stay", found.ExpiresAt.UTC().Format(time.RFC3339))
		}
	}
	if err != nil {
		return &StepError{Step: "the snapshot " + orSeed(b.entry), Err: err}
	}
	return nil
}

// orSeed names a snapshot, by its seed as long as it has no id.
func orSeed(entry store.Snapshot) string {
	if entry.SnapshotID == "" {
		return "of " + entry.Seed
	}
	return entry.SnapshotID
}

// awaitSnapshot waits until the backend has the snapshot: an id is not published before.
func (b *bake) awaitSnapshot(ctx context.Context) (backends.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, usableWithin)
	defer cancel()
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		found, err := b.snapshotter.GetSnapshot(ctx, b.entry.SnapshotID)
		if !errors.Is(err, backends.NotFound) {
			return found, err
		}
		select {
		case <-ctx.Done():
			return found, errors.Join(ctx.Err(), err)
		case <-time.After(pause):
		}
	}
}

func (b *bake) removeSeed(ctx context.Context) error {
	if err := b.removeBox(ctx, seedMarks(b.entry)); err != nil {
		return &StepError{Step: "the seed sandbox " + b.entry.Seed, Detail: "it cannot be removed", Err: err}
	}
	return nil
}

// tryOut boots a sandbox from the snapshot, just as a workspace would, and checks it.
func (b *bake) tryOut(ctx context.Context) error {
	if !b.work.request.Verify {
		return nil
	}
	marks := verifyMarks(b.entry)
	if _, err := b.backend().Create(ctx, marks, backends.Spec{Source: backends.Source{SnapshotID: b.entry.SnapshotID}}); err != nil {
		return &StepError{Step: "a sandbox from the new snapshot", Err: err}
	}
	if err := b.check(ctx, marks.Name, "in a sandbox from the new snapshot"); err != nil {
		return err
	}
	if err := b.removeBox(ctx, marks); err != nil {
		return &StepError{Step: "the sandbox " + marks.Name, Detail: "it cannot be removed", Err: err}
	}
	return nil
}

// publish makes the lane point at the snapshot.
func (b *bake) publish(ctx context.Context) error {
	b.entry.ReadyAt = now()
	return b.promote(ctx, b.work, b.entry)
}

// abort removes everything that a failed bake made, also when ctx was canceled. The entry is marked
// first: when the lock is lost, that fails, and another bake may be at work under the same names.
func (b *bake) abort(ctx context.Context, cause error) error {
	ctx, cancel := sandbox.Detached(ctx)
	defer cancel()
	marked, err := b.fail(ctx, b.entry, reasonOf(cause), true)
	if errors.Is(err, store.ErrLockLost) || errors.Is(cause, store.ErrLockLost) {
		return errors.Join(cause, err)
	}
	left, sweepErr := b.sweep(ctx, b.entry)
	b.work.left = left
	if err == nil && sweepErr == nil {
		_, err = b.fail(ctx, marked, "", false)
	}
	if err != nil {
		err = fmt.Errorf("note that the bake failed: %w", err)
	}
	refusal := &sandbox.Refusal{
		Code:   CodeBakeFailed,
		Detail: "The bake failed. Nothing of it is left, and the lane points where it did.",
		Remedy: "Mend the cause and apply again.",
		Err:    joined(cause, sweepErr, err),
	}
	if len(left) > 0 {
		refusal.Detail = fmt.Sprintf("The bake failed, and the lane points where it did. Left behind: %s.", strings.Join(left, ", "))
		refusal.Remedy += " The next bake of this lane removes first what is left."
	}
	return refusal
}

// joined keeps a single error as it is.
func joined(cause error, others ...error) error {
	if errors.Join(others...) == nil {
		return cause
	}
	return errors.Join(append([]error{cause}, others...)...)
}

// reasonOf is what the registry keeps of a failure: no output, which can be long and say anything.
func reasonOf(cause error) string {
	var step *StepError
	if !errors.As(cause, &step) {
		return cause.Error()
	}
	if step.Err != nil {
		return step.summary() + ": " + step.Err.Error()
	}
	return step.summary()
}
