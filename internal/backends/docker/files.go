package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// largestListing bounds how many bytes are read to list a directory: the engine sends the content
// of everything below it, and running `ls` instead would be more than looking.
const largestListing = 256 << 20

// StatFile describes a file, by the engine's own look at the file system.
func (b *Backend) StatFile(ctx context.Context, name, p string) (backends.FileInfo, error) {
	f, err := b.files(ctx, "describe file", name)
	if err != nil {
		return backends.FileInfo{}, err
	}
	real, stat, found, err := f.resolve(ctx, p, false)
	if err != nil {
		return backends.FileInfo{}, err
	}
	if !found {
		return backends.FileInfo{}, f.missing(p)
	}
	info := backends.FileInfo{Path: p, Size: stat.Size, Mode: stat.Mode, ModTime: stat.Mtime}
	if isLink(stat) {
		// The engine tells where the link ends; what is written in it stands in the archive.
		header, err := f.engine.header(ctx, f.container.ID, real)
		if err != nil {
			return backends.FileInfo{}, f.fail(p, err)
		}
		info.LinkTarget = header.Linkname
	}
	return sized(info), nil
}

// sized sets the size of what is no regular file to one that both the engine's look and its archive
// can tell: the length of a link's text, and 0 for anything else.
func sized(info backends.FileInfo) backends.FileInfo {
	if !info.Mode.IsRegular() {
		info.Size = int64(len(info.LinkTarget))
	}
	return info
}

// OpenFile reads a regular file. A link is followed as long as it stays in the workspace.
func (b *Backend) OpenFile(ctx context.Context, name, p string) (io.ReadCloser, backends.FileInfo, error) {
	f, err := b.files(ctx, "read file", name)
	if err != nil {
		return nil, backends.FileInfo{}, err
	}
	real, stat, found, err := f.resolve(ctx, p, true)
	if err != nil {
		return nil, backends.FileInfo{}, err
	}
	if !found {
		return nil, backends.FileInfo{}, f.missing(p)
	}
	if !stat.Mode.IsRegular() {
		return nil, backends.FileInfo{}, f.irregular(p, stat)
	}
	opened, header, err := f.engine.archive(ctx, f.container.ID, real, wholeArchive)
	if err != nil {
		return nil, backends.FileInfo{}, f.fail(p, err)
	}
	if header.Typeflag != tar.TypeReg {
		return nil, backends.FileInfo{}, f.fail(p, errors.Join(fmt.Errorf("%s was replaced meanwhile", real), opened.Close()))
	}
	info := backends.FileInfo{Path: p, Size: header.Size, Mode: stat.Mode, ModTime: stat.Mtime}
	return opened, info, nil
}

func (f *filesOf) irregular(p string, stat container.PathStat) error {
	what := "It is not a regular file."
	if stat.Mode.IsDir() {
		what = "It is a directory."
	}
	return invalid(f.operation, p, what, "")
}

// ListFiles reads the entries of a directory.
func (b *Backend) ListFiles(ctx context.Context, name, p string) ([]backends.FileInfo, error) {
	f, err := b.files(ctx, "list directory", name)
	if err != nil {
		return nil, err
	}
	real, stat, found, err := f.resolve(ctx, p, true)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, f.missing(p)
	}
	if !stat.Mode.IsDir() {
		return nil, invalid(f.operation, p, "It is not a directory.", "")
	}
	opened, itself, err := f.engine.archive(ctx, f.container.ID, real, largestListing)
	if err != nil {
		return nil, f.fail(p, err)
	}
	defer opened.Close()
	return f.entries(p, opened, itself)
}

