package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

const (
	readFilePath   = "/v2/sandboxes/sessions/{id}/fs/read"
	writeFilesPath = "/v2/sandboxes/sessions/{id}/fs/write"
	makeDirPath    = "/v2/sandboxes/sessions/{id}/fs/mkdir"
)

// ReadFile opens a file of a running session; name is absolute. The caller bounds what it reads and
// closes the reader. [backends.FileNotFound] when the session is there and the file is not; a
// directory is another error.
func (c *Client) ReadFile(ctx context.Context, session, name string) (io.ReadCloser, error) {
	const operation = "read file"
	if err := checkPath(operation, name); err != nil {
		return nil, err
	}
	call, err := inSession(operation, session, readFilePath).sending(map[string]string{"path": name})
	if err != nil {
		return nil, err
	}
	call.object, call.write, call.bounds = name, false, transferBounds
	body, err := c.stream(ctx, call, fileType)
	if StatusOf(err) != http.StatusNotFound {
		return body, err
	}
	// An unknown session and a missing file are both answered by 404, with any body.
	if _, failure := c.GetSession(ctx, session); failure != nil {
		return nil, failure
	}
	return nil, call.failure(backends.FileNotFound, "", nil)
}

// MakeDir makes a directory and its parents; name is absolute. One that exists is no error.
func (c *Client) MakeDir(ctx context.Context, session, name string) error {
	const operation = "make directory"
	if err := checkPath(operation, name); err != nil {
		return err
	}
	// Always sent: what its absence means is told differently by different sources (section 7.2).
	call, err := inSession(operation, session, makeDirPath).sending(struct {
		Path      string `json:"path"`
		Recursive bool   `json:"recursive"`
	}{name, true})
	if err != nil {
		return err
	}
	call.object = name
	return c.do(ctx, call, nil)
}

// WriteFiles writes files into a running session, makes missing parents and replaces what is there.
// They belong to the sandbox's own user. All contents are held in memory once more, packed. An
// error may leave some of the files written.
func (c *Client) WriteFiles(ctx context.Context, session string, files ...File) error {
	const operation = "write files"
	for _, file := range files {
		if err := checkPath(operation, file.Path); err != nil {
			return err
		}
	}
	archive, err := pack(files, c.now())
	if err != nil {
		return errors.Join(invalid(operation, session, "The files cannot be packed.", ""), err)
	}
	call := inSession(operation, session, writeFilesPath)
	if len(files) == 1 {
		call.object = files[0].Path
	}
	call.body, call.bounds = archive, transferBounds
	// Names in the archive are relative to x-cwd.
	call.header = http.Header{"Content-Type": {"application/gzip"}, "X-Cwd": {"/"}}
	return c.do(ctx, call, nil)
}

// checkPath accepts absolute, clean paths.
func checkPath(operation, name string) error {
	if !path.IsAbs(name) || path.Clean(name) != name || name == "/" {
		return invalid(operation, name, "A path must be absolute, without dots and double slashes.", "")
	}
	return nil
}
