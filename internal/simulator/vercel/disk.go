package vercel

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A disk is a folder with these parts, which sessions see at other places.
const (
	diskWork = "work" // the working directory
	diskHome = "home"
	diskTmp  = "tmp"
)

var diskParts = []string{diskWork, diskHome, diskTmp}

func (s *Simulator) sessionDisk(id string) string {
	return filepath.Join(s.dir, "disks", "sessions", id)
}

func (s *Simulator) snapshotDisk(id string) string {
	return filepath.Join(s.dir, "disks", "snapshots", id)
}

// runFolder is where the pipes of a session's commands lie.
func (s *Simulator) runFolder(id string) string { return filepath.Join(s.dir, "run", id) }

func (s *Simulator) makeFolders() error {
	var errs []error
	for _, name := range []string{"disks/sessions", "disks/snapshots", "run", "executor", "none"} {
		errs = append(errs, os.MkdirAll(filepath.Join(s.dir, name), 0o700))
	}
	return errors.Join(errs...)
}

// fillDisk makes the disk of a session.
func (s *Simulator) fillDisk(sb *sandbox, sn *session) error {
	disk := s.sessionDisk(sn.ID)
	if sn.SourceSnapshot != "" {
		err := copyDisk(s.snapshotDisk(sn.SourceSnapshot), disk)
		if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			return errors.Join(snapshotGone(sn.SourceSnapshot), removeDisk(disk))
		}
		return err
	}
	for _, part := range diskParts {
		if err := os.MkdirAll(filepath.Join(disk, part), 0o755); err != nil { //nolint:gosec // as the service has it
			return err
		}
	}
	if sn.sourceURL == "" {
		return nil
	}
	if err := unpack(s.config.Sources[sn.sourceURL], filepath.Join(disk, diskWork)); err != nil {
		return fail(400, codeBadRequest, "The source of sandbox %q cannot be unpacked: %v", sb.Name, err)
	}
	return nil
}

// knowsSource refuses a URL that the simulator would have to fetch.
func (s *Simulator) knowsSource(url string) error {
	if _, known := s.config.Sources[url]; url != "" && !known {
		return unsupported("it fetches nothing, and no archive stands for the source %q", url)
	}
	return nil
}

// keepDisk turns the disk of a session into that of a snapshot and returns its size in bytes.
func (s *Simulator) keepDisk(session, snapshot string) (size int64, err error) {
	to := s.snapshotDisk(snapshot)
	if err := os.Rename(s.sessionDisk(session), to); err != nil {
		return 0, err
	}
	err = filepath.WalkDir(to, func(_ string, found fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) { // a command closed a folder to us; its files do not count
			return nil
		}
		if err != nil || !found.Type().IsRegular() {
			return err
		}
		info, err := found.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// removeDisk removes a folder with all that commands may have closed.
func removeDisk(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(path, func(found string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(found, 0o700) //nolint:gosec // nothing runs in the folder any more
		}
		return nil
	})
	return os.RemoveAll(path)
}

// copyDisk copies a tree with modes and times, and links as links. Sockets, pipes and devices are left
// out. Nothing runs in either tree.
func copyDisk(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return copyFolder(from, to, info)
	case mode.IsRegular():
		return copyFile(from, to, info)
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	return nil
}

// opened makes a path readable for us, its owner, and returns what undoes that.
func opened(path string, mode, needed fs.FileMode) (func() error, error) {
	if mode&needed == needed {
		return func() error { return nil }, nil
	}
	return func() error { return os.Chmod(path, mode.Perm()) }, os.Chmod(path, mode.Perm()|needed)
}

func copyFolder(from, to string, info fs.FileInfo) error {
	closeAgain, err := opened(from, info.Mode(), 0o500)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, entry := range entries {
		if err := copyDisk(filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())); err != nil {
			return err
		}
	}
	return errors.Join(closeAgain(), os.Chmod(to, info.Mode().Perm()|info.Mode()&fs.ModeSticky), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

func copyFile(from, to string, info fs.FileInfo) (err error) {
	closeAgain, err := opened(from, info.Mode(), 0o400)
	if err != nil {
		return err
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close(), closeAgain(), os.Chmod(to, info.Mode().Perm()), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// unpack puts the files of a .tar.gz into a folder. [os.Root] keeps them below it.
func unpack(archive, folder string) (err error) {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for reader := tar.NewReader(unzipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.Clean(strings.TrimPrefix(header.Name, "/"))
		switch header.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o755)
		case tar.TypeReg:
			err = unpackFile(root, name, header.FileInfo().Mode().Perm(), reader)
		case tar.TypeSymlink:
			err = root.Symlink(header.Linkname, name)
		case tar.TypeXGlobalHeader:
		default:
			err = fmt.Errorf("%s: its type %q is not supported", header.Name, header.Typeflag)
		}
		if err != nil {
			return err
		}
	}
}

func unpackFile(root *os.Root, name string, mode fs.FileMode, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close(), root.Chmod(name, mode))
}
