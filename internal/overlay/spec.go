package overlay

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxFiles is how many files a set may have.
const MaxFiles = 10_000

// maxPathLength is PATH_MAX of Linux, the terminating NUL not counted.
const maxPathLength = 4095

// Spec says what goes to one target path.
type Spec struct {
	// Source is a file or directory of this machine; a relative path starts at the working directory.
	// When it is empty, Content is what the file holds.
	Source  string
	Content []byte
	// Mode holds the permission bits of a single file. 0 means 0755 for an executable source and 0644
	// for anything else.
	Mode fs.FileMode
}

// CheckTarget judges a target path: relative to the workspace or absolute, with slashes, and never
// upwards. directory tells whether it is to hold the files of a directory, which the workspace
// itself (".") can.
func CheckTarget(target string, directory bool) error {
	_, err := cleanTarget(target, directory)
	return err
}

func cleanTarget(target string, directory bool) (string, error) {
	fail := func(format string, arguments ...any) (string, error) {
		return "", fmt.Errorf(format, arguments...)
	}
	switch {
	case target == "":
		return fail("it is empty")
	case strings.ContainsRune(target, 0):
		return fail("it holds a NUL byte")
	case !utf8.ValidString(target):
		return fail("it is not UTF-8")
	case slices.Contains(strings.Split(target, "/"), ".."):
		return fail("it leads upwards by \"..\"")
	}
	cleaned := path.Clean(target)
	last := target[strings.LastIndex(target, "/")+1:]
	switch {
	case !directory && (last == "" || last == "."):
		return fail("it names a directory, not a file")
	case len(cleaned) > maxPathLength:
		return fail("it is longer than %d bytes", maxPathLength)
	}
	return cleaned, nil
}
