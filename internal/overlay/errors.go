package overlay

import (
	"errors"
	"fmt"
)

// What an [Error] is about, for errors.Is.
var (
	// ErrTarget: the path inside the sandbox cannot be used.
	ErrTarget = errors.New("the target path cannot be used")
	// ErrConflict: two targets are the same file, or one is a file where the other needs a directory.
	ErrConflict = errors.New("two targets are in each other's way")
	// ErrNotRegular: the source is, or holds, something other than files and directories.
	ErrNotRegular = errors.New("not a regular file")
	// ErrUnreadable: the source is missing or cannot be read.
	ErrUnreadable = errors.New("the source cannot be read")
	// ErrMode: the mode is not allowed here.
	ErrMode = errors.New("the mode cannot be used")
	// ErrTooMany: there are more than [MaxFiles] files.
	ErrTooMany = errors.New("too many files")
	// ErrTooLarge: the files are larger than what the caller allows.
	ErrTooLarge = errors.New("too large")
	// ErrChanged: a file is not the one that was collected any more.
	ErrChanged = errors.New("the file has changed")
)

// Error is what is wrong with one of the specifications.
type Error struct {
	// Key is the target path as it was given, by which the specification is found again.
	Key string
	// Path is the file or target concerned.
	Path string
	// Detail says what is wrong, Remedy what to do, each as one or more sentences.
	Detail string
	Remedy string
	// Kind is one of the errors above.
	Kind error
	// Err is the cause. Optional.
	Err error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%q: %s", e.Path, e.Detail)
	if e.Remedy != "" {
		text += " " + e.Remedy
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}
