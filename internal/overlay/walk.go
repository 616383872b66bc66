package overlay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"unicode/utf8"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// IgnoreFile in a directory lists what of it is left out, in the syntax of .dockerignore. It is not
// collected itself.
const IgnoreFile = ".sandlotignore"

// maxIgnoreFile bounds the ignore file, in bytes.
const maxIgnoreFile = 1 << 20

// inside is a file of a directory. It is reached through an [os.Root], so that no link that is
// planted meanwhile leads out of it.
type inside struct {
	dir, file string
}

func (i inside) name() string { return filepath.Join(i.dir, filepath.FromSlash(i.file)) }

func (i inside) open() (io.ReadCloser, error) {
	root, err := os.OpenRoot(i.dir)
	if err != nil {
		return nil, err
	}
	file, err := openRegular(root, i.file)
	return file, errors.Join(err, root.Close())
}

// openRegular opens a file without following a link in its place, or waiting for a pipe there.
func openRegular(root *os.Root, name string) (*os.File, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, ErrNotRegular)
	}
	return root.Open(name)
}

func notRegular(key, name string, mode fs.FileMode) error {
	what := "something that is no file"
	switch mode.Type() {
	case fs.ModeSymlink:
		what = "a symbolic link"
	case fs.ModeNamedPipe:
		what = "a named pipe"
	case fs.ModeSocket:
		what = "a socket"
	case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
		what = "a device"
	}
	return &Error{
		Key: key, Path: name, Kind: ErrNotRegular, Detail: fmt.Sprintf("It is %s. Only regular files can be copied.", what),
		Remedy: fmt.Sprintf("Replace it by a file, or leave it out by %s.", IgnoreFile),
	}
}

// walk notes the files of a directory that its ignore file does not leave out.
func (c *collector) walk(ctx context.Context, key, dir string) (err error) {
	target, err := cleanTarget(key, true)
	if err != nil {
		return &Error{Key: key, Path: key, Kind: ErrTarget, Detail: "The target path cannot be used: " + err.Error() + "."}
	}
	unreadable := func(name string, err error) error {
		return &Error{Key: key, Path: filepath.Join(dir, filepath.FromSlash(name)), Kind: ErrUnreadable, Detail: "It cannot be read.", Err: err}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return unreadable(".", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	ignored, err := readIgnore(root)
	if err != nil {
		return unreadable(IgnoreFile, err)
	}
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return unreadable(name, err)
		}
		if name == "." || name == IgnoreFile {
			return nil
		}
		leftOut, err := ignored.MatchesOrParentMatches(name)
		if err != nil {
			return unreadable(IgnoreFile, err)
		}
		switch {
		case leftOut && entry.IsDir() && !ignored.Exclusions():
			return fs.SkipDir
		case leftOut || entry.IsDir():
			return nil
		}
		return c.note(key, path.Join(target, name), inside{dir: dir, file: name}, entry)
	})
}

// note adds a file of a directory.
func (c *collector) note(key, target string, from inside, entry fs.DirEntry) error {
	info, err := entry.Info()
	switch {
	case err != nil:
		return &Error{Key: key, Path: from.name(), Kind: ErrUnreadable, Detail: "It cannot be looked at.", Err: err}
	case !info.Mode().IsRegular():
		return notRegular(key, from.name(), info.Mode())
	case !utf8.ValidString(from.file):
		return &Error{Key: key, Path: from.name(), Kind: ErrTarget, Detail: "Its name is not UTF-8."}
	}
	return c.add(key, target, normalized(info.Mode()), info.Size(), from)
}

// readIgnore reads the ignore file of a directory; without one nothing is left out.
func readIgnore(root *os.Root) (*patternmatcher.PatternMatcher, error) {
	file, err := openRegular(root, IgnoreFile)
	if errors.Is(err, fs.ErrNotExist) {
		return patternmatcher.New(nil)
	}
	if err != nil {
		return nil, err
	}
	patterns, err := ignorefile.ReadAll(io.LimitReader(file, maxIgnoreFile))
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return patternmatcher.New(patterns)
}
