//go:build linux

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// change runs a step on a place while the lock of the sandbox is held.
func (b *Backend) change(ctx context.Context, verb, name, file string, step func(operation, record, place) error) (err error) {
	op, _, where, err := b.at(verb, name, file, false)
	if err != nil {
		return err
	}
	if err := where.root.Close(); err != nil {
		return op.wrap(err, "The folder that holds the file cannot be closed.")
	}
	release, err := b.lock(ctx, op, name)
	if err != nil {
		return err
	}
	defer release()
	// Found anew: the sandbox may have changed while the lock was waited for.
	op, stored, where, err := b.at(verb, name, file, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, where.root.Close()) }()
	if where.readOnly {
		return op.fail(backends.Invalid, "The path is on a read-only mount.")
	}
	if where.name == "." {
		return op.fail(backends.Invalid, "It is not a file but a directory.")
	}
	if err := b.runnableBy(op, stored); err != nil {
		return err
	}
	return step(op, stored, where)
}

// WriteFile implements [backends.Files].
func (b *Backend) WriteFile(ctx context.Context, name, file string, content []byte, mode fs.FileMode) error {
	return b.change(ctx, "write file", name, file, func(op operation, stored record, where place) error {
		info, err := where.root.Lstat(where.name)
		if err == nil && info.IsDir() {
			return op.fail(backends.Invalid, "It is a directory.")
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return op.fileError(err, "The file cannot be looked at.")
		}
		if err := b.makeParents(ctx, stored, where); err != nil {
			return op.fileError(err, "The folder of the file could not be made.")
		}
		return op.fileError(b.replaceInside(ctx, stored, where, content, mode.Perm()), "The file could not be written.")
	})
}

// makeParents makes the missing folders above a place; they belong to the sandbox's user.
func (b *Backend) makeParents(ctx context.Context, stored record, where place) error {
	parent := path.Dir(where.name)
	if parent == "." {
		return nil
	}
	var walked string
	for _, element := range strings.Split(parent, "/") {
		walked = path.Join(walked, element)
		if _, err := where.root.Lstat(walked); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		err := b.do(ctx, "mkdir in sandbox", path.Join(stored.Marks.Name, where.path), func() error {
			err := where.root.Mkdir(walked, 0o755)
			if errors.Is(err, fs.ErrExist) { // a command was faster
				return nil
			}
			if err != nil || stored.UID == 0 {
				return err
			}
			return where.root.Lchown(walked, stored.UID, stored.UID)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceInside writes the file beside the sandbox's mounts, where no command can reach it, and
// renames it into its place in one step.
func (b *Backend) replaceInside(ctx context.Context, stored record, where place, content []byte, mode fs.FileMode) (err error) {
	incoming := filepath.Join(b.sandboxDir(stored.Marks.Name), incomingDir)
	if err := b.makeDir(ctx, incoming); err != nil {
		return err
	}
	const name = "file" // fixed, as the lock is held; so a killed writer's leftover is overwritten
	object := path.Join(stored.Marks.Name, where.path)
	err = b.do(ctx, "write incoming file", object, func() error {
		return writeOwned(filepath.Join(incoming, name), content, mode, stored.UID)
	})
	if err != nil {
		return errors.Join(err, b.unlink(context.WithoutCancel(ctx), filepath.Join(incoming, name)))
	}
	parent, err := where.root.Open(path.Dir(where.name))
	if err != nil {
		return errors.Join(err, b.unlink(context.WithoutCancel(ctx), filepath.Join(incoming, name)))
	}
	defer func() { err = errors.Join(err, parent.Close()) }()
	err = b.do(ctx, "rename in sandbox", object, func() error {
		from := filepath.Join(incoming, name)
		if err := unix.Renameat(unix.AT_FDCWD, from, int(parent.Fd()), path.Base(where.name)); err != nil {
			return err
		}
		return parent.Sync()
	})
	if err == nil {
		return nil
	}
	err = errors.Join(err, b.unlink(context.WithoutCancel(ctx), filepath.Join(incoming, name)))
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	return b.replaceOnMount(ctx, stored, where, content, mode)
}

// replaceOnMount is for mounts of another file system, where the temporary file has to lie
// beside the wanted one. Its name is fixed, so that the next write replaces a killed one's.
func (b *Backend) replaceOnMount(ctx context.Context, stored record, where place, content []byte, mode fs.FileMode) error {
	temporary := path.Join(path.Dir(where.name), "."+path.Base(where.name)+".sandlot-new")
	object := path.Join(stored.Marks.Name, where.path)
	return b.do(ctx, "replace on mount", object, func() (err error) {
		if err := where.root.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		file, err := where.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
		if err != nil {
			return err
		}
		err = errors.Join(fillOwned(file, content, mode, stored.UID), file.Close())
		if err == nil {
			err = where.root.Rename(temporary, where.name)
		}
		if err != nil {
			return errors.Join(err, where.root.Remove(temporary))
		}
		return nil
	})
}

func writeOwned(path string, content []byte, mode fs.FileMode, uid int) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	return errors.Join(fillOwned(file, content, mode, uid), file.Close())
}

// fillOwned writes the content and then, by the descriptor, gives the file away.
func fillOwned(file *os.File, content []byte, mode fs.FileMode, uid int) error {
	if _, err := file.Write(content); err != nil {
		return err
	}
	if uid != 0 {
		if err := file.Chown(uid, uid); err != nil {
			return err
		}
	}
	if err := file.Chmod(mode); err != nil {
		return err
	}
	return file.Sync()
}

// RemoveFile implements [backends.Files].
func (b *Backend) RemoveFile(ctx context.Context, name, file string) error {
	err := b.change(ctx, "remove file", name, file, func(op operation, stored record, where place) error {
		info, err := where.root.Lstat(where.name)
		if err != nil {
			return op.fileError(err, "The file cannot be looked at.")
		}
		if info.IsDir() {
			return op.fail(backends.Invalid, "It is a directory.")
		}
		if where.mount {
			return op.fail(backends.Invalid, "It is a file mounted from the host.")
		}
		err = b.do(ctx, "remove in sandbox", path.Join(stored.Marks.Name, where.path), func() error {
			return where.root.Remove(where.name)
		})
		return op.fileError(err, "The file could not be removed.")
	})
	if errors.Is(err, backends.FileNotFound) {
		return nil
	}
	return err
}
