package vercel

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Files are read and written by commands inside, so that links, permissions and owners are those of
// the sandbox. The scripts end with these statuses.
const (
	exitExists    = 3
	exitMissing   = 4
	exitDirectory = 5
)

// inside runs a program of the simulator's own in a running session.
func (s *Simulator) inside(r *http.Request, sn *session, directory string, argv ...string) (backends.ExecResult, error) {
	m, err := s.machineOf(r.Context(), sn)
	if err != nil {
		return backends.ExecResult{}, err
	}
	result, err := m.exec(r.Context(), backends.Command{Argv: argv, WorkingDirectory: directory, Environment: m.environment(), OutputLimit: maxBody})
	if err != nil {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if ended := usableSession(sn); ended != nil { // that is why
			return result, ended
		}
		return result, s.explain(err, argv[0])
	}
	if result.Truncated {
		return result, unsupported("it handles no files beyond %d bytes", maxBody)
	}
	return result, nil
}

type pathBody struct {
	Path      string `json:"path"`
	Cwd       string `json:"cwd"`
	Recursive *bool  `json:"recursive"`
}

// pathIn reads the body and makes its path absolute.
func (s *Simulator) pathIn(r *http.Request) (body pathBody, sn *session, err error) {
	if err := decodeBody(s.readBody(r), &body); err != nil {
		return body, nil, err
	}
	if body.Path == "" {
		return body, nil, badRequest("should have required property `path`")
	}
	if body.Cwd != "" && !path.IsAbs(body.Cwd) {
		return body, nil, badRequest("`cwd` should be absolute")
	}
	sn, _, err = s.runningSession(r)
	if err != nil {
		return body, nil, err
	}
	s.mutex.Unlock()
	if body.Cwd == "" {
		body.Cwd = sn.Cwd
	}
	if !path.IsAbs(body.Path) {
		body.Path = body.Cwd + "/" + body.Path // not cleaned: .. counts from where links lead
	}
	return body, sn, nil
}

func refused(what string, result backends.ExecResult) error {
	return fail(http.StatusBadRequest, codeBadRequest, "%s: %s", what, strings.TrimSpace(string(result.Stderr)))
}

func (s *Simulator) readFile(w http.ResponseWriter, r *http.Request) error {
	body, sn, err := s.pathIn(r)
	if err != nil {
		return err
	}
	const script = `[ -d "$1" ] && exit 5; [ -e "$1" ] || exit 4; exec cat <"$1"`
	result, err := s.inside(r, sn, "/", "/bin/sh", "-c", script, "sh", body.Path)
	if err != nil {
		return err
	}
	switch result.ExitCode {
	case 0:
	case exitMissing:
		return notFound("File " + body.Path)
	case exitDirectory:
		return fail(http.StatusBadRequest, codeBadRequest, "%s is a directory.", body.Path)
	default:
		return refused("The file cannot be read", result)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(result.Stdout) // the client may be gone, which is its own affair
	return nil
}

func (s *Simulator) makeDirectory(w http.ResponseWriter, r *http.Request) error {
	body, sn, err := s.pathIn(r)
	if err != nil {
		return err
	}
	script := `[ -e "$1" ] && exit 3; exec mkdir -p -- "$1"`
	switch {
	case body.Recursive != nil && *body.Recursive:
		script = `exec mkdir -p -- "$1"`
	case body.Recursive != nil || s.currentSettings().StrictMkdir:
		script = `[ -e "$1" ] && exit 3; exec mkdir -- "$1"`
	}
	result, err := s.inside(r, sn, "/", "/bin/sh", "-c", script, "sh", body.Path)
	if err != nil {
		return err
	}
	switch result.ExitCode {
	case 0:
		writeJSON(w, http.StatusOK, struct{}{})
		return nil
	case exitExists:
		return fail(http.StatusBadRequest, codeBadRequest, "%s exists already.", body.Path)
	}
	return refused("The directory cannot be made", result)
}

// writeFiles unpacks an archive below a folder.
func (s *Simulator) writeFiles(w http.ResponseWriter, r *http.Request) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/gzip" {
		return badRequest("the content type should be application/gzip")
	}
	body := s.readBody(r)
	if limit := s.currentSettings().MaxUpload; limit > 0 && int64(len(body)) > limit {
		return fail(http.StatusRequestEntityTooLarge, codeBadRequest, "The upload is larger than %d bytes.", limit)
	}
	archive, err := checkedArchive(body)
	if err != nil {
		return err
	}
	sn, _, err := s.runningSession(r)
	if err != nil {
		return err
	}
	s.mutex.Unlock()
	directory := r.Header.Get("X-Cwd")
	if directory == "" {
		directory = sn.Cwd
	}
	if !path.IsAbs(directory) {
		return badRequest("the header x-cwd should be absolute")
	}
	m, err := s.machineOf(r.Context(), sn)
	if err != nil {
		return err
	}
	upload := randomID("upload_")
	file := filepath.Join(m.run, upload)
	if err := errors.Join(os.WriteFile(file, archive, 0o600), os.Chmod(file, 0o644)); err != nil { //nolint:gosec // the command reads it
		return err
	}
	defer os.Remove(file)
	result, err := s.inside(r, sn, path.Clean(directory), "tar", "-x", "-p", "-f", insideRun+"/"+upload)
	if err != nil {
		return err
	}
	if result.ExitCode != 0 {
		return refused("The files cannot be written", result)
	}
	writeJSON(w, http.StatusOK, struct{}{})
	return nil
}

// checkedArchive unzips a tar archive that holds files only, all below where it is unpacked.
func checkedArchive(body []byte) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, badRequest("the body should be a gzipped tar archive: %v", err)
	}
	content, err := io.ReadAll(io.LimitReader(unzipped, maxBody+1))
	if err != nil {
		return nil, badRequest("the body should be a gzipped tar archive: %v", err)
	}
	if len(content) > maxBody {
		return nil, unsupported("it handles no uploads beyond %d bytes", maxBody)
	}
	for reader := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return content, nil
		}
		if err != nil {
			return nil, badRequest("the body should be a gzipped tar archive: %v", err)
		}
		if header.Typeflag != tar.TypeReg && header.Typeflag != tar.TypeDir {
			return nil, badRequest("the archive should hold files only, and %q is none", header.Name)
		}
		if path.IsAbs(header.Name) || !filepath.IsLocal(path.Clean(header.Name)) {
			return nil, badRequest("the name %q leads out of the archive", header.Name)
		}
	}
}
