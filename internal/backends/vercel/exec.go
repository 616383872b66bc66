package vercel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// killGrace is what the platform's own limit of a command is longer than ours, which kills first.
const killGrace = 30 * time.Second

// Exec implements [backends.Backend]. The command is started on its own and followed by its log, so
// that a stream which is cut on the way does not end it (section 7.1).
func (b *Backend) Exec(ctx context.Context, name string, command backends.Command) (backends.ExecResult, error) {
	const operation = "run command"
	if len(command.Argv) == 0 || command.Argv[0] == "" {
		return backends.ExecResult{}, failure(backends.Invalid, operation, name, "There is no command.")
	}
	root := command.User == "0" || command.User == "root"
	if command.User != "" && !root {
		return backends.ExecResult{}, failure(backends.Unsupported, operation, name, "Commands run as the sandbox's own user, or as root.")
	}
	client, session, err := b.running(ctx, operation, name)
	if err != nil {
		return backends.ExecResult{}, err
	}
	secrets, err := b.hidden(ctx, client, session, name, command.SecretNames)
	if err != nil {
		return backends.ExecResult{}, refusedUse(inSession(operation, name, err))
	}
	request := api.CommandRequest{
		Command: command.Argv[0], Args: command.Argv[1:], Cwd: command.WorkingDirectory, Env: command.Environment, Sudo: root,
	}
	if command.Timeout > 0 {
		request.Timeout = api.Span(command.Timeout + killGrace)
	}
	started, err := start(ctx, client, session.ID, request)
	if err != nil {
		return backends.ExecResult{}, refusedUse(inSession(operation, name, err))
	}
	work, cancel := ctx, context.CancelFunc(func() {})
	if command.Timeout > 0 {
		work, cancel = context.WithTimeout(ctx, command.Timeout)
	}
	defer cancel()
	result, err := follow(work, client, session.ID, started.ID, command.OutputLimit)
	if err != nil && work.Err() != nil && ctx.Err() == nil {
		late := failure(backends.TimedOut, operation, name, fmt.Sprintf("It took longer than %s and was killed.", command.Timeout))
		late.Err = err
		err = late
	}
	return result.Redacted(secrets), inSession(operation, name, err)
}

// start starts a command. It hears the answer also when ctx ends meanwhile: a command whose id nobody
// knows could not be killed.
func start(ctx context.Context, client *api.Client, session string, request api.CommandRequest) (api.Command, error) {
	if ctx.Err() != nil {
		return client.StartCommand(ctx, session, request) // it says why not
	}
	asking, cancel := outliving(ctx)
	defer cancel()
	return client.StartCommand(asking, session, request)
}

// running returns the session that commands run in, [backends.NotRunning] when there is none.
func (b *Backend) running(ctx context.Context, operation, name string) (*api.Client, api.Session, error) {
	client, err := b.connect()
	if err != nil {
		return nil, api.Session{}, err
	}
	state, err := client.GetSandbox(ctx, name)
	if err != nil {
		return nil, api.Session{}, err
	}
	if statusOf(state.Session.Status) != backends.StatusRunning {
		err := failure(backends.NotRunning, operation, name, "Its session has the status "+string(state.Session.Status)+".")
		err.Remedy = "Start it with `desired_state = \"running\"`. What only looks never wakes it."
		return nil, api.Session{}, refusedUse(err)
	}
	return client, state.Session, refusedUse(inSession(operation, name, awaitRunning(ctx, client, state.Session)))
}

// follow collects what a command prints and waits for it. When ctx ends, it is killed.
func follow(ctx context.Context, client *api.Client, session, id string, limit int) (backends.ExecResult, error) {
	if limit <= 0 {
		limit = backends.DefaultOutputLimit
	}
	var err error
	stdout, stderr := &bounded{limit: limit}, &bounded{limit: limit}
	for output, failed := range client.Logs(ctx, session, id) {
		if err = failed; err != nil {
			break
		}
		if output.Stderr {
			stderr.write(output.Data)
		} else {
			stdout.write(output.Data)
		}
		if stdout.full && stderr.full {
			break
		}
	}
	var ended api.Command
	if err == nil {
		ended, err = client.WaitCommand(ctx, session, id)
	}
	result := backends.ExecResult{Stdout: stdout.kept, Stderr: stderr.kept, Truncated: stdout.full || stderr.full}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, kill(ctx, client, session, id))
		}
		return result, err
	}
	result.ExitCode = int(*ended.ExitCode)
	return result, nil
}

// kill ends a command for which nobody waits any more, and sees that it has ended.
func kill(ctx context.Context, client *api.Client, session, id string) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	_, err := client.KillCommand(ctx, session, id, api.SIGKILL)
	if err == nil {
		_, err = client.WaitCommand(ctx, session, id)
	}
	if err = ignoring(err, backends.NotRunning, backends.NotFound); err != nil {
		return fmt.Errorf("kill the command: %w", err)
	}
	return nil
}

// bounded keeps the beginning of a stream.
type bounded struct {
	limit int
	kept  []byte
	// full is true once there was more than the limit.
	full bool
}

func (b *bounded) write(data string) {
	room := b.limit - len(b.kept)
	if len(data) > room {
		data, b.full = data[:room], true
	}
	b.kept = append(b.kept, data...)
}

// hidden returns the values that the output of a command must not show. Those that did not pass through
// here are read from the environment inside.
func (b *Backend) hidden(ctx context.Context, client *api.Client, session api.Session, name string, names []string) (map[string]string, error) {
	values := map[string]string{}
	for variable, value := range b.remembered(name) {
		values[variable] = value
	}
	absent := false
	for _, variable := range names {
		if _, known := values[variable]; !known {
			absent = true
		}
	}
	if !absent {
		return values, nil
	}
	printed, err := output(ctx, client, session.ID, api.CommandRequest{Command: "cat", Args: []string{"/proc/self/environ"}})
	if err != nil {
		return nil, err
	}
	for _, entry := range strings.Split(printed.stdout, "\x00") {
		variable, value, _ := strings.Cut(entry, "=")
		for _, wanted := range names {
			if _, known := values[variable]; variable == wanted && !known {
				values[variable] = value
			}
		}
	}
	return values, nil
}
