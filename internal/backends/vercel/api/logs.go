package api

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/url"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// delivered counts the bytes of each stream that the caller has. A log is always replayed from its
// start, perhaps cut into other pieces, so this is what is skipped of a replay.
type delivered struct{ stdout, stderr int }

// of returns the count of one stream.
func (d *delivered) of(stderr bool) *int {
	if stderr {
		return &d.stderr
	}
	return &d.stdout
}

// Logs replays the output of a command from its start and follows it until the command is over.
// What is cut on the way is asked for again, from where it was cut, as long as the context allows:
// each byte of a stream comes once and in order; only the order between the two streams may
// change there. The caller bounds the amount by ending the loop. An error ends the sequence.
func (c *Client) Logs(ctx context.Context, session, id string) iter.Seq2[Output, error] {
	return c.logsFrom(ctx, session, id, &delivered{})
}

func (c *Client) logsFrom(ctx context.Context, session, id string, have *delivered) iter.Seq2[Output, error] {
	return func(yield func(Output, error) bool) {
		ctx, cancel := context.WithTimeout(ctx, longestWait)
		defer cancel()
		err := c.follow(ctx, session, id, have, func(output Output) error {
			if !yield(output, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(Output{}, err)
		}
	}
}

var errEnough = errors.New("the caller has enough")

// mostFruitless is how many replays in a row of a finished command may be cut without anything new.
const mostFruitless = 5

// follow replays a log until it is complete. An end that looks clean is the true one only if the
// command was over when the replay began: the platform ends long streams by itself (section 7.1).
func (c *Client) follow(ctx context.Context, session, id string, have *delivered, pass func(Output) error) error {
	call := get("read logs", id, logsPath, session, id)
	call.ofSession, call.bounds = true, streamBounds
	exited := false
	for round, fruitless := 0, 0; ; round++ {
		before := *have
		err := c.replay(ctx, call, have, pass)
		if err == nil && exited {
			return nil
		}
		if err != nil && !errors.Is(err, errCut) {
			return err
		}
		if fruitless++; *have != before {
			round, fruitless = 0, 0
		}
		if exited && fruitless > mostFruitless {
			return call.failure(backends.Failed, "The log is cut at the same place each time.", errCut)
		}
		if !exited {
			command, failure := c.GetCommand(ctx, session, id)
			if failure != nil {
				return failure
			}
			if exited = command.Exited(); exited && err == nil {
				continue
			}
		}
		if err := c.poll.pause(ctx, round); err != nil {
			return c.lost(ctx, &exchange{call: call}, err)
		}
	}
}

// replay reads a log once and passes on what is new. errCut says that there may be more.
func (c *Client) replay(ctx context.Context, call call, have *delivered, pass func(Output) error) error {
	call.query = url.Values{}
	body, err := c.stream(ctx, call, streamType)
	if errors.Is(err, backends.TimedOut) && ctx.Err() == nil {
		return errCut
	}
	if err != nil {
		return err
	}
	defer body.Close()
	return c.deliver(ctx, call, newLineReader(body), have, sink{output: pass})
}

// sink takes what a stream holds. command may be nil; it tells whether that was the last line, so
// that a stream which is cut right behind it is whole.
type sink struct {
	output  func(Output) error
	command func(Command) (last bool)
}

// deliver passes on commands, and output that have does not count yet.
func (c *Client) deliver(ctx context.Context, call call, lines lineReader, have *delivered, to sink) error {
	var seen delivered
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && ctx.Err() != nil:
			return c.lost(ctx, &exchange{call: call}, ctx.Err())
		case errors.Is(err, errCut):
			return errCut
		case err != nil:
			return call.failure(backends.Failed, "The stream cannot be used: "+err.Error()+".", nil)
		case line.failure != nil:
			return c.streamFailure(call, *line.failure)
		case line.output != nil:
			at, had := seen.of(line.output.Stderr), have.of(line.output.Stderr)
			fresh := line.output.Data[min(max(0, *had-*at), len(line.output.Data)):]
			*at += len(line.output.Data)
			if fresh == "" {
				continue
			}
			*had = *at
			if err := to.output(Output{Stderr: line.output.Stderr, Data: fresh}); err != nil {
				return err
			}
		case to.command != nil && to.command(*line.command):
			return nil
		}
	}
}

// streamFailure is the error of a line that reports one. A closed stream is one that was cut.
func (c *Client) streamFailure(call call, reported errorReport) error {
	if reported.Code == CodeStreamClosed || reported.Code == codeStreamEndedEarly {
		return errCut
	}
	found := &ResponseError{
		Code:    redact(reported.Code, longestCode, c.secrets(call)...),
		Message: redact(reported.Message, longestMessage, c.secrets(call)...),
	}
	kind, detail := backends.Failed, "The API reports an error inside the stream."
	switch found.Code {
	case CodeStopped, CodeFailed:
		kind, detail = backends.NotRunning, "The session ended while the command ran."
	case CodeStopping, CodeSnapshotting:
		kind, detail = backends.NotRunning, "The session is being stopped or saved."
	}
	return call.failure(kind, detail, found)
}
