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
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// restore fills the folder of a new sandbox from a snapshot and returns the snapshot's root
// file system. The folder is still in staging, so what fails its checksum never becomes visible.
func (b *Backend) restore(ctx context.Context, op operation, folder, id string) (string, error) {
	op = op.on("source.snapshot_id")
	if _, err := b.begin(op.verb, op.object, id); err != nil {
		return "", err
	}
	saved, err := b.loadSnapshot(op, id)
	if err != nil {
		return "", err
	}
	err = b.do(ctx, "extract archive", folder, func() error {
		return readArchive(ctx, b.archivePath(id), saved.SHA256, folder)
	})
	return saved.Rootfs, op.wrap(err, "The snapshot could not be restored.")
}

func readArchive(ctx context.Context, source, sum, folder string) (err error) {
	file, err := os.Open(source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return err
	}
	if hex.EncodeToString(hash.Sum(nil)) != sum {
		return errors.New("the archive does not have the checksum that was recorded")
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	decompressor, err := zstd.NewReader(file)
	if err != nil {
		return err
	}
	defer decompressor.Close()
	return extractTree(ctx, decompressor, folder)
}

// clone fills the folder of a new sandbox from another one, which may be running. Secrets and
// environment are not taken over. The caller holds the locks of both.
func (b *Backend) clone(ctx context.Context, op operation, folder, name string) (string, error) {
	op = op.on("source.clone_of")
	source, err := b.load(op, name)
	if err != nil {
		return "", err
	}
	if err := b.runnableBy(op, source); err != nil {
		return "", err
	}
	err = b.do(ctx, "copy tree", folder, func() error {
		reader, writer := io.Pipe()
		written := make(chan error, 1)
		go func() {
			err := writeTree(ctx, writer, b.sandboxDir(name))
			_ = writer.CloseWithError(err) // documented always to return nil
			written <- err
		}()
		err := extractTree(ctx, reader, folder)
		_ = reader.CloseWithError(errors.New("the copy failed")) // as above
		return errors.Join(err, <-written)
	})
	return source.rootfs(), op.wrap(err, "The sandbox could not be cloned.")
}

// extractTree puts a tar stream into a folder, through [os.Root], so that nothing in it can lead
// outside.
func extractTree(ctx context.Context, from io.Reader, folder string) (err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	var directories []*tar.Header
	for reader := tar.NewReader(from); ; {
		head, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := extract(root, head, reader); err != nil {
			return fmt.Errorf("%s: %w", head.Name, err)
		}
		if head.Typeflag == tar.TypeDir {
			directories = append(directories, head)
		}
	}
	// Last and from the inside out: a directory may be read-only, and filling it changes its time.
	for _, head := range slices.Backward(directories) {
		name := strings.TrimSuffix(head.Name, "/")
		if err := root.Chmod(name, head.FileInfo().Mode().Perm()); err != nil {
			return err
		}
		if err := root.Chtimes(name, time.Time{}, head.ModTime); err != nil {
			return err
		}
	}
	return nil
}

func extract(root *os.Root, head *tar.Header, content io.Reader) error {
	name := path.Clean(head.Name)
	if first, _, _ := strings.Cut(name, "/"); !slices.Contains(archivedDirs, first) || !filepath.IsLocal(name) {
		return errors.New("the entry does not belong into a sandbox")
	}
	switch head.Typeflag {
	case tar.TypeDir:
		return root.Mkdir(name, directoryMode)
	case tar.TypeSymlink:
		return root.Symlink(head.Linkname, name)
	case tar.TypeLink:
		return root.Link(head.Linkname, name)
	case tar.TypeReg:
		return extractFile(root, name, head, content)
	}
	return fmt.Errorf("the entry has the unexpected type %q", head.Typeflag)
}

func extractFile(root *os.Root, name string, head *tar.Header, content io.Reader) (err error) {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, content); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(file.Chmod(fs.FileMode(head.Mode).Perm()), file.Close()); err != nil {
		return err
	}
	return root.Chtimes(name, time.Time{}, head.ModTime)
}
