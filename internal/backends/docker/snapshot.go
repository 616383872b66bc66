package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/volume"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

var tagPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

// snapshotReference names a snapshot's image. An id that cannot be a tag is hashed: snapshots are
// found by their label.
func snapshotReference(name, id string) string {
	tag := id
	if !tagPattern.MatchString(tag) {
		sum := sha256.Sum256([]byte(id))
		tag = hex.EncodeToString(sum[:16])
	}
	return "sandlot-snapshot/" + name + ":" + tag
}

// CreateSnapshot saves root file system and workspace as an image. A running sandbox is paused
// while they are copied.
func (b *Backend) CreateSnapshot(ctx context.Context, marks backends.Marks, id string) (backends.Snapshot, error) {
	const operation = "create snapshot"
	e, err := b.connect()
	if err != nil {
		return backends.Snapshot{}, err
	}
	defer b.locks.lock(marks.Name)()
	c, err := b.sandbox(ctx, e, operation, marks.Name)
	if err != nil {
		return backends.Snapshot{}, err
	}
	if !isSandbox(c.Name, c.Config.Labels) || !same(c.Config.Labels, marks) {
		return backends.Snapshot{}, notOurs(operation, marks.Name, "A container")
	}
	if err := e.settleScratch(ctx, marks); err != nil {
		return backends.Snapshot{}, e.fail(operation, id, err)
	}
	existing, err := e.snapshotsBy(ctx, labelSnapshot, id)
	if err != nil {
		return backends.Snapshot{}, e.fail(operation, id, err)
	}
	if len(existing) > 0 {
		if !same(existing[0].Labels, marks) {
			return backends.Snapshot{}, taken(operation, id, "snapshot "+id+" of another sandbox")
		}
		return snapshotOf(existing[0]), nil
	}
	// What is settled may have been unpaused.
	if c, err = b.sandbox(ctx, e, operation, marks.Name); err != nil {
		return backends.Snapshot{}, err
	}
	labels := imageLabels{marks: marks, role: roleSnapshot, snapshot: id}
	made := &undo{}
	if _, err := b.capture(ctx, e, *c, labels, snapshotReference(marks.Name, id), made); err != nil {
		return backends.Snapshot{}, addLeft(e.fail(operation, id, err), made.revert(ctx))
	}
	return b.GetSnapshot(ctx, id)
}

// snapshotsBy lists the snapshots with a label of that value.
func (e *engine) snapshotsBy(ctx context.Context, label, value string) ([]image.Summary, error) {
	return e.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(
		filters.Arg("label", labelRole+"="+roleSnapshot),
		filters.Arg("label", label+"="+value),
	)})
}

func snapshotOf(found image.Summary) backends.Snapshot {
	return backends.Snapshot{
		ID:        found.Labels[labelSnapshot],
		Marks:     marksOf(found.Labels),
		SizeBytes: found.Size,
		CreatedAt: time.Unix(found.Created, 0).UTC(),
	}
}

// GetSnapshot reads one snapshot.
func (b *Backend) GetSnapshot(ctx context.Context, id string) (backends.Snapshot, error) {
	const operation = "read snapshot"
	e, err := b.connect()
	if err != nil {
		return backends.Snapshot{}, err
	}
	found, err := e.snapshotsBy(ctx, labelSnapshot, id)
	if err != nil {
		return backends.Snapshot{}, e.fail(operation, id, err)
	}
	if len(found) == 0 {
		return backends.Snapshot{}, notFound(operation, id)
	}
	return snapshotOf(found[0]), nil
}

// ListSnapshots reads the snapshots of one record, the oldest first.
func (b *Backend) ListSnapshots(ctx context.Context, record string) ([]backends.Snapshot, error) {
	const operation = "list snapshots"
	e, err := b.connect()
	if err != nil {
		return nil, err
	}
	found, err := e.snapshotsBy(ctx, labelRecord, record)
	if err != nil {
		return nil, e.fail(operation, record, err)
	}
	var list []backends.Snapshot
	for _, summary := range found {
		list = append(list, snapshotOf(summary))
	}
	slices.SortFunc(list, func(a, b backends.Snapshot) int {
		if order := a.CreatedAt.Compare(b.CreatedAt); order != 0 {
			return order
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list, nil
}

// DeleteSnapshot removes a snapshot that no sandbox was made from, as far as it still needs it.
func (b *Backend) DeleteSnapshot(ctx context.Context, marks backends.Marks, id string) error {
	const operation = "delete snapshot"
	e, err := b.connect()
	if err != nil {
		return err
	}
	found, err := e.snapshotsBy(ctx, labelSnapshot, id)
	if err != nil {
		return e.fail(operation, id, err)
	}
	for _, summary := range found {
		if summary.Labels[labelOwner] != marks.Owner {
			return notOurs(operation, id, "A snapshot")
		}
		users, err := e.usersOf(ctx, summary)
		if err != nil {
			return e.fail(operation, id, err)
		}
		if len(users) > 0 {
			return &backends.Error{
				Kind: backends.Conflict, Backend: backendName, Operation: operation, Object: id,
				Detail: fmt.Sprintf("It is needed by: %s.", strings.Join(users, ", ")),
				Remedy: "Delete those first.",
			}
		}
		if err := e.removeImage(ctx, summary); err != nil {
			return e.fail(operation, id, err)
		}
	}
	return nil
}

// usersOf names what still needs an image: containers made from it or from an image on top of it,
// and sandboxes without a container that would be recovered from it.
func (e *engine) usersOf(ctx context.Context, summary image.Summary) ([]string, error) {
	list, err := e.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("ancestor", summary.ID))})
	if err != nil {
		return nil, err
	}
	users := map[string]bool{}
	for _, c := range list {
		for _, name := range c.Names {
			users[strings.TrimPrefix(name, "/")] = true
		}
	}
	volumes, err := e.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelImage+"="+summary.ID))})
	if err != nil {
		return nil, err
	}
	for _, v := range volumes.Volumes {
		if _, err := e.ContainerInspect(ctx, v.Labels[labelName]); cerrdefs.IsNotFound(err) {
			users[v.Labels[labelName]] = true
		} else if err != nil {
			return nil, err
		}
	}
	return sortedKeys(users), nil
}

func (b *Backend) fromSnapshot(ctx context.Context, e *engine, operation, id string) (root, error) {
	list, err := e.snapshotsBy(ctx, labelSnapshot, id)
	if err != nil {
		return root{}, err
	}
	if len(list) == 0 {
		return root{}, invalid(operation, "source.snapshot_id", fmt.Sprintf("The engine has no snapshot %q.", id), "")
	}
	found, err := e.ImageInspect(ctx, list[0].ID)
	if err != nil {
		return root{}, err
	}
	return rootOf(found.ID, found.ID, found)
}
