package docker

import (
	"context"

	"github.com/docker/docker/api/types/image"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// root is the image that a container is made from.
type root struct {
	image    string // reference or id
	resolved string // digest or id
	below    inherited
}

func rootOf(name, resolved string, found image.InspectResponse) (root, error) {
	below, err := inheritedFrom(found)
	return root{image: name, resolved: resolved, below: below}, err
}

// source finds or makes the image of a new sandbox.
func (b *Backend) source(ctx context.Context, e *engine, operation string, marks backends.Marks, spec backends.Spec, made *undo) (root, error) {
	switch {
	case spec.Source.SnapshotID != "":
		return b.fromSnapshot(ctx, e, operation, spec.Source.SnapshotID)
	case spec.Source.CloneOf != "":
		return b.fromClone(ctx, e, operation, marks, spec.Source.CloneOf, made)
	}
	policy := ""
	if spec.Docker != nil {
		policy = spec.Docker.PullPolicy
	}
	found, err := e.ensureImage(ctx, operation, spec.Source.Image, policy)
	if err != nil {
		return root{}, err
	}
	return rootOf(spec.Source.Image, resolved(spec.Source.Image, found), found)
}
