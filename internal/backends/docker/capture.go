package docker

import (
	"context"
	"fmt"
	"maps"
	"slices"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// labelUnpause is, on a scratch container, the id of the container that was paused for it.
const labelUnpause = "sandlot.unpause"

// capture makes an image of a sandbox's root file system and workspace. Its steps:
//
//  1. NAME.scratch is made from the sandbox's image, without anything of its configuration. It
//     never runs, and also remembers that the sandbox was paused.
//  2. The sandbox is paused, if it runs.
//  3. A changed root file system is saved as an image, and NAME.layer made from that.
//  4. The workspace is copied into the scratch container, below where its volume would be.
//  5. The sandbox goes on.
//  6. The scratch container is committed, and then removed.
func (b *Backend) capture(ctx context.Context, e *engine, c container.InspectResponse, labels imageLabels, reference string, made *undo) (string, error) {
	pause := statusOf(c) == backends.StatusRunning
	cleanup := &undo{}
	id, err := e.makeScratch(ctx, c, c.Image, labels.marks, suffixScratch, pause, cleanup)
	if err == nil {
		id, err = b.fillScratch(ctx, e, c, id, labels, pause, cleanup, made)
	}
	var imageID string
	if err == nil {
		made.add("image "+reference, func(ctx context.Context) error { return e.removeReference(ctx, reference) })
		imageID, err = b.commitScratch(ctx, e, id, labels, reference)
	}
	if left := cleanup.revert(ctx); len(left) > 0 && err == nil {
		err = &backends.Error{
			Kind: backends.Failed, Backend: backendName, Operation: "create snapshot", Object: labels.marks.Name,
			Detail: "It was made, but not everything that was needed for it could be removed.", Left: left,
		}
	}
	return imageID, err
}

// makeScratch makes a container that never runs.
func (e *engine) makeScratch(ctx context.Context, source container.InspectResponse, from string, marks backends.Marks, suffix string, unpause bool, cleanup *undo) (string, error) {
	labels := markLabels(marks, roleScratch)
	labels[labelUnpause] = ""
	if unpause {
		labels[labelUnpause] = source.ID
	}
	config := &container.Config{Image: from, Labels: labels, Entrypoint: []string{"sleep"}}
	created, err := e.newContainer(ctx, config, &container.HostConfig{NetworkMode: network.NetworkNone}, marks.Name+suffix)
	if err != nil {
		return "", err
	}
	cleanup.add("container "+marks.Name+suffix, func(ctx context.Context) error { return e.removeContainer(ctx, created.ID) })
	return created.ID, nil
}

// fillScratch copies the sandbox into the scratch container and returns the one it went into.
func (b *Backend) fillScratch(ctx context.Context, e *engine, c container.InspectResponse, scratch string, labels imageLabels, pause bool, cleanup, made *undo) (id string, err error) {
	if pause {
		if err := e.ContainerPause(ctx, c.ID); err != nil {
			return "", err
		}
		defer func() {
			ctx, cancel := detached(ctx)
			defer cancel()
			if back := e.ContainerUnpause(ctx, c.ID); back != nil && err == nil {
				err = back
			}
		}()
	}
	layer := labels
	layer.role = roleLayer
	made.add("an untagged image of "+labels.marks.Name, func(ctx context.Context) error { return e.removeLayers(ctx, labels.marks) })
	saved, isNew, err := b.saveRoot(ctx, e, c, layer, "")
	if err != nil {
		return "", err
	}
	if isNew {
		if scratch, err = e.makeScratch(ctx, c, saved, labels.marks, suffixLayer, false, cleanup); err != nil {
			return "", err
		}
	}
	content, _, err := e.CopyFromContainer(ctx, c.ID, workspacePath)
	if cerrdefs.IsNotFound(err) {
		return scratch, nil
	}
	if err != nil {
		return "", err
	}
	defer content.Close()
	if err := e.CopyToContainer(ctx, scratch, "/", content, container.CopyToContainerOptions{}); err != nil {
		return "", fmt.Errorf("copy the workspace: %w", err)
	}
	return scratch, nil
}

func (b *Backend) commitScratch(ctx context.Context, e *engine, id string, labels imageLabels, reference string) (string, error) {
	c, err := e.ContainerInspect(ctx, id)
	if err != nil {
		return "", err
	}
	below, err := b.images.inherited(ctx, e, c.Image)
	if err != nil {
		return "", err
	}
	return e.commit(ctx, c, below, labels, reference)
}

// settleScratch removes what a killed capture left, after it let the sandbox go on.
func (e *engine) settleScratch(ctx context.Context, marks backends.Marks) error {
	list, err := e.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(
		filters.Arg("label", labelRole+"="+roleScratch),
		filters.Arg("label", labelOwner+"="+marks.Owner),
		filters.Arg("label", labelRecord+"="+marks.Record),
	)})
	if err != nil {
		return err
	}
	// The one that remembers the pause goes last.
	slices.SortFunc(list, func(a, b container.Summary) int {
		return len(a.Labels[labelUnpause]) - len(b.Labels[labelUnpause])
	})
	for _, summary := range list {
		if paused := summary.Labels[labelUnpause]; paused != "" {
			if err := e.unpause(ctx, paused); err != nil {
				return err
			}
		}
		if err := e.removeContainer(ctx, summary.ID); err != nil {
			return err
		}
	}
	return e.removeLayers(ctx, marks)
}

// removeLayers removes saved root file systems that did not become part of a snapshot. The engine
// does not list those that did.
func (e *engine) removeLayers(ctx context.Context, marks backends.Marks) error {
	layers, err := e.ownImages(ctx, marks, roleLayer)
	if err != nil {
		return err
	}
	for _, layer := range layers {
		if err := e.removeImage(ctx, layer); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) unpause(ctx context.Context, id string) error {
	c, err := e.ContainerInspect(ctx, id)
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	if err != nil || !c.State.Paused {
		return err
	}
	return e.ContainerUnpause(ctx, id)
}

// fromClone captures another sandbox as the root image of a new one. It belongs to the new one,
// serves its recovery too, and goes with it.
func (b *Backend) fromClone(ctx context.Context, e *engine, operation string, marks backends.Marks, source string, made *undo) (root, error) {
	c, err := e.byName(ctx, source)
	if err != nil {
		return root{}, err
	}
	if c == nil {
		return root{}, invalid(operation, "source.clone_of", fmt.Sprintf("There is no sandbox %q on this engine to clone, or its container is gone.", source), "")
	}
	if !isSandbox(c.Name, c.Config.Labels) || c.Config.Labels[labelOwner] != marks.Owner {
		return root{}, notOurs(operation, source, "A container")
	}
	if err := e.settleScratch(ctx, marks); err != nil {
		return root{}, err
	}
	if err := e.removeSuperseded(ctx, marks, ""); err != nil {
		return root{}, err
	}
	if c, err = e.byName(ctx, source); err != nil {
		return root{}, err
	}
	if c == nil {
		return root{}, invalid(operation, "source.clone_of", fmt.Sprintf("The sandbox %q went away meanwhile.", source), "")
	}
	reference, err := rootReference(marks.Name)
	if err != nil {
		return root{}, err
	}
	id, err := b.capture(ctx, e, *c, imageLabels{marks: marks, role: roleRoot}, reference, made)
	if err != nil {
		return root{}, err
	}
	found, err := e.ImageInspect(ctx, id)
	if err != nil {
		return root{}, err
	}
	return rootOf(found.ID, found.ID, found)
}

func sortedKeys(values map[string]bool) []string {
	return slices.Sorted(maps.Keys(values))
}
