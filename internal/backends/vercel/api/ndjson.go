package api

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

const (
	streamType = "application/x-ndjson"
	fileType   = "application/octet-stream"
)

// errCut: a stream ended before it was complete.
var errCut = errors.New("the stream was cut")

// Output is a piece of what a command wrote. It may be any part of a line.
type Output struct {
	// Stderr is true for the error stream.
	Stderr bool
	Data   string
}

// streamLine is one line of a command's stream (section 7.1). One of the members is set.
type streamLine struct {
	command *Command
	output  *Output
	failure *errorReport
}

// lineReader reads the lines of a stream.
type lineReader struct{ source *bufio.Reader }

func newLineReader(source io.Reader) lineReader {
	return lineReader{bufio.NewReaderSize(source, 32<<10)}
}

// next returns the next line. [io.EOF] says that the stream ended at the end of a line and as its
// framing says, errCut that it did not, errTooLong and errNotALine that it is not one of the API's.
func (r lineReader) next() (streamLine, error) {
	for {
		text, err := r.text()
		switch {
		case errors.Is(err, io.EOF) && len(text) > 0:
			return streamLine{}, errCut
		case errors.Is(err, io.EOF), errors.Is(err, errTooLong):
			return streamLine{}, err
		case err != nil:
			return streamLine{}, errCut
		}
		if line, ok, err := parseLine(text); ok || err != nil {
			return line, err
		}
	}
}

// text reads up to and including a line feed.
func (r lineReader) text() ([]byte, error) {
	var text []byte
	for {
		part, err := r.source.ReadSlice('\n')
		if text = append(text, part...); len(text) > longestStreamLine {
			return nil, errTooLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

var errNotALine = errors.New("a line of the stream is not in the form of the API")

// parseLine reads a line. ok is false for an empty one, and for streams of kinds yet unknown.
func parseLine(text []byte) (line streamLine, ok bool, err error) {
	var shape struct {
		Command json.RawMessage `json:"command"`
		Stream  string          `json:"stream"`
		Data    json.RawMessage `json:"data"`
	}
	if isNull(text) || string(text) == "\n" {
		return line, false, nil
	}
	if json.Unmarshal(text, &shape) != nil {
		return line, false, errNotALine
	}
	switch {
	case !isNull(shape.Command):
		line.command = &Command{}
		err = decode(shape.Command, line.command)
	case shape.Stream == "stdout" || shape.Stream == "stderr":
		line.output = &Output{Stderr: shape.Stream == "stderr"}
		err = json.Unmarshal(shape.Data, &line.output.Data)
	case shape.Stream == "error":
		line.failure = &errorReport{}
		err = json.Unmarshal(shape.Data, line.failure)
	default:
		return line, false, nil
	}
	if err != nil {
		return streamLine{}, false, errNotALine
	}
	return line, true, nil
}
