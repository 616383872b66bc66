//go:build linux

package local

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// snapshotRecord is the file beside an archive. A snapshot exists when both are there: the record
// is written first, and the archive is then renamed into place, finished.
type snapshotRecord struct {
	Version   int            `json:"version"`
	ID        string         `json:"id"`
	Marks     backends.Marks `json:"marks"`
	SHA256    string         `json:"sha256"`
	Size      int64          `json:"size_bytes"`
	Rootfs    string         `json:"rootfs,omitempty"`
	CreatedAt time.Time      `json:"created_at"`
}

func (r snapshotRecord) snapshot() backends.Snapshot {
	return backends.Snapshot{ID: r.ID, Marks: r.Marks, SizeBytes: r.Size, CreatedAt: r.CreatedAt}
}

// CreateSnapshot implements [backends.Snapshotter]. The sandbox may be running; what commands
// change meanwhile is saved as it is found.
func (b *Backend) CreateSnapshot(ctx context.Context, marks backends.Marks, id string) (backends.Snapshot, error) {
	op, err := b.begin("create snapshot", id, id, marks.Name)
	if err != nil {
		return backends.Snapshot{}, err
	}
	if _, err := b.load(op.on(marks.Name), marks.Name); err != nil { // so that an absent one leaves no lock file
		return backends.Snapshot{}, err
	}
	release, err := b.lock(ctx, op, marks.Name)
	if err != nil {
		return backends.Snapshot{}, err
	}
	defer release()
	stored, err := b.load(op.on(marks.Name), marks.Name)
	if err != nil {
		return backends.Snapshot{}, err
	}
	if !stored.ownedBy(marks) {
		return backends.Snapshot{}, op.on(marks.Name).fail(backends.NotOurs, "The sandbox carries the marks of another owner or record.")
	}
	present, err := b.loadSnapshot(op, id)
	switch {
	case err == nil && present.Marks == marks:
		return present.snapshot(), nil
	case err == nil:
		return backends.Snapshot{}, op.fail(backends.AlreadyExists, "A snapshot of this id carries other marks.")
	case !errors.Is(err, backends.NotFound):
		return backends.Snapshot{}, err
	}
	created, err := b.saveSnapshot(ctx, stored, snapshotRecord{
		Version: recordVersion, ID: id, Marks: marks, Rootfs: stored.rootfs(), CreatedAt: time.Now().UTC().Truncate(time.Second),
	})
	if err != nil {
		cause := op.wrap(err, "The snapshot could not be saved.")
		return backends.Snapshot{}, b.undo(context.WithoutCancel(ctx), cause, b.archiveStaging(marks.Name), b.archivePath(id), b.snapshotRecordPath(id))
	}
	return created.snapshot(), nil
}

func (b *Backend) saveSnapshot(ctx context.Context, stored record, created snapshotRecord) (snapshotRecord, error) {
	for _, directory := range []string{b.stagingDir(), b.snapshotsDir()} {
		if err := b.makeDir(ctx, directory); err != nil {
			return created, err
		}
	}
	staging := b.archiveStaging(stored.Marks.Name)
	err := b.do(ctx, "write archive", staging, func() (err error) {
		created.SHA256, created.Size, err = writeArchive(ctx, staging, b.sandboxDir(stored.Marks.Name))
		return err
	})
	if err != nil {
		return created, err
	}
	if err := b.replaceJSON(ctx, b.snapshotRecordPath(created.ID), created); err != nil {
		return created, err
	}
	return created, b.rename(ctx, staging, b.archivePath(created.ID))
}

// GetSnapshot implements [backends.Snapshotter].
func (b *Backend) GetSnapshot(_ context.Context, id string) (backends.Snapshot, error) {
	op, err := b.begin("read snapshot", id, id)
	if err != nil {
		return backends.Snapshot{}, err
	}
	present, err := b.loadSnapshot(op, id)
	return present.snapshot(), err
}

