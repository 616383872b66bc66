//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// removeTree removes a folder and all below it. Commands of the sandbox may have taken away our
// own permissions on what they made, so these are given back where removing fails.
func (b *Backend) removeTree(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return b.do(ctx, "remove tree", path, func() error { return removeAll(path) })
}

func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := openUp(path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// openUp makes every directory below path accessible to its owner. It works through [os.Root],
// so that a link in the tree leads nowhere.
func openUp(path string) (err error) {
	root, err := os.OpenRoot(path)
	if errors.Is(err, fs.ErrPermission) {
		if err := os.Chmod(path, directoryMode); err != nil {
			return err
		}
		root, err = os.OpenRoot(path)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return openUpBelow(root, ".")
}

func openUpBelow(root *os.Root, directory string) error {
	if err := root.Chmod(directory, directoryMode); err != nil {
		return err
	}
	entries, err := fs.ReadDir(root.FS(), directory)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		if err := openUpBelow(root, filepath.Join(directory, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// emptyDir removes all that is in a directory, which stays.
func (b *Backend) emptyDir(ctx context.Context, path string) error {
	return b.do(ctx, "empty", path, func() error {
		entries, err := os.ReadDir(path)
		if errors.Is(err, fs.ErrPermission) {
			if err := os.Chmod(path, directoryMode); err != nil {
				return err
			}
			entries, err = os.ReadDir(path)
		}
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if err := removeAll(filepath.Join(path, entry.Name())); err != nil {
				return err
			}
		}
		return os.Chmod(path, directoryMode)
	})
}

// chownTree gives a folder and all below it to uid. Nothing runs in the tree yet.
func (b *Backend) chownTree(ctx context.Context, path string, uid int) error {
	return b.do(ctx, "chown", path, func() error {
		return filepath.WalkDir(path, func(entry string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(entry, uid, uid) //nolint:gosec // nothing runs in the tree yet
		})
	})
}

// ownerOf returns the uid that a file belongs to.
func ownerOf(info fs.FileInfo) (int, error) {
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("%s: its owner cannot be read", info.Name())
	}
	return int(status.Uid), nil
}
