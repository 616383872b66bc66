package docker

import (
	"context"
	"fmt"
	"maps"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// wantedVolume is one volume of a sandbox as it is to be made.
type wantedVolume struct {
	name   string
	target string
	labels map[string]string
}

// wantedVolumes are the workspace and the named volumes. The workspace is first, so that a sandbox
// that is half made is seen. image is what the sandbox is made from.
func wantedVolumes(marks backends.Marks, spec backends.Spec, image string) []wantedVolume {
	var wanted []wantedVolume
	if hasWorkspaceVolume(spec) {
		labels := markLabels(marks, roleWorkspace)
		labels[labelImage] = image
		wanted = append(wanted, wantedVolume{workspaceVolume(marks.Name), workspacePath, labels})
	}
	for short, v := range spec.Volumes {
		labels := markLabels(marks, roleVolume)
		labels[labelVolume] = short
		wanted = append(wanted, wantedVolume{namedVolume(marks.Name, short), v.Target, labels})
	}
	return wanted
}

// ensureVolume makes a volume and notes it in made. One of that name that belongs to the same
// sandbox is used as it is: retained data is attached again. Any other is refused.
func (e *engine) ensureVolume(ctx context.Context, operation string, wanted wantedVolume, made *undo) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	attempt, err := randomHex(8)
	if err != nil {
		return err
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	labels := maps.Clone(wanted.labels)
	labels[labelAttempt] = attempt
	// The engine answers with the existing volume when there is one, so the labels tell.
	v, err := e.VolumeCreate(ctx, volume.CreateOptions{Name: wanted.name, Labels: labels})
	if err != nil {
		return e.fail(operation, wanted.name, err)
	}
	if v.Labels[labelAttempt] == attempt {
		made.add("volume "+wanted.name, func(ctx context.Context) error { return e.removeVolume(ctx, wanted.name) })
		return nil
	}
	if v.Labels[labelOwner] != labels[labelOwner] || v.Labels[labelName] != labels[labelName] {
		return &backends.Error{
			Kind: backends.AlreadyExists, Backend: backendName, Operation: operation, Object: wanted.name,
			Detail: "A volume of this name exists and belongs to something else. It was not touched.",
			Remedy: "Choose another name, or remove that volume if nobody needs it.",
		}
	}
	return nil
}

func (e *engine) removeVolume(ctx context.Context, name string) error {
	if err := e.VolumeRemove(ctx, name, false); err != nil && !cerrdefs.IsNotFound(err) {
		return fmt.Errorf("remove volume %s: %w", name, err)
	}
	return nil
}

// ownVolumes lists the volumes of a role that belong to the sandbox, also those that an earlier
// record of it left.
func (e *engine) ownVolumes(ctx context.Context, marks backends.Marks, role string) ([]*volume.Volume, error) {
	list, err := e.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(
		filters.Arg("label", labelRole+"="+role),
		filters.Arg("label", labelOwner+"="+marks.Owner),
		filters.Arg("label", labelName+"="+marks.Name),
	)})
	if err != nil {
		return nil, err
	}
	return list.Volumes, nil
}
