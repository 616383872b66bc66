package vercel

import (
	"context"
	"sync"
	"unicode/utf8"
)

// maxLog bounds what is kept of the output of a command, in bytes.
const maxLog = 64 << 20

// logLine is one line of a stream: a string for stdout and stderr, an errorDetail for error.
type logLine struct {
	Stream string `json:"stream"`
	Data   any    `json:"data"`
}

// commandLog keeps what a command printed, for readers that come at any time and follow.
type commandLog struct {
	mutex   sync.Mutex
	lines   []logLine
	size    int
	partial map[string][]byte // the beginning of a character whose rest has not come yet
	closed  bool
	changed chan struct{} // closed and replaced with each change
}

func newCommandLog() *commandLog {
	return &commandLog{partial: map[string][]byte{}, changed: make(chan struct{})}
}

// write adds output.
func (l *commandLog) write(stream string, content []byte) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closed || l.size > maxLog {
		return
	}
	content = append(l.partial[stream], content...)
	whole := wholeCharacters(content)
	l.partial[stream] = append([]byte(nil), content[whole:]...)
	if whole > 0 {
		l.add(logLine{Stream: stream, Data: string(content[:whole])})
	}
	if l.size += whole; l.size > maxLog {
		l.add(logLine{Stream: "error", Data: errorDetail{codeUnsupported, "The simulator keeps no more output of one command."}})
	}
}

// wholeCharacters returns where a character begins that content cuts off at its end.
func wholeCharacters(content []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(content); back++ {
		if from := len(content) - back; utf8.RuneStart(content[from]) {
			if !utf8.FullRune(content[from:]) {
				return from
			}
			break
		}
	}
	return len(content)
}

// end adds a last line, unless it is nil, and lets readers go.
func (l *commandLog) end(last *logLine) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.closed {
		return
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if len(l.partial[stream]) > 0 {
			l.add(logLine{Stream: stream, Data: string(l.partial[stream])})
		}
	}
	if last != nil {
		l.add(*last)
	}
	l.closed = true
	close(l.changed)
}

// add wakes readers. The mutex is held.
func (l *commandLog) add(line logLine) {
	l.lines = append(l.lines, line)
	close(l.changed)
	l.changed = make(chan struct{})
}

// follow calls show with every line, also with later ones, until the command has ended or show fails.
func (l *commandLog) follow(ctx context.Context, show func(logLine) error) error {
	for shown := 0; ; {
		l.mutex.Lock()
		lines, closed, changed := l.lines[shown:], l.closed, l.changed
		l.mutex.Unlock()
		for _, line := range lines {
			if err := show(line); err != nil {
				return err
			}
		}
		shown += len(lines)
		if closed {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
