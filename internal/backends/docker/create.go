package docker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Create makes volumes, container and workspace, and starts the main process.
func (b *Backend) Create(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	const operation = "create sandbox"
	if err := backends.Refuse(backendName, operation, b.Capabilities().Gaps(spec)); err != nil {
		return backends.Observed{}, err
	}
	e, err := b.connect()
	if err != nil {
		return backends.Observed{}, err
	}
	if err := e.check(operation, spec); err != nil {
		return backends.Observed{}, err
	}
	names := []string{marks.Name}
	if spec.Source.CloneOf != "" {
		names = append(names, spec.Source.CloneOf)
	}
	defer b.locks.lock(names...)()
	found, err := e.locate(ctx, marks.Name)
	if err != nil {
		return backends.Observed{}, e.fail(operation, marks.Name, err)
	}
	if len(found.containers()) > 0 {
		return backends.Observed{}, taken(operation, marks.Name, "container "+marks.Name)
	}
	if found.workspace != nil {
		return backends.Observed{}, taken(operation, marks.Name, "volume "+found.workspace.Name)
	}
	made := &undo{}
	observed, err := b.create(ctx, e, operation, marks, spec, made)
	if err != nil {
		return backends.Observed{}, addLeft(e.fail(operation, marks.Name, err, secretsOf(spec)...), made.revert(ctx))
	}
	return observed, nil
}

func taken(operation, name, what string) error {
	return &backends.Error{
		Kind: backends.AlreadyExists, Backend: backendName, Operation: operation, Object: name,
		Detail: fmt.Sprintf("The engine has a %s already.", what),
		Remedy: "Choose another name, or import what is there.",
	}
}

func secretsOf(spec backends.Spec) []string {
	return slices.Collect(maps.Values(spec.Secrets))
}

// create does the work of Create and notes in made what has to go when it fails.
func (b *Backend) create(ctx context.Context, e *engine, operation string, marks backends.Marks, spec backends.Spec, made *undo) (backends.Observed, error) {
	root, err := b.source(ctx, e, operation, marks, spec, made)
	if err != nil {
		return backends.Observed{}, err
	}
	info, err := e.Info(ctx)
	if err != nil {
		return backends.Observed{}, err
	}
	plan := blueprint{
		marks: marks, spec: spec, image: root.image, below: root.below,
		record: configuration{ResolvedImage: root.resolved, DefaultRuntime: info.DefaultRuntime, CreatedAt: time.Now().UTC()},
	}
	for _, wanted := range wantedVolumes(marks, spec, firstOf(spec.Source.Image, root.image)) {
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

// make creates a container that does not run yet.
func (e *engine) make(ctx context.Context, operation, name string, plan blueprint, made *undo) (string, error) {
	config, err := plan.config()
	if err != nil {
		return "", err
	}
	created, err := e.newContainer(ctx, config, plan.hostConfig(), name)
	if cerrdefs.IsConflict(err) && strings.Contains(err.Error(), "already in use") {
		return "", taken(operation, plan.marks.Name, "container "+name)
	}
	if err != nil {
		return "", e.blame(operation, plan.marks.Name, err, secretsOf(plan.spec)...)
	}
	made.add("container "+name, func(ctx context.Context) error { return e.removeContainer(ctx, created.ID) })
	return created.ID, nil
}

// newContainer asks the engine for a container, and waits for the answer even when ctx is over
// meanwhile.
func (e *engine) newContainer(ctx context.Context, config *container.Config, host *container.HostConfig, name string) (container.CreateResponse, error) {
	if ctx.Err() != nil {
		return container.CreateResponse{}, ctx.Err()
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	return e.ContainerCreate(ctx, config, host, nil, nil, name)
}

// prepare does what has to be done between making and starting a container: the programs of the
// main process are looked for, and the directories in which volumes are mounted get the sandbox's
// user as owner, where they are root's. With handOver the workspace gets it whoever had it: the
// user changed, and has to be able to write there.
func (e *engine) prepare(ctx context.Context, operation, id string, plan blueprint, handOver bool) error {
	if err := e.needPrograms(ctx, operation, id, plan); err != nil {
		return err
	}
	return e.own(ctx, operation, id, plan, handOver)
}

func (e *engine) own(ctx context.Context, operation, id string, plan blueprint, handOver bool) error {
	to, err := e.userOf(ctx, id, firstOf(plan.spec.User, plan.below.User))
	if err != nil {
		return e.blame(operation, plan.marks.Name, err)
	}
	for _, wanted := range wantedVolumes(plan.marks, plan.spec, "") {
		force := handOver && wanted.target == workspacePath
		if err := e.ensureOwned(ctx, id, wanted.target, to, force); err != nil {
			return err
		}
	}
	return nil
}

// removeContainer removes a container and the volumes that the engine made for it.
func (e *engine) removeContainer(ctx context.Context, id string) error {
	return e.remove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
}

func (e *engine) remove(ctx context.Context, id string, options container.RemoveOptions) error {
	err := e.ContainerRemove(ctx, id, options)
	if err == nil || cerrdefs.IsNotFound(err) {
		return nil
	}
	if cerrdefs.IsConflict(err) && strings.Contains(err.Error(), "already in progress") {
		return e.awaitRemoval(ctx, id)
	}
	return fmt.Errorf("remove container: %w", err)
}

// awaitRemoval waits for a removal that another call began.
func (e *engine) awaitRemoval(ctx context.Context, id string) error {
	for {
		if _, err := e.ContainerInspect(ctx, id); cerrdefs.IsNotFound(err) {
			return nil
		} else if err != nil {
			return fmt.Errorf("wait for the removal of a container: %w", err)
		}
		if err := backends.Pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}
