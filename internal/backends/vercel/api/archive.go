package api

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"strings"
	"time"
)

// DefaultFileMode is the mode of files that choose none.
const DefaultFileMode fs.FileMode = 0o644

// File is a file to write.
type File struct {
	Path    string // absolute and clean
	Content []byte
	// Mode holds permission bits; 0 means [DefaultFileMode].
	Mode fs.FileMode
}

// pack makes the archive of section 7.2: gzipped ustar of regular files only, names without their
// leading slash, owner 0. Names that ustar cannot hold get a pax header.
func pack(files []File, now time.Time) ([]byte, error) {
	var buffer bytes.Buffer
	packed := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(packed)
	for _, file := range files {
		mode := file.Mode.Perm()
		if mode == 0 {
			mode = DefaultFileMode
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: strings.TrimPrefix(file.Path, "/"),
			Size: int64(len(file.Content)), Mode: int64(mode), ModTime: now.Truncate(time.Second),
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(file.Content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := packed.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}
