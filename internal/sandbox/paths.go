package sandbox

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// ErrEscapes is wrapped by errors about paths that lead out of the workspace.
var ErrEscapes = errors.New("the path leads out of the workspace")

// maxPathLength is PATH_MAX of Linux, the terminating NUL not counted.
const maxPathLength = 4095

// ResolvePath returns the absolute, clean path inside a sandbox that a user's path means. A
// relative path is anchored at the workspace and may not leave it; an absolute one is taken as
// it is. Links are not looked at here: the backend that opens the file refuses those that lead out.
func ResolvePath(workspace, userPath string) (string, error) {
	switch {
	case userPath == "":
		return "", errors.New("the path is empty")
	case strings.ContainsRune(userPath, 0):
		return "", errors.New("the path holds a NUL byte")
	case !path.IsAbs(workspace) || strings.ContainsRune(workspace, 0):
		return "", fmt.Errorf("the workspace %q is not an absolute path", workspace)
	}
	resolved := path.Clean(userPath)
	if !path.IsAbs(userPath) {
		// Upwards is refused wherever the workspace is, also when the path comes back into it.
		if resolved == ".." || strings.HasPrefix(resolved, "../") {
			return "", fmt.Errorf("%q: %w %s", userPath, ErrEscapes, workspace)
		}
		resolved = path.Join(workspace, userPath)
	}
	if len(resolved) > maxPathLength {
		return "", fmt.Errorf("the path is longer than %d bytes", maxPathLength)
	}
	return resolved, nil
}

// Within tells whether the clean absolute path target is dir or lies below it.
func Within(dir, target string) bool {
	dir = path.Clean(dir)
	return target == dir || dir == "/" || strings.HasPrefix(target, dir+"/")
}

// CheckFilePath is the part of [ResolvePath] that needs no workspace: what can be said about a
// file's path before anything is known of the sandbox.
func CheckFilePath(userPath string) error {
	resolved, err := ResolvePath("/workspace", userPath)
	if err != nil {
		return err
	}
	last := userPath[strings.LastIndex(userPath, "/")+1:]
	if last == "" || last == "." || last == ".." || resolved == "/workspace" {
		return fmt.Errorf("%q names a directory, not a file", userPath)
	}
	return nil
}
