package docker

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// defaultPath is where the engine looks for programs when neither the image nor the sandbox says.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// needPrograms looks for the programs of the main process. The init process starts them, and when
// it finds none it just ends: to the engine that is a container that started well.
func (e *engine) needPrograms(ctx context.Context, operation, id string, plan blueprint) error {
	main := argv(plan.spec)
	search := defaultPath
	if value := plan.below.value("PATH"); value != nil {
		search = *value
	}
	if value, ok := plan.spec.Environment["PATH"]; ok {
		search = value
	}
	program := main[0]
	if len(plan.spec.Command) > 0 {
		program = plan.spec.Command[0]
	}
	if program != main[0] {
		found, err := e.hasProgram(ctx, id, search, main[0])
		if err != nil {
			return err
		}
		if !found {
			return &backends.Error{
				Kind: backends.Unsupported, Backend: backendName, Operation: operation, Object: "timeout",
				Detail: "The image has no `timeout` program, which a time limit for a command needs.",
				Remedy: "Use an image that has one (coreutils or busybox), or leave `timeout` or `command` out.",
			}
		}
	}
	found, err := e.hasProgram(ctx, id, search, program)
	if err != nil || found {
		return err
	}
	if len(plan.spec.Command) == 0 {
		return invalid(operation, "command", "The image has no `sleep` program, which keeps a sandbox running when no command is given.",
			"Give a command, or use an image that has one (coreutils or busybox).")
	}
	return invalid(operation, "command", fmt.Sprintf("The image has no program %q.", program), "The command is run as it is written, without a shell and without the image's entry point.")
}

// hasProgram tells whether a program is there. A path that depends on the working directory is
// taken for granted.
func (e *engine) hasProgram(ctx context.Context, id, search, program string) (bool, error) {
	candidates := []string{program}
	switch {
	case path.IsAbs(program):
	case strings.Contains(program, "/"):
		return true, nil
	default:
		// The usual places come first, to ask less often.
		directories := slices.Concat([]string{"/bin", "/usr/bin"}, strings.Split(search, ":"))
		candidates = candidates[:0]
		for _, directory := range directories {
			if candidate := path.Join(directory, program); path.IsAbs(candidate) && slices.Contains(strings.Split(search, ":"), directory) && !slices.Contains(candidates, candidate) {
				candidates = append(candidates, candidate)
			}
		}
	}
	for _, candidate := range candidates {
		_, err := e.ContainerStatPath(ctx, id, candidate)
		if err == nil {
			return true, nil
		}
		if !cerrdefs.IsNotFound(err) {
			return false, err
		}
	}
	return false, nil
}