// entries picks the direct children from the archive of a directory, which begins with itself.
func (f *filesOf) entries(p string, archive *archivedFile, itself *tar.Header) ([]backends.FileInfo, error) {
	var list []backends.FileInfo
	for header := itself; ; {
		if info, direct := child(p, header); direct {
			list = append(list, info)
		}
		var err error
		header, err = archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && archive.limited.N <= 0 {
			return nil, &backends.Error{
				Kind: backends.Invalid, Backend: backendName, Operation: f.operation, Object: p,
				Detail: fmt.Sprintf("What lies below it is more than %d MiB, which the engine would send to list it.", largestListing>>20),
				Remedy: "List a smaller directory, or list it by a command inside.",
			}
		}
		if err != nil {
			return nil, f.fail(p, fmt.Errorf("read the archive: %w", err))
		}
	}
	slices.SortFunc(list, func(a, b backends.FileInfo) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// child describes an entry that lies directly in the directory p.
func child(p string, header *tar.Header) (backends.FileInfo, bool) {
	// The first component is the directory itself, under its own or, for the root, an empty name.
	relative := strings.Trim(path.Clean("/"+header.Name), "/")
	if p != "/" {
		_, relative, _ = strings.Cut(relative, "/")
	}
	if relative == "" || strings.Contains(relative, "/") {
		return backends.FileInfo{}, false
	}
	info := backends.FileInfo{Path: path.Join(p, relative), Size: header.Size, Mode: header.FileInfo().Mode(), ModTime: header.ModTime.UTC()}
	if header.Typeflag == tar.TypeSymlink {
		info.LinkTarget = header.Linkname
	}
	return sized(info), true
}

// WriteFile sends the file as an archive: the engine puts it in place of what is there. A link at
// the end is replaced, never followed.
func (b *Backend) WriteFile(ctx context.Context, name, p string, content []byte, mode fs.FileMode) error {
	f, err := b.files(ctx, "write file", name)
	if err != nil {
		return err
	}
	if !isSandbox(f.container.Name, f.container.Config.Labels) {
		return notOurs(f.operation, name, "A container")
	}
	real, stat, found, err := f.resolve(ctx, p, false)
	if err != nil {
		return err
	}
	if found && stat.Mode.IsDir() {
		return f.irregular(p, stat)
	}
	to, err := f.engine.userOf(ctx, f.container.ID, f.container.Config.User)
	if err != nil {
		return f.fail(p, err)
	}
	directory, err := f.present(ctx, path.Dir(real))
	if err != nil {
		return f.fail(p, err)
	}
	if err := f.engine.put(ctx, f.container.ID, directory, writing(directory, real, content, mode, to)); err != nil {
		return f.fail(p, err)
	}
	return nil
}

// present returns the nearest directory above that exists.
func (f *filesOf) present(ctx context.Context, directory string) (string, error) {
	for {
		_, _, found, err := f.end(ctx, directory, directory, true, false)
		if err != nil || found || directory == "/" {
			return directory, err
		}
		directory = path.Dir(directory)
	}
}

// writing lists what is sent for a file: the parents that are missing below directory, and itself.
func writing(directory, real string, content []byte, mode fs.FileMode, to owner) []tarEntry {
	relative := strings.TrimPrefix(strings.TrimPrefix(real, directory), "/")
	parts := strings.Split(relative, "/")
	now := time.Now()
	var entries []tarEntry
	for i := range parts[:len(parts)-1] {
		entries = append(entries, tarEntry{header: &tar.Header{
			Typeflag: tar.TypeDir, Name: path.Join(parts[:i+1]...) + "/", Mode: 0o755, ModTime: now, Uid: to.uid, Gid: to.gid,
		}})
	}
	return append(entries, tarEntry{
		header:  &tar.Header{Typeflag: tar.TypeReg, Name: relative, Mode: tarMode(mode), ModTime: now, Uid: to.uid, Gid: to.gid},
		content: content,
	})
}

// tarMode returns the permission bits and the three special ones as an archive has them.
func tarMode(mode fs.FileMode) int64 {
	bits := int64(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		bits |= 0o4000
	}
	if mode&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	if mode&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}

// RemoveFile runs `rm` inside, since the engine cannot remove files. A stopped sandbox is started
// for it and stopped again.
func (b *Backend) RemoveFile(ctx context.Context, name, p string) (err error) {
	const operation = "remove file"
	e, c, unlock, err := b.forChange(ctx, operation, name)
	if err != nil {
		return err
	}
	defer unlock()
	f := &filesOf{engine: e, container: c, operation: operation}
	real, stat, found, err := f.resolve(ctx, p, false)
	if backends.KindOf(err) == backends.FileNotFound && err != nil {
		return nil
	}
	if err != nil || !found {
		return err
	}
	if stat.Mode.IsDir() {
		return f.irregular(p, stat)
	}
	remover, err := f.mayRemoveIn(ctx, path.Dir(real))
	if err != nil {
		return f.fail(p, err)
	}
	restore, err := e.wake(ctx, c)
	if err != nil {
		return e.blame(operation, name, err)
	}
	defer func() {
		if back := restore(); back != nil && err == nil {
			err = e.fail(operation, name, back)
		}
	}()
	command := backends.Command{Argv: []string{"rm", "-f", "--", real}, WorkingDirectory: "/"}
	_, result, err := e.exec(ctx, c.ID, command, remover, "rm")
	if err != nil {
		return e.execFailure(operation, name, err)
	}
	if err := notStarted(operation, command, result); err != nil {
		return err
	}
	if result.ExitCode != 0 {
		return &backends.Error{
			Kind: backends.CommandFailed, Backend: backendName, Operation: operation, Object: p,
			Detail: fmt.Sprintf("`rm` ended with status %d.", result.ExitCode), Err: cut(errors.New(strings.TrimSpace(string(result.Stderr)))),
		}
	}
	return nil
}

// mayRemoveIn is the uid that removes files of a directory: its owner. In a sandbox that has a user
// of its own, root could not do so for others, see [blueprint.hostConfig].
func (f *filesOf) mayRemoveIn(ctx context.Context, directory string) (string, error) {
	if user, _, _ := strings.Cut(f.container.Config.User, ":"); user == "" || user == "0" || user == "root" {
		return "0", nil
	}
	header, err := f.engine.header(ctx, f.container.ID, directory)
	if err != nil {
		return "", err
	}
	return strconv.Itoa(header.Uid), nil
}

// wake makes a sandbox run and returns what puts it back as it was found.
func (e *engine) wake(ctx context.Context, c *container.InspectResponse) (restore func() error, err error) {
	back := func(step func(context.Context) error) func() error {
		return func() error {
			ctx, cancel := detached(ctx)
			defer cancel()
			return step(ctx)
		}
	}
	switch {
	case c.State.Paused:
		return back(func(ctx context.Context) error { return e.ContainerPause(ctx, c.ID) }), e.ContainerUnpause(ctx, c.ID)
	case !c.State.Running:
		return back(func(ctx context.Context) error { return e.ContainerStop(ctx, c.ID, container.StopOptions{}) }),
			e.ContainerStart(ctx, c.ID, container.StartOptions{})
	}
	return func() error { return nil }, nil
}
