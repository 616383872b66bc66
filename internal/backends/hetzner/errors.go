package hetzner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

const (
	longestMessage = 300 // bytes that are shown of an error of the network
	longestCode    = 80
)

// Code is an error code of the API (section 2.1). It can be the target of [errors.Is].
type Code string

// The codes that somebody acts on.
const (
	CodeUniqueness    Code = "uniqueness_error"
	CodeLocked        Code = "locked"
	CodeConflict      Code = "conflict"
	CodeProtected     Code = "protected"
	CodeNotFound      Code = "not_found"
	CodeAttached      Code = "must_be_unassigned"
	CodeRateLimited   Code = "rate_limit_exceeded"
	CodeResourceLimit Code = "resource_limit_exceeded"
	CodeUnavailable   Code = "resource_unavailable"
)

// Error makes a code usable as the target of [errors.Is].
func (c Code) Error() string { return string(c) }

// APIError is what the API answered, or what an action of it ended with. It is the cause of a
// *[backends.Error]. It has no message: those of the API have been seen to quote half a token, and what a
// code means is said in our own words.
type APIError struct {
	// Status is the HTTP status, 0 for an action that failed after it was accepted.
	Status int
	// Code is empty when the answer was not one of the API.
	Code Code
	// Fields are the names of the fields that were rejected or taken, Limits those of exhausted quotas.
	Fields, Limits []string
	// Action is the command of the action that failed.
	Action string
}

func (e *APIError) Error() string {
	var b strings.Builder
	switch {
	case e.Action != "":
		fmt.Fprintf(&b, "the action %s ended with the error %q", e.Action, e.Code)
	case e.Code == "":
		fmt.Fprintf(&b, "the API answered with status %d and no error of its own", e.Status)
	default:
		fmt.Fprintf(&b, "the API answered %q (status %d)", e.Code, e.Status)
	}
	if len(e.Fields) > 0 {
		fmt.Fprintf(&b, " about %s", strings.Join(e.Fields, ", "))
	}
	if len(e.Limits) > 0 {
		fmt.Fprintf(&b, " about %s", strings.Join(e.Limits, ", "))
	}
	return b.String()
}

// Is reports whether target is this error's code.
func (e *APIError) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code && code != ""
}

// UnsureError is in the chain of a failed call that the API may have acted on all the same.
type UnsureError struct{ Err error }

func (e *UnsureError) Error() string { return e.Err.Error() }

func (e *UnsureError) Unwrap() error { return e.Err }

// Unsure tells whether what was asked for may have happened although the call failed.
func Unsure(err error) bool {
	var unsure *UnsureError
	return errors.As(err, &unsure)
}

// tokenShaped is a run that could be a token, or the half of one that a message has been seen to quote.
var tokenShaped = regexp.MustCompile(`[A-Za-z0-9]{24,}`)

// redact makes a text of the API fit to be shown.
func (c *Client) redact(text string, longest int, secrets ...string) string {
	text = backends.RedactFragments(text, longest+200, append([]string{c.config.Token}, secrets...)...)
	text = tokenShaped.ReplaceAllString(text, "(redacted)")
	return backends.RedactFragments(text, longest)
}

// fail turns the error of a call into ours.
func (c *Client) fail(current *exchange, err error) error {
	if err == nil {
		return nil
	}
	var known *backends.Error
	if errors.As(err, &known) {
		return err
	}
	failure := &backends.Error{Backend: Name, Operation: current.operation, Object: current.object}
	answer := c.answered(err)
	switch {
	case errors.Is(err, errNoToken):
		failure.Kind, failure.Detail = backends.Unauthorized, "No token is set."
		failure.Remedy = "Set `token` in the provider's `hetzner`, or HCLOUD_TOKEN."
		return failure
	case answer != nil:
		failure.Kind, failure.Detail, failure.Remedy = explain(answer)
		failure.Err = answer
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		failure.Kind, failure.Detail, failure.Err = backends.TimedOut, "The API did not answer in time.", errors.New("timeout")
		if errors.Is(err, context.DeadlineExceeded) {
			failure.Err = context.DeadlineExceeded
		}
	case errors.Is(err, context.Canceled):
		failure.Kind, failure.Detail, failure.Err = backends.Failed, "It was canceled.", context.Canceled
	default:
		failure.Kind, failure.Detail = backends.Failed, "The API could not be reached, or its answer could not be read."
		failure.Err = errors.New(c.redact(withoutQuery(err).Error(), longestMessage, current.secrets...))
	}
	// What was accepted and then not understood has happened.
	if current.unsure.Load() || answer == nil && current.accepted.Load() {
		failure.Detail += " What was asked for may have happened all the same."
		failure.Err = &UnsureError{Err: failure.Err}
	}
	return failure
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// answered is what the API itself said, nil when it said nothing.
func (c *Client) answered(err error) *APIError {
	var reported hcloud.Error
	if errors.As(err, &reported) {
		answer := &APIError{Code: Code(c.redact(string(reported.Code), longestCode))}
		if response := reported.Response(); response != nil && response.Response != nil {
			answer.Status = response.StatusCode
			answer.Fields, answer.Limits = c.details(response.Response)
		}
		return answer
	}
	var action hcloud.ActionError
	if errors.As(err, &action) {
		answer := &APIError{Code: Code(c.redact(action.Code, longestCode))}
		if what := action.Action(); what != nil {
			answer.Action = what.Command
		}
		return answer
	}
	if errors.Is(err, hcloud.ErrStatusCode) {
		answer := &APIError{}
		_, _ = fmt.Sscanf(strings.TrimPrefix(err.Error(), "hcloud: "+hcloud.ErrStatusCode.Error()), "%d", &answer.Status)
		return answer
	}
	return nil
}

// details reads the names of fields and limits: the library types only some of them.
func (c *Client) details(response *http.Response) (fields, limits []string) {
	type named struct {
		Name string `json:"name"`
	}
	var body struct {
		Error struct {
			Details struct {
				Fields []named `json:"fields"`
				Limits []named `json:"limits"`
			} `json:"details"`
		} `json:"error"`
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if err != nil || json.Unmarshal(raw, &body) != nil {
		return nil, nil // details are an addition: the code says what happened
	}
	for _, field := range body.Error.Details.Fields {
		fields = append(fields, c.redact(field.Name, longestCode))
	}
	for _, limit := range body.Error.Details.Limits {
		limits = append(limits, c.redact(limit.Name, longestCode))
	}
	return fields, limits
}
