package api

import (
	"context"
	"maps"
	"slices"
)

const (
	commandsPath = "/v2/sandboxes/sessions/{id}/cmd"
	commandPath  = "/v2/sandboxes/sessions/{id}/cmd/{command}"
	logsPath     = "/v2/sandboxes/sessions/{id}/cmd/{command}/logs"
	killPath     = "/v2/sandboxes/sessions/{id}/cmd/{command}/kill"
)

// Command is a command of a session (section 5.5). It dies with the session.
type Command struct {
	ID        string   `json:"id" wire:"id"`
	Name      string   `json:"name" wire:"required"`
	Args      []string `json:"args" wire:"required"`
	Cwd       string   `json:"cwd" wire:"required"`
	SessionID string   `json:"sessionId" wire:"id"`
	// ExitCode is nil while the command runs. One that was killed has 128 plus the signal.
	ExitCode  *Int     `json:"exitCode" wire:"nullable"`
	StartedAt Time     `json:"startedAt" wire:"required"`
	Duration  Duration `json:"durationMs"`
}

// Exited reports whether the command is over.
func (c Command) Exited() bool { return c.ExitCode != nil }

type commandAnswer struct {
	Command Command `json:"command" wire:"required"`
}

// CommandRequest is a command to run (section 7.1). There is no shell.
type CommandRequest struct {
	// Command is an executable, by name or by path.
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Cwd     string            `json:"cwd,omitempty"` // empty: the session's
	Env     map[string]string `json:"env"`           // over the sandbox's own
	// Sudo runs it as root, with root's home, in the same environment.
	Sudo bool `json:"sudo"`
	// Timeout kills it; nil: none but the session's.
	Timeout *Duration `json:"timeout,omitempty"`
}

// run is the call that starts a command. Arguments count as secrets, too.
func (r CommandRequest) run(session string, attached bool) (call, error) {
	call := inSession("run command", session, commandsPath)
	call.secrets = slices.Concat(slices.Collect(maps.Values(r.Env)), r.Args)
	r.Args = append([]string{}, r.Args...)
	r.Env = maps.Clone(r.Env)
	if r.Env == nil {
		r.Env = map[string]string{}
	}
	return call.sending(struct {
		CommandRequest
		Wait bool `json:"wait,omitempty"`
		Logs bool `json:"logs,omitempty"`
	}{r, attached, attached})
}

// StartCommand starts a command and returns at once. Follow it with [Client.WaitCommand] and
// [Client.Logs]. [backends.Invalid] with [CodeExecutableNotFound] when there is no such program.
func (c *Client) StartCommand(ctx context.Context, session string, request CommandRequest) (Command, error) {
	call, err := request.run(session, false)
	if err != nil {
		return Command{}, err
	}
	return c.command(ctx, call)
}

// GetCommand reads a command.
func (c *Client) GetCommand(ctx context.Context, session, id string) (Command, error) {
	call := get("read command", id, commandPath, session, id)
	call.ofSession = true
	return c.command(ctx, call)
}

// ListCommands reads the commands of a session, the newest first.
func (c *Client) ListCommands(ctx context.Context, session string) ([]Command, error) {
	var answer struct {
		Commands []Command `json:"commands" wire:"required"`
	}
	call := get("list commands", session, commandsPath, session)
	call.ofSession, call.longest = true, longestPage
	err := c.do(ctx, call, &answer)
	return answer.Commands, err
}

// Signal is a signal by its number.
type Signal int

// The signals that the API takes.
const (
	SIGHUP  Signal = 1
	SIGINT  Signal = 2
	SIGQUIT Signal = 3
	SIGKILL Signal = 9
	SIGTERM Signal = 15
	SIGCONT Signal = 18
	SIGSTOP Signal = 19
)

// KillCommand sends a signal to a command. One that is over stays as it is.
func (c *Client) KillCommand(ctx context.Context, session, id string, signal Signal) (Command, error) {
	call, err := inSession("kill command", session, killPath, id).sending(map[string]Signal{"signal": signal})
	if err != nil {
		return Command{}, err
	}
	call.object = id
	return c.command(ctx, call)
}

func (c *Client) command(ctx context.Context, call call) (Command, error) {
	var answer commandAnswer
	err := c.do(ctx, call, &answer)
	return answer.Command, err
}
