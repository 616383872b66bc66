package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// ndjson writes one line for each value.
func ndjson(values ...any) string {
	var text bytes.Buffer
	for _, value := range values {
		_ = json.NewEncoder(&text).Encode(value)
	}
	return text.String()
}

func line(stream, data string) object { return object{"stream": stream, "data": data} }

// shortLog is a log with both streams, a character of several bytes and a line that is not ended.
var shortLog = ndjson(line("stdout", "é1\n"), line("stderr", "e\n"), line("stdout", "2"))

// other is the same log, cut into other pieces.
var otherLog = ndjson(line("stdout", "é"), line("stdout", "1\n2"), line("stderr", "e\n"))

const (
	wantStdout = "é1\n2"
	wantStderr = "e\n"
)

// collector keeps what a stream delivers.
type collector struct{ stdout, stderr strings.Builder }

func (c *collector) take(output Output) error {
	if output.Stderr {
		c.stderr.WriteString(output.Data)
	} else {
		c.stdout.WriteString(output.Data)
	}
	return nil
}

func (c *collector) want(t *testing.T, name string) {
	t.Helper()
	if c.stdout.String() != wantStdout || c.stderr.String() != wantStderr {
		t.Errorf("%s: got %q and %q", name, c.stdout.String(), c.stderr.String())
	}
}

// partial writes the first bytes of a stream and then ends it: by its framing, or by cutting the connection.
func partial(text string, size int, clean bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", streamType)
		_, _ = io.WriteString(w, text[:size])
		w.(http.Flusher).Flush()
		if !clean {
			panic(http.ErrAbortHandler)
		}
	}
}

// command answers like a server of one command: each kind of request by its own handler.
func command(run, logs, state http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			run(w, r)
		case strings.HasSuffix(r.URL.Path, "/logs"):
			logs(w, r)
		default:
			state(w, r)
		}
	}
}

func unexpected(w http.ResponseWriter, _ *http.Request) { replyError(w, 418, "unexpected", "request") }

var (
	runs  = always(200, object{"command": commandObject()})
	ended = always(200, object{"command": commandObject(object{"exitCode": 3, "durationMs": 5})})
)

// TestLogsSurviveCuts cuts a log at each byte, cleanly and not, while the command runs and after:
// every byte arrives once, also when the replay has other pieces.
func TestLogsSurviveCuts(t *testing.T) {
	for _, clean := range []bool{false, true} {
		for _, again := range []string{shortLog, otherLog} {
			for size := range len(shortLog) + 1 {
				name := fmt.Sprintf("clean %v, %d of %d bytes, again %q", clean, size, len(shortLog), again)
				whole := partial(again, len(again), true)
				s := serve(t, command(unexpected, inTurn(partial(shortLog, size, clean), partial(again, size/2, clean), whole), inTurn(runs, ended)))
				var got collector
				for output, err := range clientOf(t, s).Logs(t.Context(), "sbx_S", "cmd_C") {
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					_ = got.take(output)
				}
				got.want(t, name)
			}
		}
	}
}

// TestLogsOfFinishedCommand are replayed once more only when nobody knew that it was over.
func TestLogsOfFinishedCommand(t *testing.T) {
	s := serve(t, command(unexpected, partial(shortLog, len(shortLog), true), ended))
	var got collector
	for output, err := range clientOf(t, s).Logs(t.Context(), "sbx_S", "cmd_C") {
		if err != nil {
			t.Fatal(err)
		}
		_ = got.take(output)
	}
	got.want(t, "finished")
	wantRequests(t, s, 3) // the log, the command, the log
}

// TestLogsOfFinishedCommandInTheMiddleOfALine: a clean end within a line is a cut, whatever is known
// of the command.
func TestLogsOfFinishedCommandInTheMiddleOfALine(t *testing.T) {
	for size := 1; size < len(shortLog); size++ {
		if shortLog[size-1] == '\n' {
			continue
		}
		whole := partial(shortLog, len(shortLog), true)
		s := serve(t, command(unexpected, inTurn(partial(shortLog, 0, true), partial(shortLog, size, true), whole), ended))
		var got collector
		for output, err := range clientOf(t, s).Logs(t.Context(), "sbx_S", "cmd_C") {
			if err != nil {
				t.Fatal(err)
			}
			_ = got.take(output)
		}
		got.want(t, fmt.Sprintf("%d bytes", size))
	}
}

