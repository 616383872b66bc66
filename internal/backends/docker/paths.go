package docker

import (
	"context"
	"fmt"
	"path"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// deepestLinks bounds how many links are followed on the way to a file.
const deepestLinks = 40

// filesOf is the file system of one sandbox, as the archive endpoints show it. They work on
// stopped containers too, and nothing leads out of the sandbox by them; what is checked here is
// that a path below the workspace stays there.
type filesOf struct {
	engine    *engine
	container *container.InspectResponse
	operation string
}

func (b *Backend) files(ctx context.Context, operation, name string) (*filesOf, error) {
	e, err := b.connect()
	if err != nil {
		return nil, err
	}
	c, err := b.sandbox(ctx, e, operation, name)
	if err != nil {
		return nil, err
	}
	return &filesOf{engine: e, container: c, operation: operation}, nil
}

func (f *filesOf) fail(p string, err error) error {
	if cerrdefs.IsNotFound(err) && !strings.Contains(err.Error(), "No such container") {
		return f.missing(p)
	}
	if cerrdefs.IsInvalidArgument(err) && strings.Contains(err.Error(), "not a directory") {
		return f.missing(p)
	}
	return f.engine.fail(f.operation, p, err)
}

func (f *filesOf) missing(p string) error {
	return &backends.Error{Kind: backends.FileNotFound, Backend: backendName, Operation: f.operation, Object: p}
}

func (f *filesOf) escapes(p, link, target string) error {
	return &backends.Error{
		Kind: backends.PathEscapes, Backend: backendName, Operation: f.operation, Object: p,
		Detail: fmt.Sprintf("%s is a link to %s, outside the workspace.", link, target),
		Remedy: "Remove the link inside the sandbox, or use the absolute path that is meant.",
	}
}

// resolve follows the links in the parents of a path, and with final also at its end. It returns
// the path without them and what is there; found is false when it does not exist.
//
// Only paths below the workspace are walked: they must stay below it. Others may go anywhere
// inside the sandbox, so the engine follows their links itself.
func (f *filesOf) resolve(ctx context.Context, p string, final bool) (real string, stat container.PathStat, found bool, err error) {
	if p == workspacePath || !within(workspacePath, p) {
		return f.end(ctx, p, p, final, false)
	}
	real = workspacePath
	parts := strings.Split(strings.TrimPrefix(p, workspacePath+"/"), "/")
	for i, part := range parts[:len(parts)-1] {
		next := path.Join(real, part)
		stat, err := f.engine.ContainerStatPath(ctx, f.container.ID, next)
		if cerrdefs.IsNotFound(err) {
			return path.Join(append([]string{next}, parts[i+1:]...)...), stat, false, nil
		}
		if err != nil {
			return "", stat, false, f.fail(p, err)
		}
		if isLink(stat) {
			if !within(workspacePath, stat.LinkTarget) {
				return "", stat, false, f.escapes(p, next, stat.LinkTarget)
			}
			next = stat.LinkTarget
			if stat, err = f.engine.ContainerStatPath(ctx, f.container.ID, next); err != nil {
				return "", stat, false, f.fail(p, err)
			}
		}
		if !stat.Mode.IsDir() {
			return "", stat, false, f.missing(p)
		}
		real = next
	}
	return f.end(ctx, p, path.Join(real, parts[len(parts)-1]), final, true)
}

// end looks at the last component.
func (f *filesOf) end(ctx context.Context, p, real string, final, confined bool) (string, container.PathStat, bool, error) {
	for range deepestLinks {
		stat, err := f.engine.ContainerStatPath(ctx, f.container.ID, real)
		if cerrdefs.IsNotFound(err) {
			return real, stat, false, nil
		}
		if err != nil {
			return "", stat, false, f.fail(p, err)
		}
		if !final || !isLink(stat) || stat.LinkTarget == real {
			return real, stat, true, nil
		}
		if confined && !within(workspacePath, stat.LinkTarget) {
			return "", stat, false, f.escapes(p, real, stat.LinkTarget)
		}
		real = stat.LinkTarget
	}
	return "", container.PathStat{}, false, f.missing(p)
}

// isLink tells a symbolic link. The engine resolves its target to the end, within the sandbox.
func isLink(stat container.PathStat) bool {
	return stat.LinkTarget != ""
}