// ListSnapshots implements [backends.Snapshotter].
func (b *Backend) ListSnapshots(_ context.Context, wanted string) ([]backends.Snapshot, error) {
	op, err := b.begin("list snapshots", wanted)
	if err != nil {
		return nil, err
	}
	ids, err := b.snapshotIDs(op)
	if err != nil {
		return nil, err
	}
	var all []backends.Snapshot
	for _, id := range ids {
		present, err := b.loadSnapshot(op.on(id), id)
		if errors.Is(err, backends.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if present.Marks.Record == wanted {
			all = append(all, present.snapshot())
		}
	}
	return all, nil
}

// snapshotIDs returns the ids of all snapshot records, finished or not, sorted.
func (b *Backend) snapshotIDs(op operation) ([]string, error) {
	entries, err := os.ReadDir(b.snapshotsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, op.wrap(err, "The folder of the snapshots cannot be read.")
	}
	var ids []string
	for _, entry := range entries {
		if id, found := strings.CutSuffix(entry.Name(), ".json"); found && plainName.MatchString(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// loadSnapshot reads a finished snapshot.
func (b *Backend) loadSnapshot(op operation, id string) (snapshotRecord, error) {
	present, err := b.readSnapshotRecord(op, id)
	if err != nil {
		return snapshotRecord{}, err
	}
	_, err = os.Lstat(b.archivePath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return snapshotRecord{}, op.fail(backends.NotFound, "The snapshot %q has no archive: it was never finished, or is being removed.", id)
	}
	if err != nil {
		return snapshotRecord{}, op.wrap(err, "The archive of the snapshot cannot be looked at.")
	}
	return present, nil
}

func (b *Backend) readSnapshotRecord(op operation, id string) (snapshotRecord, error) {
	var present snapshotRecord
	content, err := os.ReadFile(b.snapshotRecordPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return present, op.fail(backends.NotFound, "There is no snapshot %q in the data directory.", id)
	}
	if err == nil {
		err = json.Unmarshal(content, &present)
	}
	if err == nil && (present.ID != id || present.Version != recordVersion) {
		err = errors.New("the record is of another snapshot or version")
	}
	return present, op.wrap(err, "The record "+filepath.Base(b.snapshotRecordPath(id))+" of the snapshot cannot be read.")
}

// DeleteSnapshot implements [backends.Snapshotter]. Restored sandboxes do not need it.
func (b *Backend) DeleteSnapshot(ctx context.Context, marks backends.Marks, id string) error {
	op, err := b.begin("delete snapshot", id, id)
	if err != nil {
		return err
	}
	present, err := b.readSnapshotRecord(op, id)
	switch {
	case errors.Is(err, backends.NotFound):
	case err != nil:
		return err
	case present.Marks.Owner != marks.Owner:
		return op.fail(backends.NotOurs, "The snapshot carries the marks of another owner.")
	}
	return b.removeSnapshot(ctx, op, id)
}

// removeSnapshot removes the archive first: the record leads a repeated deletion to the rest. A record
// that a killed process was writing goes too.
func (b *Backend) removeSnapshot(ctx context.Context, op operation, id string) error {
	for _, path := range []string{b.archivePath(id), temporaryPath(b.snapshotRecordPath(id)), b.snapshotRecordPath(id)} {
		if err := b.unlink(ctx, path); err != nil {
			return b.leftBehind(op, err, path)
		}
	}
	return nil
}

// deleteSnapshotsOf removes all snapshots, finished or not, that were taken of a sandbox.
func (b *Backend) deleteSnapshotsOf(ctx context.Context, op operation, marks backends.Marks) error {
	ids, err := b.snapshotIDs(op)
	if err != nil {
		return err
	}
	for _, id := range ids {
		present, err := b.readSnapshotRecord(op.on(id), id)
		if errors.Is(err, backends.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if present.Marks.Owner != marks.Owner || present.Marks.Record != marks.Record {
			continue
		}
		if err := b.removeSnapshot(ctx, op.on(id), id); err != nil {
			return err
		}
	}
	return nil
}
