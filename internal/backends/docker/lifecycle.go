package docker

import (
	"context"

	"github.com/docker/docker/api/types/container"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Start starts the main process, or goes on with a paused one.
func (b *Backend) Start(ctx context.Context, name string) error {
	const operation = "start sandbox"
	e, c, unlock, err := b.forChange(ctx, operation, name)
	if err != nil {
		return err
	}
	defer unlock()
	if c.State.Paused {
		if err := e.ContainerUnpause(ctx, c.ID); err != nil {
			return e.fail(operation, name, err)
		}
		return nil
	}
	if c.State.Running {
		return nil
	}
	if err := e.ContainerStart(ctx, c.ID, container.StartOptions{}); err != nil {
		return e.blame(operation, name, err)
	}
	return nil
}

// Stop ends the main process: SIGTERM, and SIGKILL ten seconds later.
func (b *Backend) Stop(ctx context.Context, name string) error {
	const operation = "stop sandbox"
	e, c, unlock, err := b.forChange(ctx, operation, name)
	if err != nil {
		return err
	}
	defer unlock()
	if !c.State.Running {
		return nil
	}
	if err := e.ContainerStop(ctx, c.ID, container.StopOptions{}); err != nil {
		return e.fail(operation, name, err)
	}
	return nil
}

// forChange locks the sandbox and reads its container.
func (b *Backend) forChange(ctx context.Context, operation, name string) (e *engine, c *container.InspectResponse, unlock func(), err error) {
	if e, err = b.connect(); err != nil {
		return nil, nil, nil, err
	}
	unlock = b.locks.lock(name)
	if c, err = b.sandbox(ctx, e, operation, name); err != nil {
		unlock()
		return nil, nil, nil, err
	}
	if !isSandbox(c.Name, c.Config.Labels) {
		unlock()
		return nil, nil, nil, notOurs(operation, name, "A container")
	}
	return e, c, unlock, nil
}

// running reads the container of a sandbox in which commands can be run.
func (b *Backend) running(ctx context.Context, e *engine, operation, name string) (*container.InspectResponse, error) {
	c, err := b.sandbox(ctx, e, operation, name)
	if err != nil {
		return nil, err
	}
	if statusOf(*c) == backends.StatusRunning {
		return c, nil
	}
	failure := &backends.Error{
		Kind: backends.NotRunning, Backend: backendName, Operation: operation, Object: name,
		Detail: "The sandbox is stopped.", Remedy: "Start it, with `desired_state = \"running\"` for example.",
	}
	if c.State.Paused {
		failure.Detail = "The sandbox is paused, so nothing can be run in it."
	}
	return nil, failure
}
