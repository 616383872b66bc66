package api

import (
	"context"
	"errors"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// RunCommand runs a command, passes its output on as it comes and returns it when it is over. An
// exit code other than 0 is not an error.
//
// A stream that is cut is no failed command: what is missing is read from the log, and the exit
// code is asked for. When the stream is cut before the command's id is known, the error is
// [Ambiguous]. An error of output ends the reading and is returned; the command runs on then, as it
// does when the context ends: [Client.KillCommand] ends it. The returned command has its id from
// the moment on that it is known.
func (c *Client) RunCommand(ctx context.Context, session string, request CommandRequest, output func(Output) error) (Command, error) {
	call, err := request.run(session, true)
	if err != nil {
		return Command{}, err
	}
	call.bounds = streamBounds
	var command Command
	var have delivered
	err = c.attach(ctx, call, &have, sink{output: output, command: func(seen Command) bool {
		command = seen
		return seen.Exited()
	}})
	switch {
	case err == nil && command.Exited():
		return command, nil
	case err != nil && !errors.Is(err, errCut):
		return command, err
	case command.ID == "":
		failure := call.failure(backends.Failed, "The stream was cut before the command was named.", nil)
		sent := &exchange{call: call}
		sent.sent.Store(true)
		return command, sent.mayHaveActed(failure)
	}
	if err := c.follow(ctx, session, command.ID, &have, output); err != nil {
		return command, err
	}
	over, err := c.WaitCommand(ctx, session, command.ID)
	if err != nil {
		return command, err
	}
	return over, nil
}

// attach starts a command and reads its stream to the end.
func (c *Client) attach(ctx context.Context, call call, have *delivered, to sink) error {
	body, err := c.stream(ctx, call, streamType)
	if err != nil {
		return err
	}
	defer body.Close()
	return c.deliver(ctx, call, newLineReader(body), have, to)
}