func TestLogsEnd(t *testing.T) {
	logs := func(handler http.HandlerFunc) (*server, error) {
		s := serve(t, handler)
		return s, drain(clientOf(t, s, func(c *Config) { c.Retries = 1 }).Logs(t.Context(), "sbx_S", "cmd_C"))
	}
	_, err := logs(command(nil, alwaysError(410, CodeStopped, "over"), nil))
	wantKind(t, err, backends.NotRunning)
	_, err = logs(command(nil, partial(shortLog, 5, false), alwaysError(410, CodeStopped, "over")))
	wantKind(t, err, backends.NotRunning)
	_, err = logs(command(nil, alwaysError(404, CodeNotFound, "no such command"), nil))
	wantKind(t, err, backends.NotFound)
	_, err = logs(command(nil, always(200, object{"not": "a stream"}), nil))
	wantKind(t, err, backends.Failed)
	_, err = logs(command(nil, partial("nonsense\n", 9, true), nil))
	wantKind(t, err, backends.Failed)
	text := ndjson(object{"stream": "error", "data": object{"code": CodeStopped, "message": "it stopped"}})
	_, err = logs(command(nil, partial(text, len(text), true), nil))
	wantKind(t, err, backends.NotRunning)
	if CodeOf(err) != CodeStopped || !Ended(err) {
		t.Errorf("got %v", err)
	}
	s, err := logs(command(nil, partial(shortLog, 5, false), ended))
	wantKind(t, err, backends.Failed)
	if len(s.all()) > 12 {
		t.Errorf("a log that is cut for ever was asked for %d times", len(s.all()))
	}
	closed := ndjson(object{"stream": "error", "data": object{"code": CodeStreamClosed, "message": "m"}})
	_, err = logs(command(nil, inTurn(partial(closed, len(closed), true), partial(shortLog, len(shortLog), true)), ended))
	if err != nil {
		t.Errorf("a closed stream is asked for again: %v", err)
	}
}

func TestLogsStopWhenTheCallerHasEnough(t *testing.T) {
	gone := make(chan struct{})
	s := serve(t, command(nil, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		w.Header().Set("Content-Type", streamType)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, ndjson(line("stdout", strings.Repeat("x", 1<<10))))
			w.(http.Flusher).Flush()
		}
	}, runs))
	for _, err := range clientOf(t, s).Logs(t.Context(), "sbx_S", "cmd_C") {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("the stream was not closed")
	}
	wantRequests(t, s, 1)
}

func TestEndlessLine(t *testing.T) {
	s := serve(t, command(nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", streamType)
		block := strings.Repeat("x", 64<<10)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	}, runs))
	wantKind(t, drain(clientOf(t, s).Logs(t.Context(), "sbx_S", "cmd_C")), backends.Failed)
}

// TestRunSurvivesCuts cuts the stream of an attached command at each byte. Before the command is
// named, nobody can know whether it runs; from then on the output and the exit code are complete.
func TestRunSurvivesCuts(t *testing.T) {
	first := ndjson(object{"command": commandObject()})
	stream := first + shortLog + ndjson(object{"command": commandObject(object{"exitCode": 3, "durationMs": 5})})
	for _, clean := range []bool{false, true} {
		for size := range len(stream) + 1 {
			name := fmt.Sprintf("clean %v, %d of %d bytes", clean, size, len(stream))
			s := serve(t, command(
				partial(stream, size, clean),
				inTurn(partial(otherLog, len(otherLog)/2, clean), partial(otherLog, len(otherLog), true)),
				inTurn(runs, ended),
			))
			var got collector
			command, err := clientOf(t, s).RunCommand(t.Context(), "sbx_S", CommandRequest{Command: "x"}, got.take)
			if size < len(first) {
				if !Ambiguous(err) {
					t.Errorf("%s: got %v, want that it is ambiguous", name, err)
				}
				wantRequests(t, s, 1)
				continue
			}
			if err != nil || !command.Exited() || *command.ExitCode != 3 {
				t.Fatalf("%s: got %+v and %v", name, command, err)
			}
			got.want(t, name)
			if size == len(stream) {
				wantRequests(t, s, 1)
			}
		}
	}
}

