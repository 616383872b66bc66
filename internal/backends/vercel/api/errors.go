package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Error codes of the API that callers act on (section 9.2).
const (
	CodeBadRequest           = "bad_request"
	CodeNotFound             = "not_found"
	CodeTimeoutInvalid       = "sandbox_timeout_invalid"
	CodeImageNotReady        = "image_not_ready"
	CodeStopped              = "sandbox_stopped"
	CodeFailed               = "sandbox_failed"
	CodeSnapshotNotFound     = "snapshot_not_found"
	CodeStopping             = "sandbox_stopping"
	CodeSnapshotting         = "sandbox_snapshotting"
	CodeExecutableNotFound   = "executable_not_found"
	CodeSnapshotRegion       = "snapshot_region_mismatch"
	CodeStreamClosed         = "sandbox_stream_closed"
	codeStreamEndedEarly     = "stream_ended_early"
	messageOfTakenNameMarker = "already exists"
)

// ResponseError is what the API answered, redacted and cut.
type ResponseError struct {
	// Status is the HTTP status; 0 for an error inside a stream, which has none.
	Status int
	// Code is the API's own, empty when the answer was not in its form.
	Code string
	// Message is for people. Nothing depends on it.
	Message string
	// RetryAfter is how long the API asked to wait, 0 when it did not.
	RetryAfter time.Duration
}

func (e *ResponseError) Error() string {
	text := "the API reported"
	if e.Status != 0 {
		text = fmt.Sprintf("the API answered %d", e.Status)
	}
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// AmbiguousError says that a request was sent and that nobody knows whether it took effect: its
// reply was lost, broken, or a 5xx. After a create, ask [Client.Reconcile].
type AmbiguousError struct {
	// Err is the cause.
	Err error
}

func (e *AmbiguousError) Error() string {
	return "the request may have taken effect: " + e.Err.Error()
}

func (e *AmbiguousError) Unwrap() error { return e.Err }

// Ambiguous reports whether the request of err may have taken effect.
func Ambiguous(err error) bool {
	var found *AmbiguousError
	return errors.As(err, &found)
}

// CodeOf returns the API's error code in err's chain, empty when there is none.
func CodeOf(err error) string {
	var found *ResponseError
	if errors.As(err, &found) {
		return found.Code
	}
	return ""
}

// StatusOf returns the HTTP status in err's chain, 0 when there is none.
func StatusOf(err error) int {
	var found *ResponseError
	if errors.As(err, &found) {
		return found.Status
	}
	return 0
}

// Ended reports whether err says that a session is over, for good (410). The sandbox may be resumed.
func Ended(err error) bool {
	return errors.Is(err, backends.NotRunning) && !InTransition(err)
}

// InTransition reports whether err says that a session stops or is saved just now (422). The
// sandbox may be resumed once that is done.
func InTransition(err error) bool {
	code := CodeOf(err)
	return code == CodeStopping || code == CodeSnapshotting
}

// secrets are the values that no text about the call may show.
func (c *Client) secrets(call call) []string {
	return append([]string{c.credentials.token}, call.secrets...)
}

// failure is an error about a call. cause may be nil.
func (call call) failure(kind backends.ErrorKind, detail string, cause error) *backends.Error {
	return &backends.Error{
		Kind: kind, Backend: backendName, Operation: call.operation, Object: call.object, Detail: detail, Err: cause,
	}
}

// lost is the error of a call that got no answer.
func (c *Client) lost(ctx context.Context, current *exchange, err error) error {
	call := current.call
	var typed *backends.Error
	if errors.As(err, &typed) {
		return typed
	}
	var failure *backends.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		failure = call.failure(backends.Failed, "The operation was canceled.", context.Canceled)
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		failure = call.failure(backends.TimedOut, "The API did not answer in time.", context.DeadlineExceeded)
	case errors.Is(err, errTooLong):
		failure = call.failure(backends.Failed, "The answer is longer than any that the API would give.", err)
	case errors.Is(err, errQueued), errors.Is(err, errNoHeaders):
		failure = call.failure(backends.TimedOut, "It took too long.", err)
	default:
		failure = call.failure(backends.Failed, "The API at "+c.base.Host+" could not be reached, or its answer was cut.",
			errors.New(redact(err.Error(), longestMessage, c.secrets(call)...)))
		failure.Remedy = "Check the network, the proxy variables and `base_url`."
	}
	return current.mayHaveActed(failure)
}

// unreadable is the error of a call whose answer cannot be used. The answer is never shown.
func (c *Client) unreadable(current *exchange, detail string) error {
	failure := current.call.failure(backends.Failed, detail, nil)
	failure.Remedy = "Check that `base_url` is the address of the API."
	return current.mayHaveActed(failure)
}

// mayHaveActed marks the failure of a write that was sent. Deletions can simply be repeated.
func (e *exchange) mayHaveActed(failure *backends.Error) error {
	if !e.call.write || e.call.repeatable() || !e.sent.Load() {
		return failure
	}
	cause := failure.Err
	if cause == nil {
		cause = errors.New("the answer is not usable")
	}
	failure.Err = &AmbiguousError{Err: cause}
	failure.Detail = strings.TrimSpace(failure.Detail + " What was asked for may have happened all the same.")
	return failure
}

// refused is the error of a call that was answered with a status of 300 or more.
func (c *Client) refused(current *exchange, response *http.Response, body []byte) error {
	call := current.call
	reported := reportedError(body)
	found := &ResponseError{
		Status:  response.StatusCode,
		Code:    redact(reported.Code, longestCode, c.secrets(call)...),
		Message: redact(reported.Message, longestMessage, c.secrets(call)...),
	}
	found.RetryAfter, _ = c.retryAfter(response)
	kind, detail, remedy := classify(call, found, reported.Message)
	if current.tooLate {
		kind, detail = backends.RateLimited, fmt.Sprintf("The API asks to wait %s, which is longer than allowed here.", found.RetryAfter.Round(time.Second))
	}
	failure := call.failure(kind, detail, found)
	failure.Remedy = remedy
	// A name that was free may be taken by an attempt that was refused in words only.
	if response.StatusCode >= 500 || kind == backends.AlreadyExists && current.limited {
		return current.mayHaveActed(failure)
	}
	return failure
}
