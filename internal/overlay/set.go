package overlay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// Set is what was collected. As JSON it describes the files without their content.
type Set struct {
	// Entries are sorted by path.
	Entries []Entry `json:"entries"`
	// Total is the size of all files, in bytes.
	Total int64 `json:"total"`
}

// Entry is one file of a set.
type Entry struct {
	// Path is clean, has slashes, and is relative to the workspace or absolute.
	Path string `json:"path"`
	Mode Mode   `json:"mode"`
	Size int64  `json:"size"` // bytes
	// SHA256 of the content, in lower-case hex.
	SHA256 string `json:"sha256"`

	// key is the target that the file was collected for.
	key    string
	origin origin
}

// origin is where the content of a file comes from.
type origin interface {
	// open returns the content, and the name of the file for messages.
	open() (io.ReadCloser, error)
	name() string
}

// given is content that was given directly.
type given []byte

func (g given) open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(g)), nil }
func (g given) name() string                 { return "the given content" }

// single is a file that was named itself. A link in its place was named too, and is followed.
type single string

func (s single) open() (io.ReadCloser, error) { return os.Open(string(s)) }
func (s single) name() string                 { return string(s) }

// Digest returns one hash of all entries, in lower-case hex: the SHA-256 of mode, hash and path of
// each entry in their order, each of them followed by a NUL byte.
func (s Set) Digest() string {
	hash := sha256.New()
	for _, entry := range s.Entries {
		fmt.Fprintf(hash, "%s\x00%s\x00%s\x00", entry.Mode, entry.SHA256, entry.Path)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Open returns the content of an entry once more. It fails with [ErrChanged] when that is not what
// was collected: a plan promised something else then.
func (e Entry) Open(ctx context.Context) ([]byte, error) {
	if e.origin == nil {
		return nil, &Error{Key: e.Path, Path: e.Path, Kind: ErrUnreadable, Detail: "Where its content came from is not known any more."}
	}
	fail := func(detail string, kind, err error) ([]byte, error) {
		return nil, &Error{Key: e.key, Path: e.origin.name(), Kind: kind, Detail: detail, Remedy: "Run a plan again.", Err: err}
	}
	reader, err := e.origin.open()
	if err != nil {
		return fail("It could be read before, and cannot be opened now.", ErrChanged, err)
	}
	var content bytes.Buffer
	sum, err := hashed(ctx, io.TeeReader(io.LimitReader(reader, e.Size+1), &content))
	if err := errors.Join(err, reader.Close()); err != nil {
		return fail("It cannot be read.", ErrUnreadable, err)
	}
	if sum.SHA256 != e.SHA256 {
		return fail("It is not what it was when it was looked at before.", ErrChanged, nil)
	}
	return content.Bytes(), nil
}
