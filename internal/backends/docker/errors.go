package docker

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/client"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// longestCause bounds what of an engine's message is shown, in bytes.
const longestCause = 600

// errFull stands for an answer of 507, which the client has no error for.
var errFull = errors.New("the engine answered 507 Insufficient Storage")

// cause is a message of the engine, cut, that still can be asked for what it wraps.
type cause struct {
	text string
	err  error
}

func (c *cause) Error() string { return c.text }
func (c *cause) Unwrap() error { return c.err }

// cut shortens an error's text and takes secrets out of it.
func cut(err error, secrets ...string) error {
	text := strings.TrimPrefix(err.Error(), "Error response from daemon: ")
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "(secret)")
		}
	}
	if len(text) > longestCause {
		text = strings.ToValidUTF8(text[:longestCause], "") + "…"
	}
	shown := &cause{text: text}
	// Only these are of use to a caller. Others may hold the text that was just taken out.
	for _, target := range []error{context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, target) {
			shown.err = target
		}
	}
	return shown
}

// fail turns an error of the client into the typed one. An error that is typed already stays.
func (e *engine) fail(operation, object string, err error, secrets ...string) error {
	var typed *backends.Error
	if errors.As(err, &typed) {
		return err
	}
	failure := &backends.Error{Backend: backendName, Operation: operation, Object: object, Err: cut(err, secrets...)}
	text := err.Error()
	switch {
	case errors.Is(err, errFull) || cerrdefs.IsResourceExhausted(err) || strings.Contains(text, "no space left on device") || strings.Contains(text, "disk quota exceeded"):
		failure.Kind, failure.Detail = backends.NoCapacity, "The engine has no room left."
		failure.Remedy = "Free disk space there; `docker system df` shows what uses it."
	case errors.Is(err, context.DeadlineExceeded):
		failure.Kind, failure.Detail = backends.TimedOut, "The engine did not answer in time. What was started may still go on."
	case errors.Is(err, context.Canceled):
		failure.Kind, failure.Detail = backends.Failed, "The operation was canceled."
	case errors.Is(err, fs.ErrPermission) || strings.Contains(text, "permission denied while trying to connect"):
		failure.Kind, failure.Detail = backends.Unauthorized, "This user may not use the Docker Engine at "+e.address+"."
		failure.Remedy = "Add the user to the `docker` group and log in again, or point the provider at an engine of its own."
	case client.IsErrConnectionFailed(err) && (strings.Contains(text, "x509:") || strings.Contains(text, "certificate")):
		failure.Kind, failure.Detail = backends.Unauthorized, "The TLS connection to the Docker Engine at "+e.address+" was refused."
		failure.Remedy = "Check the CA certificate, the client certificate and its key."
	case client.IsErrConnectionFailed(err) || cerrdefs.IsUnavailable(err):
		failure.Kind, failure.Detail = backends.NotRunning, "The Docker Engine at "+e.address+" does not answer."
		failure.Remedy = "Is the Docker daemon running at " + e.address + "? Start it, or correct the address."
	case cerrdefs.IsUnauthorized(err) || cerrdefs.IsPermissionDenied(err):
		failure.Kind, failure.Detail = backends.Unauthorized, "The engine refused the request."
	case cerrdefs.IsNotFound(err) && strings.Contains(text, "No such image"):
		failure.Kind, failure.Object, failure.Detail = backends.Invalid, "source.image", "The engine does not have the image any more."
		failure.Remedy = "Pull it there again."
	case cerrdefs.IsNotFound(err):
		// Absence of a sandbox is said where it was looked for, and nowhere else.
		failure.Kind, failure.Detail = backends.Conflict, "Something of it went away meanwhile."
	case cerrdefs.IsConflict(err) || cerrdefs.IsAlreadyExists(err):
		failure.Kind, failure.Detail = backends.Conflict, "The object changed or is in use."
	case cerrdefs.IsInvalidArgument(err):
		failure.Kind, failure.Detail = backends.Invalid, "The engine rejects a value."
	default:
		failure.Kind, failure.Detail = backends.Failed, "The engine reports an error."
	}
	return failure
}

// symptom is a message of the engine that blames one attribute.
type symptom struct {
	text      string
	kind      backends.ErrorKind
	attribute string
	detail    string
}

// symptoms are looked for in order. The engine gives most of them no status of their own.
var symptoms = []symptom{
	{"port is already allocated", backends.Conflict, "ports", "A published port is in use on the engine's host."},
	{"address already in use", backends.Conflict, "ports", "A published port is in use on the engine's host."},
	{"cannot assign requested address", backends.Invalid, "ports", "A port cannot be published on that address."},
	{"nknown runtime", backends.Invalid, "docker.runtime", "The engine has no such runtime."},
	{"unknown or invalid runtime", backends.Invalid, "docker.runtime", "The engine has no such runtime."},
	{"bind source path does not exist", backends.Invalid, "mounts", "The source of a mount does not exist on the engine's host."},
	{"invalid mount config", backends.Invalid, "mounts", "The engine rejects a mount."},
	{"Duplicate mount point", backends.Invalid, "mounts", "Two mounts or volumes have one target."},
	{"Range of CPUs", backends.Invalid, "cpus", "The engine's host does not have that many CPUs."},
	{"inimum memory limit", backends.Invalid, "memory_mib", "The engine does not allow so little memory."},
	{"unable to find user", backends.Invalid, "user", "The image has no such user."},
	{"unable to find group", backends.Invalid, "user", "The image has no such group."},
	{"nknown capability", backends.Invalid, "docker.add_capabilities", "The engine does not know a capability."},
	{"nknown or invalid capability", backends.Invalid, "docker.add_capabilities", "The engine does not know a capability."},
	{"executable file not found", backends.Invalid, "command", "The image does not have the program of the main process."},
	{"exec format error", backends.Invalid, "command", "The program of the main process is for another machine."},
	{"unable to start container process: exec:", backends.Invalid, "command", "The main process cannot be started."},
}

// blame is fail, but names the attribute that the engine's message is about.
func (e *engine) blame(operation, name string, err error, secrets ...string) error {
	for _, known := range symptoms {
		if strings.Contains(err.Error(), known.text) {
			return &backends.Error{
				Kind: known.kind, Backend: backendName, Operation: operation, Object: known.attribute,
				Detail: known.detail, Err: cut(err, secrets...),
			}
		}
	}
	return e.fail(operation, name, err, secrets...)
}

// reason puts detail and remedy of an error into one text for people.
func reason(err error) string {
	var typed *backends.Error
	if !errors.As(err, &typed) {
		return err.Error()
	}
	return strings.TrimSpace(typed.Detail + " " + typed.Remedy)
}

// addLeft tells of what could not be removed after err.
func addLeft(err error, left []string) error {
	var typed *backends.Error
	if len(left) == 0 || !errors.As(err, &typed) {
		return err
	}
	typed.Left = append(typed.Left, left...)
	return err
}

func notFound(operation, name string) error {
	return &backends.Error{Kind: backends.NotFound, Backend: backendName, Operation: operation, Object: name}
}

func notOurs(operation, name, what string) error {
	return &backends.Error{
		Kind: backends.NotOurs, Backend: backendName, Operation: operation, Object: name,
		Detail: what + " of this name is there, but carries other marks. It was not touched.",
		Remedy: "Choose another name, or import it if it is yours.",
	}
}

func invalid(operation, attribute, detail, remedy string) error {
	return &backends.Error{Kind: backends.Invalid, Backend: backendName, Operation: operation, Object: attribute, Detail: detail, Remedy: remedy}
}
