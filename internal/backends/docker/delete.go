package docker

import (
	"context"
	"slices"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Delete removes containers, images made for the sandbox and, last of all, its workspace: while
// something is left, the sandbox is still seen.
func (b *Backend) Delete(ctx context.Context, marks backends.Marks, options backends.DeleteOptions) error {
	const operation = "delete sandbox"
	e, err := b.connect()
	if err != nil {
		return err
	}
	defer b.locks.lock(marks.Name)()
	found, err := e.locate(ctx, marks.Name)
	if err != nil {
		return e.fail(operation, marks.Name, err)
	}
	if labels := found.labels(); labels != nil && !same(labels, marks) {
		return notOurs(operation, marks.Name, "A sandbox or container")
	}
	for _, c := range found.containers() {
		if !isSandbox(c.Name, c.Config.Labels) || !same(c.Config.Labels, marks) {
			return notOurs(operation, marks.Name, "A container")
		}
	}
	for _, c := range found.containers() {
		if err := b.removeWithVolumes(ctx, e, *c); err != nil {
			return e.fail(operation, marks.Name, err)
		}
	}
	if err := e.settleScratch(ctx, marks); err != nil {
		return e.fail(operation, marks.Name, err)
	}
	if err := e.removeImages(ctx, marks, options); err != nil {
		return e.fail(operation, marks.Name, err)
	}
	roles := []string{roleWorkspace}
	if options.Volumes {
		roles = []string{roleVolume, roleWorkspace}
	}
	for _, role := range roles {
		volumes, err := e.ownVolumes(ctx, marks, role)
		if err != nil {
			return e.fail(operation, marks.Name, err)
		}
		for _, v := range volumes {
			if role == roleWorkspace && !same(v.Labels, marks) {
				continue
			}
			if err := e.removeVolume(ctx, v.Name); err != nil {
				return e.fail(operation, marks.Name, err)
			}
		}
	}
	return b.verifyGone(ctx, e, operation, marks, options)
}

// verifyGone asks the engine again for everything that had to go.
func (b *Backend) verifyGone(ctx context.Context, e *engine, operation string, marks backends.Marks, options backends.DeleteOptions) error {
	found, err := e.locate(ctx, marks.Name)
	if err != nil {
		return e.fail(operation, marks.Name, err)
	}
	var left []string
	for _, c := range found.containers() {
		if same(c.Config.Labels, marks) {
			left = append(left, "container "+c.Name)
		}
	}
	if found.workspace != nil && same(found.workspace.Labels, marks) {
		left = append(left, "volume "+found.workspace.Name)
	}
	if options.Volumes {
		volumes, err := e.ownVolumes(ctx, marks, roleVolume)
		if err != nil {
			return e.fail(operation, marks.Name, err)
		}
		for _, v := range volumes {
			left = append(left, "volume "+v.Name)
		}
	}
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	return &backends.Error{
		Kind: backends.Conflict, Backend: backendName, Operation: operation, Object: marks.Name,
		Detail: "Something of it is still on the engine, or was made again meanwhile.", Left: left,
	}
}

// removeWithVolumes removes a container and the volumes that its image asked for and nobody named.
// The engine removes them by itself only while no replacement has taken them over.
func (b *Backend) removeWithVolumes(ctx context.Context, e *engine, c container.InspectResponse) error {
	below, err := b.images.inherited(ctx, e, c.Image)
	if err != nil {
		return err
	}
	if err := e.removeContainer(ctx, c.ID); err != nil {
		return err
	}
	for _, name := range imageVolumes(c, below) {
		if err := e.removeVolume(ctx, name); err != nil && !cerrdefs.IsConflict(err) {
			return err
		}
	}
	return nil
}

// imageVolumes are the volumes that a container has only because its image declares them: target
// to engine name. The engine gives them a name of 64 hexadecimal digits.
func imageVolumes(c container.InspectResponse, below inherited) map[string]string {
	found := map[string]string{}
	for _, m := range c.Mounts {
		if _, declared := below.Volumes[m.Destination]; declared && m.Type == mount.TypeVolume && isAnonymous(m.Name) {
			found[m.Destination] = m.Name
		}
	}
	return found
}

func isAnonymous(volume string) bool {
	return len(volume) == 64 && !slices.ContainsFunc([]rune(volume), func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'f')
	})
}
