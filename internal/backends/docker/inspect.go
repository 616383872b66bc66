package docker

import (
	"context"
	"regexp"
	"slices"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// place is everything on the engine that goes by the name of one sandbox.
type place struct {
	// current is the container of that very name, whoever owns it.
	current *container.InspectResponse
	// next and old are there while a replacement of the container is under way, or was killed.
	next, old *container.InspectResponse
	// workspace is the volume of the workspace, whoever owns it.
	workspace *volume.Volume
}

// labels are those of the object that stands for the sandbox; nil when there is none of ours.
func (p place) labels() map[string]string {
	for _, c := range []*container.InspectResponse{p.current, p.old, p.next} {
		if c != nil {
			return c.Config.Labels
		}
	}
	if p.workspace != nil && marksOf(p.workspace.Labels) != (backends.Marks{}) {
		return p.workspace.Labels
	}
	return nil
}

// containers are those that are there.
func (p place) containers() []*container.InspectResponse {
	return slices.DeleteFunc([]*container.InspectResponse{p.current, p.next, p.old}, func(c *container.InspectResponse) bool { return c == nil })
}

// byName reads the container of exactly this name, nil when there is none. The engine takes the
// beginning of an id for a name too.
func (e *engine) byName(ctx context.Context, name string) (*container.InspectResponse, error) {
	found, err := e.ContainerInspect(ctx, name)
	if cerrdefs.IsNotFound(err) || err == nil && found.Name != "/"+name {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &found, nil
}

// workspaceOf reads the workspace volume of a sandbox, nil when there is none.
func (e *engine) workspaceOf(ctx context.Context, name string) (*volume.Volume, error) {
	found, err := e.VolumeInspect(ctx, workspaceVolume(name))
	if cerrdefs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &found, nil
}

// locate reads everything that goes by the name of a sandbox.
func (e *engine) locate(ctx context.Context, name string) (place, error) {
	var found place
	pattern := "^/" + regexp.QuoteMeta(name) + "(" + regexp.QuoteMeta(suffixNext) + "|" + regexp.QuoteMeta(suffixOld) + ")?$"
	list, err := e.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("name", pattern))})
	if err != nil {
		return found, err
	}
	for _, summary := range list {
		c, err := e.ContainerInspect(ctx, summary.ID)
		if cerrdefs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return found, err
		}
		switch strings.TrimPrefix(c.Name, "/") {
		case name:
			found.current = &c
		case name + suffixNext:
			if isSandbox(c.Name, c.Config.Labels) {
				found.next = &c
			}
		case name + suffixOld:
			if isSandbox(c.Name, c.Config.Labels) {
				found.old = &c
			}
		}
	}
	found.workspace, err = e.workspaceOf(ctx, name)
	return found, err
}

// Get reads the container of that name, or what is left of a sandbox without one.
func (b *Backend) Get(ctx context.Context, name string) (backends.Observed, error) {
	const operation = "read sandbox"
	e, err := b.connect()
	if err != nil {
		return backends.Observed{}, err
	}
	c, err := e.byName(ctx, name)
	if err != nil {
		return backends.Observed{}, e.fail(operation, name, err)
	}
	if c != nil {
		return b.observe(ctx, e, operation, *c)
	}
	found, err := e.locate(ctx, name)
	if err != nil {
		return backends.Observed{}, e.fail(operation, name, err)
	}
	return b.observePlace(ctx, e, operation, name, found)
}

// observePlace describes what is left when no container has the sandbox's own name. A replacement
// that was killed half-way counts as lost: Reconfigure finishes it.
func (b *Backend) observePlace(ctx context.Context, e *engine, operation, name string, found place) (backends.Observed, error) {
	for _, c := range []*container.InspectResponse{found.current, found.old, found.next} {
		if c == nil {
			continue
		}
		seen, err := b.observe(ctx, e, operation, *c)
		if err == nil && c != found.current {
			seen.Status, seen.SessionID, seen.Endpoints = backends.StatusLost, "", nil
		}
		return seen, err
	}
	if found.labels() == nil {
		return backends.Observed{}, notFound(operation, name)
	}
	return lost(*found.workspace), nil
}

