package docker

import (
	"context"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// replace makes the container again. See settle.go for the order and what a killed one leaves.
func (b *Backend) replace(ctx context.Context, e *engine, operation string, marks backends.Marks, c container.InspectResponse, wanted backends.Spec) (backends.Observed, error) {
	made := &undo{}
	id, imageID, err := b.replacement(ctx, e, operation, marks, c, wanted, made)
	if err != nil {
		return backends.Observed{}, addLeft(e.fail(operation, marks.Name, err, secretsOf(wanted)...), made.revert(ctx))
	}
	// From here on the new container is the sandbox: what fails is finished by the next call.
	if err := e.removeReplaced(ctx, c.ID); err != nil {
		return backends.Observed{}, err
	}
	if err := e.takeOver(ctx, marks, id, imageID); err != nil {
		return backends.Observed{}, err
	}
	after, err := e.ContainerInspect(ctx, id)
	if err != nil {
		return backends.Observed{}, err
	}
	return b.observe(ctx, e, operation, after)
}

// replacement does the steps that can be taken back.
func (b *Backend) replacement(ctx context.Context, e *engine, operation string, marks backends.Marks, c container.InspectResponse, wanted backends.Spec, made *undo) (id, imageID string, err error) {
	wasRunning := statusOf(c) == backends.StatusRunning
	if wasRunning {
		if err := e.ContainerRename(ctx, c.ID, marks.Name+suffixOld); err != nil {
			return "", "", err
		}
		made.add("container "+marks.Name+suffixOld+" in place of "+marks.Name, func(ctx context.Context) error { return e.takeBack(ctx, c, marks.Name) })
	}
	if c.State.Running {
		if err := e.ContainerStop(ctx, c.ID, container.StopOptions{}); err != nil {
			return "", "", err
		}
	}
	reference, err := rootReference(marks.Name)
	if err != nil {
		return "", "", err
	}
	made.add("image "+reference, func(ctx context.Context) error { return e.removeReference(ctx, reference) })
	if imageID, _, err = b.saveRoot(ctx, e, c, imageLabels{marks: marks, role: roleRoot, private: true}, reference); err != nil {
		return "", "", err
	}
	below, err := b.images.inherited(ctx, e, imageID)
	if err != nil {
		return "", "", err
	}
	used, err := b.images.inherited(ctx, e, c.Image)
	if err != nil {
		return "", "", err
	}
	plan := blueprint{
		marks: marks, spec: wanted, image: imageID, below: below, record: configurationOf(c.Config.Labels),
		resume: wasRunning, keep: volumesOf(c), extra: imageVolumes(c, used),
	}
	for _, volume := range wantedVolumes(marks, wanted, firstOf(wanted.Source.Image, imageID)) {
		if err := e.ensureVolume(ctx, operation, volume, made); err != nil {
			return "", "", err
		}
	}
	if id, err = e.make(ctx, operation, marks.Name+suffixNext, plan, made); err != nil {
		return "", "", err
	}
	if err := e.prepare(ctx, operation, id, plan, wanted.User != configurationOf(c.Config.Labels).Spec.User); err != nil {
		return "", "", err
	}
	if wasRunning {
		if err := e.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
			return "", "", e.blame(operation, marks.Name, err, secretsOf(wanted)...)
		}
	}
	return id, imageID, nil
}

// removeReplaced removes a container, but none of its volumes: its replacement has them.
func (e *engine) removeReplaced(ctx context.Context, id string) error {
	return e.remove(ctx, id, container.RemoveOptions{Force: true})
}

func volumesOf(c container.InspectResponse) map[string]bool {
	names := map[string]bool{}
	for _, m := range c.Mounts {
		if m.Type == mount.TypeVolume {
			names[m.Name] = true
		}
	}
	return names
}
