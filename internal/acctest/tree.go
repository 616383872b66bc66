package acctest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Tree is all that can be seen of a directory tree: content, mode, owner, inode, and the times of
// the last change of content and of metadata. Reading a file alters none of it.
type Tree map[string]string

// ReadTree takes a snapshot of a directory tree. A tree that does not exist is empty.
func ReadTree(t testing.TB, dir string) Tree {
	t.Helper()
	tree := Tree{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err != nil {
			return err
		}
		line, err := describeFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		tree[relative] = line
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func describeFile(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", errors.New("no Unix file information")
	}
	content := ""
	switch {
	case info.Mode().IsRegular():
		raw, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		sum := sha256.Sum256(raw)
		content = hex.EncodeToString(sum[:])
	case info.Mode()&fs.ModeSymlink != 0:
		if content, err = os.Readlink(path); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s uid %d gid %d inode %d links %d size %d mtime %s ctime %s %s",
		info.Mode(), stat.Uid, stat.Gid, stat.Ino, stat.Nlink, info.Size(),
		info.ModTime().UTC().Format(time.RFC3339Nano), time.Unix(stat.Ctim.Unix()).UTC().Format(time.RFC3339Nano), content), nil
}

// Diff lists what differs in now, one line for each file; empty when nothing does.
func (before Tree) Diff(now Tree) []string {
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range now {
		names[name] = true
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := before[name], now[name]
		switch {
		case was == is:
		case was == "":
			lines = append(lines, "new "+name+": "+is)
		case is == "":
			lines = append(lines, "gone "+name+": "+was)
		default:
			lines = append(lines, "changed "+name+":\n    "+was+"\n    "+is)
		}
	}
	return lines
}

// Untouched runs work and fails the test when any file of the tree was made, changed, removed or
// replaced meanwhile.
func Untouched(t testing.TB, dir string, work func()) {
	t.Helper()
	before := ReadTree(t, dir)
	work()
	if lines := before.Diff(ReadTree(t, dir)); len(lines) > 0 {
		t.Errorf("%s was touched:\n  %s", dir, strings.Join(lines, "\n  "))
	}
}
