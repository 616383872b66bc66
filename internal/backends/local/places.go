//go:build linux

package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// place is where a path inside a sandbox lives on the host: a name below a directory that is
// held open. No element of the name but the last was a link when it was looked at, and whatever
// became one since is stopped by [os.Root].
type place struct {
	root     *os.Root
	name     string // relative to root, "." for root itself
	path     string // inside the sandbox, with links followed
	readOnly bool
}

// maximumLinks is how many links a path may go through, as in the kernel.
const maximumLinks = 40

// locate finds a path of the workspace. A link at the end is followed only when asked to. The
// caller closes the place's root.
func (b *Backend) locate(op operation, stored record, path string, followLast bool) (place, error) {
	if clean := filepath.Clean(path); filepath.IsAbs(path) && clean != path && !within(clean, workspacePath) {
		return place{}, op.fail(backends.PathEscapes, "The path leads out of %s.", workspacePath)
	}
	if !cleanAbsolute(path) {
		return place{}, op.fail(backends.Invalid, "The path is not clean and absolute.")
	}
	if !within(path, workspacePath) {
		return place{}, op.fail(backends.Unsupported, "Only files below %s can be read and written.", workspacePath)
	}
	for range maximumLinks {
		found, next, err := b.walk(op, stored, path, followLast)
		if err != nil || next == "" {
			return found, err
		}
		if !within(next, workspacePath) {
			return place{}, op.fail(backends.PathEscapes, "A link leads to %q, outside of %s.", next, workspacePath)
		}
		path = next
	}
	return place{}, op.fail(backends.PathEscapes, "The path goes through too many links.")
}

// walk goes along path from the mount it is on. It stops at the first link and returns where
// that leads, as a path inside the sandbox.
func (b *Backend) walk(op operation, stored record, path string, followLast bool) (found place, next string, err error) {
	base, directory, readOnly, err := b.mountOf(op, stored, path)
	if err != nil {
		return place{}, "", err
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return place{}, "", op.wrap(err, "The folder that holds the file cannot be opened.")
	}
	defer func() {
		if err != nil || next != "" {
			err = errors.Join(err, root.Close())
		}
	}()
	found = place{root: root, name: ".", path: path, readOnly: readOnly}
	if path == base {
		return found, "", nil
	}
	elements := strings.Split(strings.TrimPrefix(path, base+"/"), "/")
	found.name = filepath.Join(elements...)
	for i := range elements {
		last := i == len(elements)-1
		if last && !followLast {
			break
		}
		prefix := filepath.Join(elements[:i+1]...)
		target, err := root.Readlink(prefix)
		switch {
		case errors.Is(err, syscall.EINVAL): // not a link
			continue
		case errors.Is(err, fs.ErrNotExist):
			return found, "", nil
		case errors.Is(err, syscall.ENOTDIR):
			return place{}, "", op.fail(backends.Invalid, "A part of the path is a file and not a directory.")
		case err != nil:
			return place{}, "", op.wrap(err, "The path cannot be followed.")
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(base, filepath.Dir(prefix), target)
		}
		rest := filepath.Join(elements[i+1:]...)
		return place{}, filepath.Join(target, rest), nil
	}
	return found, "", nil
}

// mountOf returns the innermost mount that path is on: its path inside and its directory on the
// host.
func (b *Backend) mountOf(op operation, stored record, path string) (base, directory string, readOnly bool, err error) {
	base, directory = workspacePath, filepath.Join(b.sandboxDir(stored.Marks.Name), workspaceDir)
	for _, mount := range sortedMounts(stored.Spec.Mounts) {
		if !within(mount.Target, workspacePath) || !within(path, mount.Target) {
			continue
		}
		if err := b.checkMount(op, mount); err != nil {
			return "", "", false, err
		}
		base, directory, readOnly = mount.Target, mount.Source, mount.ReadOnly
	}
	if base == workspacePath {
		return base, directory, readOnly, nil
	}
	info, err := os.Stat(directory)
	if err != nil {
		return "", "", false, op.wrap(err, "The source of a mount cannot be looked at.")
	}
	if !info.IsDir() {
		return "", "", false, op.fail(backends.Unsupported, "The path is a file mounted from the host.")
	}
	return base, directory, readOnly, nil
}

// fileError types what [os.Root] says about a file of a sandbox.
func (o operation) fileError(err error, detail string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return o.fail(backends.FileNotFound, "The file does not exist.")
	case errors.Is(err, syscall.ENOTDIR):
		return o.fail(backends.Invalid, "A part of the path is a file and not a directory.")
	case errors.Is(err, syscall.ELOOP), strings.Contains(err.Error(), "path escapes from parent"): // os.Root has no exported error for it
		return o.fail(backends.PathEscapes, "A link leads out of the workspace.")
	}
	return o.wrap(err, detail)
}
