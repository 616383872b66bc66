//go:build linux

package local

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// checkMount refuses a mount that is not there or that would open the data directory.
func (b *Backend) checkMount(op operation, mount backends.Mount) error {
	op = op.on("mounts")
	if !cleanAbsolute(mount.Source) {
		return op.fail(backends.Invalid, "The source %q is not a clean absolute path.", mount.Source)
	}
	if !cleanAbsolute(mount.Target) || mount.Target == "/" || within(mount.Target, "/proc") || within(mount.Target, "/dev") {
		return op.fail(backends.Invalid, "The target %q is not a clean absolute path outside /proc and /dev.", mount.Target)
	}
	source, err := filepath.EvalSymlinks(mount.Source)
	if errors.Is(err, fs.ErrNotExist) {
		return op.fail(backends.Invalid, "There is no file or directory %q on this machine.", mount.Source)
	}
	if err != nil {
		return op.wrap(err, "The source of a mount cannot be looked at.")
	}
	dataDir, err := filepath.EvalSymlinks(b.config.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		dataDir, err = b.config.DataDir, nil
	}
	if err != nil {
		return op.wrap(err, "The data directory cannot be looked at.")
	}
	if within(source, dataDir) || within(dataDir, source) {
		return op.fail(backends.Invalid, "The source %q would open the data directory to the sandbox.", mount.Source)
	}
	return nil
}

// within tells whether path is directory or below it. Both are clean.
func within(path, directory string) bool {
	return path == directory || directory == "/" || strings.HasPrefix(path, directory+"/")
}

// sortedMounts returns the mounts so that one below another comes after it.
func sortedMounts(mounts []backends.Mount) []backends.Mount {
	return slices.SortedFunc(slices.Values(mounts), func(x, y backends.Mount) int {
		return cmp.Compare(x.Target, y.Target)
	})
}

// addMounts binds the sandbox's own directories and what the specification mounts.
func (b *Backend) addMounts(op operation, line *commandLine, folder string, stored record) error {
	own := map[string]string{workspacePath: workspaceDir, homePath: homeDir, tmpPath: tmpDir}
	for path, directory := range own {
		source := filepath.Join(folder, directory)
		if info, err := os.Lstat(source); err != nil || !info.IsDir() {
			failure := op.fail(backends.Failed, "The folder %q of the sandbox is absent or not a folder.", directory)
			failure.Err = err
			return failure
		}
		line.bind("--bind", source, path)
	}
	for _, mount := range sortedMounts(stored.Spec.Mounts) {
		if err := b.checkMount(op, mount); err != nil {
			return err
		}
		if err := checkMountPoint(op, folder, own, mount.Target); err != nil {
			return err
		}
		operation := "--bind"
		if mount.ReadOnly {
			operation = "--ro-bind"
		}
		line.bind(operation, mount.Source, mount.Target)
	}
	return nil
}

// checkMountPoint refuses a mount point that a command replaced by a link: bubblewrap would
// follow it and make directories elsewhere.
func checkMountPoint(op operation, folder string, own map[string]string, target string) (err error) {
	for path, directory := range own {
		if target == path || !within(target, path) {
			continue
		}
		root, err := os.OpenRoot(filepath.Join(folder, directory))
		if err != nil {
			return op.wrap(err, "A folder of the sandbox cannot be opened.")
		}
		defer func() { err = errors.Join(err, root.Close()) }()
		var walked string
		for _, element := range strings.Split(strings.TrimPrefix(target, path+"/"), "/") {
			walked = filepath.Join(walked, element)
			info, err := root.Lstat(walked)
			if errors.Is(err, fs.ErrNotExist) {
				break
			}
			if err != nil {
				return op.wrap(err, "A mount point cannot be looked at.")
			}
			if info.Mode()&fs.ModeSymlink != 0 {
				return op.on("mounts").fail(backends.PathEscapes, "The mount point %q leads over a link inside the sandbox.", target)
			}
		}
	}
	return nil
}
