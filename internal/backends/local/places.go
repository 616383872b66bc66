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
	mount    bool // the path is a mounted file itself
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
	on, err := b.mountOf(op, stored, path)
	if err != nil {
		return place{}, "", err
	}
	base := on.base
	root, err := os.OpenRoot(on.directory)
	if err != nil {
		return place{}, "", op.wrap(err, "The folder that holds the file cannot be opened.")
	}
	defer func() {
		if err != nil || next != "" {
			err = errors.Join(err, root.Close())
		}
	}()
	found = place{root: root, name: ".", path: path, readOnly: on.readOnly}
	if path == base && on.file != "" {
		found.name, found.mount = on.file, true
	}
	if path == base {
		return found, "", nil
	}
	if on.file != "" {
		return place{}, "", op.fail(backends.Invalid, "A part of the path is a file and not a directory.")
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

// mounted is a directory of the host, or one file in it, that a sandbox sees at base.
type mounted struct {
	base      string
	directory string
	file      string // empty when it is the directory
	readOnly  bool
}

// mountOf returns the innermost mount that path is on.
func (b *Backend) mountOf(op operation, stored record, path string) (mounted, error) {
	on := mounted{base: workspacePath, directory: filepath.Join(b.sandboxDir(stored.Marks.Name), workspaceDir)}
	for _, mount := range sortedMounts(stored.Spec.Mounts) {
		if !within(mount.Target, workspacePath) || !within(path, mount.Target) {
			continue
		}
		if err := b.checkMount(op, mount); err != nil {
			return mounted{}, err
		}
		source, err := filepath.EvalSymlinks(mount.Source)
		if err != nil {
			return mounted{}, op.on("mounts").wrap(err, "The source of a mount cannot be looked at.")
		}
		info, err := os.Lstat(source)
		if err != nil {
			return mounted{}, op.on("mounts").wrap(err, "The source of a mount cannot be looked at.")
		}
		on = mounted{base: mount.Target, directory: source, readOnly: mount.ReadOnly}
		if !info.IsDir() {
			on.directory, on.file = filepath.Dir(source), filepath.Base(source)
		}
	}
	return on, nil
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
