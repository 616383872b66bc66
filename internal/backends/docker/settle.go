package docker

import (
	"context"

	"github.com/docker/docker/api/types/container"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// The replacement of a container goes through these steps. Each can be the last one of a killed
// process, and what is there then tells how to go on:
//
//  1. NAME is renamed to NAME.old, if it runs, so that this is not forgotten. It is stopped.
//  2. Its root file system is saved as an image.
//  3. NAME.next is made from that, and started if NAME.old is there.
//  4. The old container is removed, then the images that it was the last to need.
//  5. NAME.next is renamed to NAME.
//
// The rename is last, so that a sandbox with something left to do never looks whole. With a
// NAME.next, settle goes on from step 3, otherwise it takes step 1 back.

// settle finishes or takes back what a killed call began and returns the container of the sandbox,
// nil when there is none but its workspace.
func (b *Backend) settle(ctx context.Context, e *engine, operation string, marks backends.Marks, found place) (*container.InspectResponse, error) {
	if found.labels() == nil {
		return nil, notFound(operation, marks.Name)
	}
	for _, c := range found.containers() {
		if !isSandbox(c.Name, c.Config.Labels) || !same(c.Config.Labels, marks) {
			return nil, notOurs(operation, marks.Name, "A container")
		}
	}
	if len(found.containers()) == 0 && !same(found.labels(), marks) {
		return nil, notOurs(operation, marks.Name, "A workspace")
	}
	if err := e.settleScratch(ctx, marks); err != nil {
		return nil, err
	}
	switch {
	case found.next != nil:
		return e.finish(ctx, operation, marks, found)
	case found.old != nil && found.current != nil:
		return nil, &backends.Error{
			Kind: backends.Conflict, Backend: backendName, Operation: operation, Object: marks.Name,
			Detail: "There are two containers of it, " + marks.Name + " and " + marks.Name + suffixOld + ", which no operation of Sandlot leaves.",
			Remedy: "Remove the one that is not needed.",
		}
	case found.old != nil:
		if err := e.takeBack(ctx, *found.old, marks.Name); err != nil {
			return nil, e.blame(operation, marks.Name, err)
		}
	case found.current == nil:
		return nil, nil
	}
	return e.byName(ctx, marks.Name)
}

// takeBack undoes the first step.
func (e *engine) takeBack(ctx context.Context, old container.InspectResponse, name string) error {
	// A start of a running container is no error to the engine.
	if err := e.ContainerStart(ctx, old.ID, container.StartOptions{}); err != nil {
		return err
	}
	return e.ContainerRename(ctx, old.ID, name)
}

// finish goes on where a replacement exists. When it does not start, the old container is put back.
func (e *engine) finish(ctx context.Context, operation string, marks backends.Marks, found place) (*container.InspectResponse, error) {
	next := found.next
	if next.Config.Labels[labelResume] == "true" && !next.State.Running {
		if err := e.ContainerStart(ctx, next.ID, container.StartOptions{}); err != nil {
			failure := e.blame(operation, marks.Name, err)
			if found.old == nil {
				return nil, failure
			}
			undone := &undo{}
			undone.add("container "+marks.Name+suffixOld+" in place of "+marks.Name, func(ctx context.Context) error { return e.takeBack(ctx, *found.old, marks.Name) })
			undone.add("container "+marks.Name+suffixNext, func(ctx context.Context) error { return e.removeReplaced(ctx, next.ID) })
			return nil, addLeft(failure, undone.revert(ctx))
		}
	}
	for _, replaced := range []*container.InspectResponse{found.old, found.current} {
		if replaced == nil {
			continue
		}
		if err := e.removeReplaced(ctx, replaced.ID); err != nil {
			return nil, err
		}
	}
	if err := e.takeOver(ctx, marks, next.ID, next.Image); err != nil {
		return nil, err
	}
	return e.byName(ctx, marks.Name)
}

// takeOver is what comes after the old container is gone.
func (e *engine) takeOver(ctx context.Context, marks backends.Marks, id, imageID string) error {
	if err := e.removeSuperseded(ctx, marks, imageID); err != nil {
		return err
	}
	return e.ContainerRename(ctx, id, marks.Name)
}
