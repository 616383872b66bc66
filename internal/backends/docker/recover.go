package docker

import (
	"context"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/volume"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// recover makes the container of a sandbox again of which only the workspace is left, and starts it.
func (b *Backend) recover(ctx context.Context, e *engine, operation string, marks backends.Marks, spec backends.Spec, workspace volume.Volume) (backends.Observed, error) {
	wanted, err := keepSecrets(operation, spec, nil)
	if err != nil {
		return backends.Observed{}, err
	}
	made := &undo{}
	observed, err := b.remake(ctx, e, operation, marks, wanted, workspace, made)
	if err != nil {
		return backends.Observed{}, addLeft(e.fail(operation, marks.Name, err, secretsOf(spec)...), made.revert(ctx))
	}
	return observed, nil
}

func (b *Backend) remake(ctx context.Context, e *engine, operation string, marks backends.Marks, spec backends.Spec, workspace volume.Volume, made *undo) (backends.Observed, error) {
	madeFrom := workspace.Labels[labelImage]
	spec.Source = backends.Source{Image: spec.Source.Image}
	if spec.Source.Image == "" && !strings.HasPrefix(madeFrom, "sha256:") {
		spec.Source.Image = madeFrom
	}
	base, err := b.lastRoot(ctx, e, operation, marks, spec, madeFrom)
	if err != nil {
		return backends.Observed{}, err
	}
	info, err := e.Info(ctx)
	if err != nil {
		return backends.Observed{}, err
	}
	plan := blueprint{
		marks: marks, spec: spec, image: base.image, below: base.below,
		record: configuration{ResolvedImage: base.resolved, DefaultRuntime: info.DefaultRuntime, CreatedAt: parseTime(workspace.CreatedAt)},
	}
	for _, wanted := range wantedVolumes(marks, spec, firstOf(spec.Source.Image, base.image)) {
		if err := e.ensureVolume(ctx, operation, wanted, made); err != nil {
			return backends.Observed{}, err
		}
	}
	id, err := e.make(ctx, operation, marks.Name, plan, made)
	if err != nil {
		return backends.Observed{}, err
	}
	if err := e.prepare(ctx, operation, id, plan, false); err != nil {
		return backends.Observed{}, err
	}
	if err := e.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return backends.Observed{}, e.blame(operation, marks.Name, err, secretsOf(spec)...)
	}
	c, err := e.ContainerInspect(ctx, id)
	if err != nil {
		return backends.Observed{}, err
	}
	return b.observe(ctx, e, operation, c)
}

// lastRoot is the newest image with the sandbox's own root file system. Without one it is what the
// sandbox was made from: changes of its root file system went with the container.
func (b *Backend) lastRoot(ctx context.Context, e *engine, operation string, marks backends.Marks, spec backends.Spec, madeFrom string) (root, error) {
	list, err := e.ownImages(ctx, marks, roleRoot)
	if err != nil {
		return root{}, err
	}
	reference := firstOf(spec.Source.Image, madeFrom)
	if len(list) > 0 {
		newest := slices.MaxFunc(list, func(a, b image.Summary) int { return int(a.Created - b.Created) })
		found, err := e.ImageInspect(ctx, newest.ID)
		if err != nil {
			return root{}, err
		}
		return rootOf(found.ID, reference, found)
	}
	policy := ""
	if spec.Docker != nil {
		policy = spec.Docker.PullPolicy
	}
	if strings.HasPrefix(reference, "sha256:") {
		policy = pullNever
	}
	found, err := e.ensureImage(ctx, operation, reference, policy)
	if err != nil {
		return root{}, err
	}
	return rootOf(reference, resolved(reference, found), found)
}
