package vercel

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// fileCall is one call about a file of a running sandbox.
type fileCall struct {
	operation, name, path string
	client                *api.Client
	session               api.Session
	// base is what the path must stay below: the workspace, or the root for a path outside.
	base string
	// directory and leaf are the path in two parts; leaf is "." where the path is its own directory.
	directory, leaf string
}

func (b *Backend) file(ctx context.Context, operation, name, file string) (fileCall, error) {
	f := fileCall{operation: operation, name: name, path: file}
	if !path.IsAbs(file) || path.Clean(file) != file || strings.ContainsRune(file, 0) {
		return f, failure(backends.Invalid, operation, file, "A path is absolute, without dots and double slashes.")
	}
	var err error
	if f.client, f.session, err = b.running(ctx, operation, name); err != nil {
		return f, err
	}
	workspace := f.session.Cwd
	f.base, f.directory, f.leaf = "/", path.Dir(file), path.Base(file)
	switch {
	case file == workspace || file == "/":
		f.directory, f.leaf = file, "."
	case strings.HasPrefix(file, strings.TrimSuffix(workspace, "/")+"/"):
		f.base = workspace
	}
	return f, nil
}

const statScript = reading + `
[ -e "$file" ] || [ -L "$file" ] || exit 10
stat -c '%f %s %Y' -- "$file" || exit 13
if [ -L "$file" ]; then readlink -- "$file" || exit 13; fi
echo x`

// StatFile implements [backends.Files].
func (b *Backend) StatFile(ctx context.Context, name, file string) (backends.FileInfo, error) {
	f, err := b.file(ctx, "describe file", name, file)
	if err != nil {
		return backends.FileInfo{}, err
	}
	text, err := f.run(ctx, statScript, f.base, f.directory, f.leaf)
	if err != nil {
		return backends.FileInfo{}, f.absentParent(err)
	}
	line, rest, _ := strings.Cut(text, "\n")
	info, err := f.described(file, line)
	if err != nil {
		return info, err
	}
	target, whole := strings.CutSuffix(rest, "x\n")
	if !whole {
		return info, f.garbled()
	}
	if info.Mode.Type() == fs.ModeSymlink {
		info.LinkTarget = strings.TrimSuffix(target, "\n")
	}
	return info, nil
}

// absentParent: below something that is no directory there is no file.
func (f fileCall) absentParent(err error) error {
	if !errors.Is(err, backends.Invalid) {
		return err
	}
	return failure(backends.FileNotFound, f.operation, f.path, "It does not exist.")
}

const openScript = reading + `
[ -e "$file" ] || exit 10
if [ -L "$file" ]; then
	file=$(readlink -f -- "$file" && echo x) || exit 10
	strip "$file"; file=$stripped; within "$file"
fi
[ -d "$file" ] && exit 14
[ -f "$file" ] || exit 12
stat -c '%f %s %Y' -- "$file" || exit 13
printf '%sx' "$file"`

// OpenFile implements [backends.Files]. A link is followed as long as it stays below the workspace.
func (b *Backend) OpenFile(ctx context.Context, name, file string) (io.ReadCloser, backends.FileInfo, error) {
	f, err := b.file(ctx, "read file", name, file)
	if err != nil {
		return nil, backends.FileInfo{}, err
	}
	text, err := f.run(ctx, openScript, f.base, f.directory, f.leaf)
	if err != nil {
		return nil, backends.FileInfo{}, err
	}
	line, rest, _ := strings.Cut(text, "\n")
	info, err := f.described(file, line)
	real, whole := strings.CutSuffix(rest, "x")
	if err == nil && !whole {
		err = f.garbled()
	}
	if err != nil {
		return nil, info, err
	}
	body, err := f.client.ReadFile(ctx, f.session.ID, real)
	if err != nil {
		return nil, info, refusedUse(inSession(f.operation, name, err))
	}
	return body, info, nil
}

const prepareScript = writing + `
[ "$3" != . ] || exit 14
if [ -n "$lacking" ]; then
	mkdir -p -- "$2" || exit 13
	real=$(cd -P -- "$2" && pwd -P && echo x) || exit 13
	strip "$real"; real=$stripped; within "$real"; file=${real%/}/$3
fi
[ -d "$file" ] && [ ! -L "$file" ] && exit 14
printf '%sx' "$real"`

// placeScript gives a file its mode and its name. A link of that name is replaced, not followed.
const placeScript = `LC_ALL=C; export LC_ALL
undo() { rm -f -- "$1"; exit "$2"; }
chmod "$3" "$1" || undo "$1" 13
if [ -L "$2" ]; then rm -f -- "$2" || undo "$1" 13; fi
[ ! -d "$2" ] || undo "$1" 14
mv -f -- "$1" "$2" || undo "$1" 13`

// WriteFile implements [backends.Files]. The file is written under another name first, so that it is
// replaced in one step.
func (b *Backend) WriteFile(ctx context.Context, name, file string, content []byte, mode fs.FileMode) error {
	f, err := b.file(ctx, "write file", name, file)
	if err != nil {
		return err
	}
	text, err := f.run(ctx, prepareScript, f.base, f.directory, f.leaf)
	if err != nil {
		return err
	}
	directory, whole := strings.CutSuffix(text, "x")
	if !whole {
		return f.garbled()
	}
	temporary := path.Join(directory, temporaryName())
	err = f.client.WriteFiles(ctx, f.session.ID, api.File{Path: temporary, Content: content, Mode: mode.Perm()})
	if err != nil {
		return errors.Join(refusedUse(inSession(f.operation, name, err)), f.sweep(ctx, temporary))
	}
	if _, err = f.run(ctx, placeScript, temporary, path.Join(directory, f.leaf), octal(mode)); err != nil {
		return errors.Join(err, f.sweep(ctx, temporary))
	}
	return nil
}

// sweep removes what a failed write left, also when ctx has ended.
func (f fileCall) sweep(ctx context.Context, temporary string) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	_, err := output(ctx, f.client, f.session.ID, api.CommandRequest{Command: "rm", Args: []string{"-f", "--", temporary}, Cwd: "/"})
	return ignoring(err, backends.NotRunning, backends.NotFound)
}

const removeScript = reading + `
[ "$3" != . ] || exit 14
[ -d "$file" ] && [ ! -L "$file" ] && exit 14
rm -f -- "$file" || exit 13`

// RemoveFile implements [backends.Files].
func (b *Backend) RemoveFile(ctx context.Context, name, file string) error {
	f, err := b.file(ctx, "remove file", name, file)
	if err != nil {
		return err
	}
	_, err = f.run(ctx, removeScript, f.base, f.directory, f.leaf)
	return ignoring(err, backends.FileNotFound)
}