func TestRunFails(t *testing.T) {
	run := func(ctx context.Context, handler http.HandlerFunc, output func(Output) error) (Command, error) {
		return clientOf(t, serve(t, handler)).RunCommand(ctx, "sbx_S", CommandRequest{Command: "x"}, output)
	}
	named := ndjson(object{"command": commandObject()})
	_, err := run(t.Context(), alwaysError(400, CodeExecutableNotFound, "no x"), nil)
	wantKind(t, err, backends.Invalid)
	_, err = run(t.Context(), alwaysError(410, CodeStopped, "over"), nil)
	if !Ended(err) || Ambiguous(err) {
		t.Errorf("got %v", err)
	}
	_, err = run(t.Context(), alwaysError(422, CodeStopping, "wait"), nil)
	if !InTransition(err) {
		t.Errorf("got %v", err)
	}
	text := named + ndjson(object{"stream": "error", "data": object{"code": CodeStopped, "message": "over"}})
	command, err := run(t.Context(), partial(text, len(text), true), nil)
	if !Ended(err) || command.ID != "cmd_C" {
		t.Errorf("got %+v and %v", command, err)
	}
	full := errors.New("full")
	text = named + shortLog
	command, err = run(t.Context(), partial(text, len(text), true), func(Output) error { return full })
	if !errors.Is(err, full) || command.ID != "cmd_C" {
		t.Errorf("got %+v and %v", command, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	command, err = run(ctx, func(w http.ResponseWriter, r *http.Request) {
		partial(text, len(text), true)(w, r)
		<-r.Context().Done()
	}, func(Output) error { return nil })
	wantKind(t, err, backends.TimedOut)
	if command.ID != "cmd_C" {
		t.Error("the caller cannot kill what it does not know")
	}
	_, err = run(t.Context(), always(200, object{"command": commandObject()}), nil)
	if !Ambiguous(err) {
		t.Errorf("an answer that is no stream leaves it open whether the command runs: %v", err)
	}
	stranger := ndjson(object{"command": object{"id": "cmd_C"}})
	_, err = run(t.Context(), partial(stranger, len(stranger), true), nil)
	wantKind(t, err, backends.Failed)
	unknown := named + ndjson(object{"stream": "progress", "data": 5}, object{"later": true}) + "\n" + ndjson(object{"command": commandObject(object{"exitCode": 0})})
	command, err = run(t.Context(), partial(unknown, len(unknown), true), nil)
	if err != nil || !command.Exited() {
		t.Errorf("lines of unknown kinds are passed over: %+v, %v", command, err)
	}
}

// TestWaitCommand: each request is bounded, and one that is given up on is not the end.
func TestWaitCommand(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	hang := func(http.ResponseWriter, *http.Request) { <-release }
	s := serve(t, inTurn(hang, hang, alwaysError(504, "x", "y"), runs, runs, ended))
	c := clientOf(t, s)
	c.commandWait = 50 * time.Millisecond
	command, err := c.WaitCommand(t.Context(), "sbx_S", "cmd_C")
	if err != nil || *command.ExitCode != 3 || command.Duration.Duration != 5*time.Millisecond {
		t.Fatalf("got %+v and %v", command, err)
	}
	wantRequests(t, s, 6)
	s = serve(t, alwaysError(410, CodeStopped, "over"))
	_, err = clientOf(t, s).WaitCommand(t.Context(), "sbx_S", "cmd_C")
	wantKind(t, err, backends.NotRunning)
	wantRequests(t, s, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = clientOf(t, serve(t, runs)).WaitCommand(ctx, "sbx_S", "cmd_C")
	wantKind(t, err, backends.TimedOut)
	c = clientOf(t, serve(t, hang))
	c.commandWait = 20 * time.Millisecond
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = c.WaitCommand(ctx, "sbx_S", "cmd_C")
	wantKind(t, err, backends.TimedOut)
}
