package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
)

// emptyAnswers is how often an archive without any entry is asked for before it is an error.
const emptyAnswers = 3

// wholeArchive is no limit.
const wholeArchive = math.MaxInt64

// archivedFile is an archive that the engine sends, read entry by entry.
type archivedFile struct {
	*tar.Reader
	limited *io.LimitedReader
	stream  io.Closer
}

// Close ends the engine's answer.
func (a *archivedFile) Close() error { return a.stream.Close() }

// archive opens the archive of a file or directory at its first entry, which is itself. An answer
// without one is the engine's fault and no empty directory, so it is asked for again.
func (e *engine) archive(ctx context.Context, id, file string, limit int64) (*archivedFile, *tar.Header, error) {
	for attempt := 1; ; attempt++ {
		stream, _, err := e.CopyFromContainer(ctx, id, file)
		if err != nil {
			return nil, nil, err
		}
		limited := &io.LimitedReader{R: stream, N: limit}
		opened := &archivedFile{Reader: tar.NewReader(limited), limited: limited, stream: stream}
		header, err := opened.Next()
		if err == nil {
			return opened, header, nil
		}
		err = errors.Join(err, stream.Close())
		if attempt == emptyAnswers || !errors.Is(err, io.EOF) {
			return nil, nil, fmt.Errorf("read the archive of %s: %w", file, err)
		}
	}
}

// header reads the archive header of one file and no more.
func (e *engine) header(ctx context.Context, id, file string) (*tar.Header, error) {
	opened, header, err := e.archive(ctx, id, file, wholeArchive)
	if err != nil {
		return nil, err
	}
	return header, opened.Close()
}
