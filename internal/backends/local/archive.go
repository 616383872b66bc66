//go:build linux

package local

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/klauspost/compress/zstd"
)

// archivedDirs are the folders of a sandbox that snapshots and clones take over.
var archivedDirs = []string{workspaceDir, homeDir}

// writeArchive saves a sandbox's folder as tar + zstd and returns the SHA-256 and the size of the
// finished file.
func writeArchive(ctx context.Context, target, folder string) (sum string, size int64, err error) {
	file, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	hash := sha256.New()
	counted := &countingWriter{to: io.MultiWriter(file, hash)}
	compressor, err := zstd.NewWriter(counted)
	if err != nil {
		return "", 0, err
	}
	if err := errors.Join(writeTree(ctx, compressor, folder), compressor.Close()); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(hash.Sum(nil)), counted.size, file.Sync()
}

type countingWriter struct {
	to   io.Writer
	size int64
}

func (w *countingWriter) Write(content []byte) (int, error) {
	written, err := w.to.Write(content)
	w.size += int64(written)
	return written, err
}

// writeTree writes the archived folders as a tar stream. Devices, sockets and pipes are left out.
// The tree may change meanwhile: what vanishes is left out, too.
func writeTree(ctx context.Context, to io.Writer, folder string) (err error) {
	writer := &treeWriter{tar: tar.NewWriter(to), linked: map[inode]string{}}
	for _, directory := range archivedDirs {
		root, err := os.OpenRoot(filepath.Join(folder, directory))
		if err != nil {
			return err
		}
		err = fs.WalkDir(root.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && name != "." {
				return nil
			}
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			err = writer.add(root, name, path.Join(directory, name))
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
		if err := errors.Join(err, root.Close()); err != nil {
			return err
		}
	}
	return writer.tar.Close()
}

type inode struct{ device, number uint64 }

type treeWriter struct {
	tar    *tar.Writer
	linked map[inode]string // first name of each file that has several
}

func (w *treeWriter) add(root *os.Root, name, stored string) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		return w.tar.WriteHeader(header(info, stored+"/", tar.TypeDir, ""))
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		return w.tar.WriteHeader(header(info, stored, tar.TypeSymlink, target))
	case info.Mode().IsRegular():
		return w.addFile(root, name, stored)
	}
	return nil
}

func (w *treeWriter) addFile(root *os.Root, name, stored string) (err error) {
	file, info, err := openRegular(root, name)
	if errors.Is(err, syscall.ELOOP) || file == nil && err == nil { // it was replaced since it was looked at
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if status, ok := info.Sys().(*syscall.Stat_t); ok && status.Nlink > 1 {
		id := inode{status.Dev, status.Ino}
		if first, known := w.linked[id]; known {
			return w.tar.WriteHeader(header(info, stored, tar.TypeLink, first))
		}
		w.linked[id] = stored
	}
	head := header(info, stored, tar.TypeReg, "")
	head.Size = info.Size()
	if err := w.tar.WriteHeader(head); err != nil {
		return err
	}
	copied, err := io.Copy(w.tar, io.LimitReader(file, head.Size))
	if err == nil && copied < head.Size {
		return fmt.Errorf("%s became shorter while it was saved; stop the sandbox first", stored)
	}
	return err
}

// header keeps permissions and times. setuid, setgid and owners are dropped on purpose.
func header(info fs.FileInfo, name string, kind byte, target string) *tar.Header {
	return &tar.Header{
		Typeflag: kind, Name: name, Linkname: target, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime(), Format: tar.FormatPAX,
	}
}
