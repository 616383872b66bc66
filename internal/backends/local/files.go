//go:build linux

package local

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// at prepares a file operation: it finds the sandbox and the place of the path.
func (b *Backend) at(verb, name, file string, followLast bool) (operation, record, place, error) {
	op, err := b.begin(verb, file, name)
	if err != nil {
		return op, record{}, place{}, err
	}
	stored, err := b.load(op.on(name), name)
	if err != nil {
		return op, record{}, place{}, err
	}
	where, err := b.locate(op, stored, file, followLast)
	return op, stored, where, err
}

// StatFile implements [backends.Files].
func (b *Backend) StatFile(_ context.Context, name, file string) (_ backends.FileInfo, err error) {
	op, _, where, err := b.at("look at file", name, file, false)
	if err != nil {
		return backends.FileInfo{}, err
	}
	defer func() { err = errors.Join(err, where.root.Close()) }()
	info, err := where.describe(where.name, file)
	return info, op.fileError(err, "The file cannot be looked at.")
}

// describe returns what is known of the file name, without following a link at its end.
func (p place) describe(name, shown string) (backends.FileInfo, error) {
	info, err := p.root.Lstat(name)
	if err != nil {
		return backends.FileInfo{}, err
	}
	described := backends.FileInfo{Path: shown, Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}
	if info.Mode()&fs.ModeSymlink != 0 {
		described.LinkTarget, err = p.root.Readlink(name)
	}
	return described, err
}

// OpenFile implements [backends.Files].
func (b *Backend) OpenFile(_ context.Context, name, file string) (_ io.ReadCloser, _ backends.FileInfo, err error) {
	op, _, where, err := b.at("read file", name, file, true)
	if err != nil {
		return nil, backends.FileInfo{}, err
	}
	defer func() { err = errors.Join(err, where.root.Close()) }()
	opened, info, err := openRegular(where.root, where.name)
	if err != nil {
		return nil, backends.FileInfo{}, op.fileError(err, "The file cannot be opened.")
	}
	if opened == nil {
		return nil, backends.FileInfo{}, op.fail(backends.Invalid, "It is not a regular file but %s.", kindName(info.Mode()))
	}
	return opened, backends.FileInfo{Path: file, Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}, nil
}

// openRegular opens a regular file and never waits, as a pipe without a writer would make it
// do. For anything else it returns no file and no error.
func openRegular(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	opened, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ENXIO) { // a socket
		info, err := root.Lstat(name)
		return nil, info, err
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := opened.Stat()
	if err == nil && info.Mode().IsRegular() {
		return opened, info, nil
	}
	return nil, info, errors.Join(err, opened.Close())
}

func kindName(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// ListFiles implements [backends.Files].
func (b *Backend) ListFiles(_ context.Context, name, file string) (_ []backends.FileInfo, err error) {
	op, _, where, err := b.at("list directory", name, file, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, where.root.Close()) }()
	info, err := where.root.Lstat(where.name)
	if err != nil {
		return nil, op.fileError(err, "The directory cannot be looked at.")
	}
	if !info.IsDir() {
		return nil, op.fail(backends.Invalid, "It is not a directory but %s.", fileOr(info.Mode()))
	}
	entries, err := fs.ReadDir(where.root.FS(), where.name)
	if err != nil {
		return nil, op.fileError(err, "The directory cannot be read.")
	}
	all := make([]backends.FileInfo, 0, len(entries))
	for _, entry := range entries {
		described, err := where.describe(path.Join(where.name, entry.Name()), path.Join(file, entry.Name()))
		if errors.Is(err, fs.ErrNotExist) { // it went since the directory was read
			continue
		}
		if err != nil {
			return nil, op.fileError(err, "An entry of the directory cannot be looked at.")
		}
		all = append(all, described)
	}
	return all, nil
}

func fileOr(mode fs.FileMode) string {
	if mode.IsRegular() {
		return "a file"
	}
	return kindName(mode)
}
