package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// execTag is a variable that each command gets, so that its processes can be found when it has to
// be ended: the engine can start a command, but not end one.
const execTag = "SANDLOT_EXEC"

// Exec runs a command in the running container and waits for it.
func (b *Backend) Exec(ctx context.Context, name string, command backends.Command) (backends.ExecResult, error) {
	const operation = "run command"
	if len(command.Argv) == 0 {
		return backends.ExecResult{}, invalid(operation, "command", "A command needs at least the program to run.", "")
	}
	e, err := b.connect()
	if err != nil {
		return backends.ExecResult{}, err
	}
	c, err := b.running(ctx, e, operation, name)
	if err != nil {
		return backends.ExecResult{}, err
	}
	tag, err := randomHex(16)
	if err != nil {
		return backends.ExecResult{}, err
	}
	limited := ctx
	if command.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, command.Timeout)
		defer cancel()
	}
	user := firstOf(command.User, c.Config.User)
	id, result, err := e.exec(limited, c.ID, command, user, tag)
	result = result.Redacted(secretsIn(*c))
	switch {
	case limited.Err() != nil:
		return result, e.endCommand(ctx, limited.Err(), operation, name, c.ID, id, user, tag)
	case err != nil:
		return result, e.execFailure(operation, name, err)
	}
	return result, notStarted(operation, command, result)
}

// secretsIn returns the secret variables of a container with their values.
func secretsIn(c container.InspectResponse) map[string]string {
	names := configurationOf(c.Config.Labels).Spec.SecretNames
	secrets := map[string]string{}
	for _, entry := range c.Config.Env {
		if name, value, ok := strings.Cut(entry, "="); ok && slices.Contains(names, name) {
			secrets[name] = value
		}
	}
	return secrets
}

// exec runs a command and returns the engine's id of it as soon as there is one, also on failure.
func (e *engine) exec(ctx context.Context, containerID string, command backends.Command, user, tag string) (id string, result backends.ExecResult, err error) {
	options := container.ExecOptions{
		User: user, Cmd: command.Argv, WorkingDir: command.WorkingDirectory, AttachStdout: true, AttachStderr: true,
	}
	for variable, value := range command.Environment {
		options.Env = append(options.Env, variable+"="+value)
	}
	slices.Sort(options.Env)
	options.Env = append(options.Env, execTag+"="+tag)
	created, err := e.ContainerExecCreate(ctx, containerID, options)
	if err != nil {
		return "", result, err
	}
	attached, err := e.attach(ctx, created.ID)
	if err != nil {
		return created.ID, result, err
	}
	defer attached.Close()
	limit := command.OutputLimit
	if limit <= 0 {
		limit = backends.DefaultOutputLimit
	}
	stdout, stderr := &boundedBuffer{limit: limit}, &boundedBuffer{limit: limit}
	var copyErr error
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, copyErr = stdcopy.StdCopy(stdout, stderr, attached.Reader)
	}()
	select {
	case <-copied:
		err = copyErr
	case <-ctx.Done():
		attached.Close()
		<-copied
		err = ctx.Err()
	}
	result.Stdout, result.Stderr = stdout.content.Bytes(), stderr.content.Bytes()
	result.Truncated = stdout.truncated || stderr.truncated
	if err != nil {
		return created.ID, result, err
	}
	result.ExitCode, err = e.exitCode(ctx, created.ID)
	return created.ID, result, err
}

// attach starts the command. The client takes over the connection for this call, past the
// transport that the observer listens at, so it is told here.
func (e *engine) attach(ctx context.Context, id string) (types.HijackedResponse, error) {
	var attached types.HijackedResponse
	effect := effects.Effect{System: backendName, Action: http.MethodPost + " /exec/{id}/start", Object: id, Write: true}
	err := e.observer.Do(ctx, effect, func() error {
		var err error
		attached, err = e.ContainerExecAttach(ctx, id, container.ExecAttachOptions{})
		return err
	})
	return attached, err
}

// exitCode waits until the engine knows that the command ended, which it may learn a moment after
// the output did.
func (e *engine) exitCode(ctx context.Context, id string) (int, error) {
	for {
		state, err := e.ContainerExecInspect(ctx, id)
		if err != nil {
			return 0, err
		}
		if !state.Running {
			return state.ExitCode, nil
		}
		if err := backends.Pause(ctx, 20*time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// execFailure tells a sandbox that stopped meanwhile from other failures.
func (e *engine) execFailure(operation, name string, err error) error {
	if text := err.Error(); strings.Contains(text, "is not running") || strings.Contains(text, "is paused") {
		return &backends.Error{
			Kind: backends.NotRunning, Backend: backendName, Operation: operation, Object: name,
			Detail: "The sandbox stopped meanwhile.", Remedy: "Start it again.", Err: cut(err),
		}
	}
	return e.fail(operation, name, err)
}

// notStarted recognizes the message that the engine writes to the output when the program cannot
// be run at all, with the exit status of a shell.
func notStarted(operation string, command backends.Command, result backends.ExecResult) error {
	if result.ExitCode != 126 && result.ExitCode != 127 {
		return nil
	}
	output := append(slices.Clone(result.Stdout), result.Stderr...)
	if !bytes.HasPrefix(output, []byte("OCI runtime exec failed")) && !bytes.HasPrefix(output, []byte("unable to find")) {
		return nil
	}
	text := strings.TrimSpace(string(output))
	failure := &backends.Error{
		Kind: backends.CommandFailed, Backend: backendName, Operation: operation, Object: command.Argv[0],
		Detail: "The program could not be started.", Err: cut(errors.New(text)),
	}
	switch {
	case strings.Contains(text, "executable file not found"), strings.Contains(text, "exec: ") && strings.Contains(text, "no such file or directory"):
		failure.Detail = fmt.Sprintf("The sandbox has no program %q.", command.Argv[0])
	case strings.Contains(text, "chdir to cwd"):
		failure.Detail = fmt.Sprintf("The working directory %q cannot be entered.", command.WorkingDirectory)
	case strings.Contains(text, "unable to find user"), strings.Contains(text, "unable to find group"):
		failure.Detail = fmt.Sprintf("The sandbox has no user %q.", command.User)
	}
	return failure
}

// boundedBuffer keeps the first bytes and discards the rest.
type boundedBuffer struct {
	content   bytes.Buffer
	limit     int
	truncated bool
}

// Write takes everything, so that the stream is read to its end.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	all, room := len(p), b.limit-b.content.Len()
	if room < len(p) {
		b.truncated = true
		p = p[:max(room, 0)]
		_, err := b.content.Write(p)
		return all, err
	}
	return b.content.Write(p)
}
