package backends

import (
	"errors"
	"fmt"
	"strings"
)

// ErrorKind classifies a failure. The provider maps each kind to one diagnostic with a
// stable code, so callers can act on the kind without reading text.
type ErrorKind string

// The kinds of failure that a backend reports.
const (
	// NotInstalled: the program that the backend drives is absent.
	NotInstalled ErrorKind = "not_installed"
	// NotRunning: the daemon, or the sandbox an operation needs running, does not run.
	NotRunning ErrorKind = "not_running"
	// HostSleeping: the cloud host that everything lives on is shut down, and nothing there was looked at.
	HostSleeping ErrorKind = "host_sleeping"
	// Unsupported: the backend cannot do this; its capability table says so.
	Unsupported ErrorKind = "unsupported"
	// NotFound: a successful answer says that the object does not exist. Nothing else is absence.
	NotFound ErrorKind = "not_found"
	// FileNotFound: the sandbox is there, the file inside it is not.
	FileNotFound ErrorKind = "file_not_found"
	// AlreadyExists: the name is taken by an object of another kind or type.
	AlreadyExists ErrorKind = "already_exists"
	// NotOurs: the object carries no mark of this owner.
	NotOurs ErrorKind = "not_ours"
	// OtherBinding: the object lives in another engine, account or data directory.
	OtherBinding ErrorKind = "other_binding"
	// Conflict: the object changed or is in use, so that the operation is not safe now.
	Conflict ErrorKind = "conflict"
	// Expired: the object, or what it would be restored from, has expired.
	Expired ErrorKind = "expired"
	// Unauthorized: the backend refused the credentials or the user's permissions.
	Unauthorized ErrorKind = "unauthorized"
	// RateLimited: the backend asked us to slow down for longer than we may wait.
	RateLimited ErrorKind = "rate_limited"
	// NoCapacity: the backend has no room, memory, disk or quota left.
	NoCapacity ErrorKind = "no_capacity"
	// TimedOut: a deadline passed. What was started may still go on.
	TimedOut ErrorKind = "timed_out"
	// CommandFailed: a command inside the sandbox exited with a status other than 0.
	CommandFailed ErrorKind = "command_failed"
	// Invalid: the backend rejects a value that we could not check beforehand.
	Invalid ErrorKind = "invalid"
	// PathEscapes: a path inside the sandbox leads out of where it may go, by `..` or by a link.
	PathEscapes ErrorKind = "path_escapes"
	// Failed: anything else that the backend reports.
	Failed ErrorKind = "failed"
)

// Error makes a kind usable as the target of [errors.Is]: errors.Is(err, backends.NotFound).
func (k ErrorKind) Error() string { return strings.ReplaceAll(string(k), "_", " ") }

// Error is the one error type that backends return. All texts are free of secrets: they
// are shown to the user and end up in CI logs.
type Error struct {
	Kind    ErrorKind
	Backend string
	// Operation is a verb phrase in plain words: "create sandbox", "read file".
	Operation string
	// Object is the sandbox, snapshot or path concerned.
	Object string
	// Detail says what happened, as one or more sentences.
	Detail string
	// Remedy says what the user can do, as one or more sentences. Optional.
	Remedy string
	// Repeatable is true when nothing was begun, or only what can be done twice: the operation can be
	// repeated once the reason is gone.
	Repeatable bool
	// Left names what of ours could not be removed after a failed step. Optional.
	Left []string
	// Err is the cause, already redacted and cut. Optional.
	Err error
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Backend, e.Operation)
	if e.Object != "" {
		fmt.Fprintf(&b, " %q", e.Object)
	}
	fmt.Fprintf(&b, ": %s", e.Kind.Error())
	if e.Detail != "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
	}
	if len(e.Left) > 0 {
		fmt.Fprintf(&b, " (left behind: %s)", strings.Join(e.Left, ", "))
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is this error's kind.
func (e *Error) Is(target error) bool {
	kind, ok := target.(ErrorKind)
	return ok && kind == e.Kind
}

// Repeatable reports whether the first [Error] in err's chain says so of itself.
func Repeatable(err error) bool {
	var typed *Error
	return errors.As(err, &typed) && typed.Repeatable
}

// KindOf returns the kind of the first [Error] in err's chain, [Failed] when there is none.
func KindOf(err error) ErrorKind {
	var typed *Error
	if errors.As(err, &typed) {
		return typed.Kind
	}
	return Failed
}