// lost describes a sandbox of which only the workspace is left.
func lost(v volume.Volume) backends.Observed {
	return backends.Observed{
		Marks:     marksOf(v.Labels),
		Name:      v.Labels[labelName],
		Status:    backends.StatusLost,
		Workspace: workspacePath,
		CreatedAt: parseTime(v.CreatedAt),
	}
}

// observe describes a container. The image is asked for what the container inherits from it.
func (b *Backend) observe(ctx context.Context, e *engine, operation string, c container.InspectResponse) (backends.Observed, error) {
	below, err := b.images.inherited(ctx, e, c.Image)
	if err != nil {
		return backends.Observed{}, e.fail(operation, strings.TrimPrefix(c.Name, "/"), err)
	}
	return e.describe(c, below), nil
}

// List reads all sandboxes that carry marks, also those of which only the workspace is left.
func (b *Backend) List(ctx context.Context) ([]backends.Observed, error) {
	const operation = "list sandboxes"
	e, err := b.connect()
	if err != nil {
		return nil, err
	}
	list, err := e.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", labelRole+"="+roleSandbox))})
	if err != nil {
		return nil, e.fail(operation, "", err)
	}
	places := map[string]*place{}
	at := func(name string) *place {
		if places[name] == nil {
			places[name] = &place{}
		}
		return places[name]
	}
	for _, summary := range list {
		c, err := e.ContainerInspect(ctx, summary.ID)
		if cerrdefs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, e.fail(operation, "", err)
		}
		name := c.Config.Labels[labelName]
		if !isSandbox(c.Name, c.Config.Labels) {
			continue
		}
		switch strings.TrimPrefix(c.Name, "/") {
		case name:
			at(name).current = &c
		case name + suffixNext:
			at(name).next = &c
		case name + suffixOld:
			at(name).old = &c
		}
	}
	volumes, err := e.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelRole+"="+roleWorkspace))})
	if err != nil {
		return nil, e.fail(operation, "", err)
	}
	for _, v := range volumes.Volumes {
		if name := v.Labels[labelName]; name != "" && v.Name == workspaceVolume(name) {
			at(name).workspace = v
		}
	}
	return b.observeAll(ctx, e, operation, places)
}

func (b *Backend) observeAll(ctx context.Context, e *engine, operation string, places map[string]*place) ([]backends.Observed, error) {
	var all []backends.Observed
	for name, found := range places {
		if len(found.containers()) == 0 {
			// Another's container may have the name: then the sandbox is not lost, but displaced.
			c, err := e.byName(ctx, name)
			if err != nil {
				return nil, e.fail(operation, name, err)
			}
			if c != nil {
				continue
			}
		}
		seen, err := b.observePlace(ctx, e, operation, name, *found)
		if backends.KindOf(err) == backends.NotFound && err != nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, seen)
	}
	slices.SortFunc(all, func(a, b backends.Observed) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// sandbox reads the container that an operation on a sandbox is about. One without a container is
// [backends.NotRunning] when its workspace is there, else [backends.NotFound].
func (b *Backend) sandbox(ctx context.Context, e *engine, operation, name string) (*container.InspectResponse, error) {
	c, err := e.byName(ctx, name)
	if err != nil {
		return nil, e.fail(operation, name, err)
	}
	if c != nil {
		return c, nil
	}
	found, err := e.locate(ctx, name)
	if err != nil {
		return nil, e.fail(operation, name, err)
	}
	if found.labels() == nil {
		return nil, notFound(operation, name)
	}
	return nil, &backends.Error{
		Kind: backends.NotRunning, Backend: backendName, Operation: operation, Object: name,
		Detail: "Its container is gone; its workspace is still there.",
		Remedy: "Apply the configuration: it makes the container again on the same workspace.",
	}
}
