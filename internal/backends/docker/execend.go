package docker

import (
	"context"
	"errors"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// endScript ends every process that carries the tag. It stops them all before it kills the first:
// a shell whose child was killed would go on with its next command. Both are done again, since a
// process may fork meanwhile. It uses nothing but the shell and cat.
const endScript = `signal() {
  found=
  for process in /proc/[0-9]*; do
    case "$(cat "$process/environ" 2>/dev/null)" in
      *"$2"*) found=1; kill "-$1" "${process#/proc/}" 2>/dev/null ;;
    esac
  done
}
signal STOP "$1"
signal STOP "$1"
for pass in 1 2 3 4 5; do
  signal KILL "$1"
  [ -z "$found" ] && exit 0
done
exit 1`

// endCommand ends a command whose time is over and returns the error for the caller. It runs as
// the command's own user: root in a sandbox may not look into the processes of others, and a
// privileged helper would run programs that the sandbox may have replaced.
func (e *engine) endCommand(ctx context.Context, why error, operation, name, containerID, execID, user, tag string) error {
	failure := &backends.Error{
		Kind: backends.TimedOut, Backend: backendName, Operation: operation, Object: name,
		Detail: "The command took longer than allowed and was ended.", Err: cut(why),
	}
	if errors.Is(why, context.Canceled) {
		failure.Kind, failure.Detail = backends.Failed, "The command was canceled and ended."
	}
	if execID != "" && !e.ended(ctx, containerID, execID, user, tag) {
		failure.Detail = "The command took longer than allowed. It could not be ended and may go on."
		failure.Remedy = "Stop the sandbox to end it; an image with a shell lets single commands be ended."
	}
	return failure
}

func (e *engine) ended(ctx context.Context, containerID, execID, user, tag string) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	script := backends.Command{Argv: []string{"/bin/sh", "-c", endScript, "sh", execTag + "=" + tag}, WorkingDirectory: "/"}
	if _, _, err := e.exec(ctx, containerID, script, user, "end"); err != nil {
		return false
	}
	ctx, cancel = context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	_, err := e.exitCode(ctx, execID)
	return err == nil
}
