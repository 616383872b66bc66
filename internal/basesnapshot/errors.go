package basesnapshot

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// The refusals of this package, besides those of package sandbox.
const (
	// CodeSecretName: an environment variable looks like a secret.
	CodeSecretName sandbox.Code = "secret_name"
	// CodeBakeFailed: a step of a bake failed; the Err of the refusal is a *[StepError].
	CodeBakeFailed sandbox.Code = "bake_failed"
	// CodeNoPackageManager: no known package manager is inside.
	CodeNoPackageManager sandbox.Code = "no_package_manager"
	// CodeCurrent: the snapshot is the current one of its lane.
	CodeCurrent sandbox.Code = "snapshot_current"
	// CodeRollbackCandidate: the snapshot is kept so that the lane can go back to it.
	CodeRollbackCandidate sandbox.Code = "snapshot_rollback_candidate"
	// CodeReferenced: a workspace was made from the snapshot.
	CodeReferenced sandbox.Code = "snapshot_referenced"
	// CodeTooYoung: the snapshot is younger than what retention asks for.
	CodeTooYoung sandbox.Code = "snapshot_too_young"
	// CodeLaneMissing: there is no such lane.
	CodeLaneMissing sandbox.Code = "base_snapshot_missing"
)

// reasonShown is how much of an error is kept in the registry, in bytes.
const reasonShown = 300

// StepError is the step of a bake that failed. Its texts are free of the values of the environment.
type StepError struct {
	// Step says what was being done, as "command 2" or "the smoke check 1 in a new sandbox".
	Step string
	// Command is what was run, nil when the step is no command.
	Command []string
	// ExitCode of the command, when it came to an end.
	ExitCode int
	// Output is the end of what it said.
	Output string
	// Detail says what is wrong beyond the exit status. Optional.
	Detail string
	Err    error
}

// summary is the error without the output and the cause.
func (s *StepError) summary() string {
	text := s.Step
	if len(s.Command) > 0 {
		text += fmt.Sprintf(" (%s)", strings.Join(s.Command, " "))
	}
	switch {
	case s.Detail != "":
		text += ": " + s.Detail
	case s.Err == nil:
		text += fmt.Sprintf(" exited with status %d", s.ExitCode)
	default:
		text += " could not be done"
	}
	return text
}

func (s *StepError) Error() string {
	text := s.summary() + "."
	if s.Output != "" {
		text += " It said: " + s.Output
	}
	if s.Err != nil {
		text += " " + s.Err.Error()
	}
	return text
}

func (s *StepError) Unwrap() error { return s.Err }

// PartialError is a failed create that left something of ours behind: the caller keeps the lane in
// its state, so that a later delete removes it.
type PartialError struct {
	Result Result
	Err    error
}

func (p *PartialError) Error() string { return p.Err.Error() }

func (p *PartialError) Unwrap() error { return p.Err }

// isMissing tells a proven absence: the object is gone or has expired.
func isMissing(err error) bool {
	kind := backends.KindOf(err)
	return kind == backends.NotFound || kind == backends.Expired
}

// shortened keeps the beginning of a text.
func shortened(text string) string {
	if len(text) <= reasonShown {
		return text
	}
	return strings.ToValidUTF8(text[:reasonShown], "") + "…"
}

// withoutValues removes the values of the environment from the error of a step.
func withoutValues(err error, environment map[string]string) error {
	var step *StepError
	if !errors.As(err, &step) {
		return redacted(err, environment)
	}
	clean := *step
	clean.Step, clean.Detail = backends.Redact(step.Step, environment), backends.Redact(step.Detail, environment)
	clean.Output, clean.Err = backends.Redact(step.Output, environment), redacted(step.Err, environment)
	clean.Command = nil
	for _, argument := range step.Command {
		clean.Command = append(clean.Command, backends.Redact(argument, environment))
	}
	return &clean
}

// redacted removes the values of the environment from an error. A backend's error keeps its kind.
func redacted(err error, environment map[string]string) error {
	if err == nil || backends.Redact(err.Error(), environment) == err.Error() {
		return err
	}
	var typed *backends.Error
	if !errors.As(err, &typed) {
		return errors.New(backends.Redact(err.Error(), environment))
	}
	return &backends.Error{
		Kind: typed.Kind, Backend: typed.Backend, Operation: typed.Operation, Left: typed.Left,
		Object: backends.Redact(typed.Object, environment),
		Detail: backends.Redact(typed.Detail, environment),
		Remedy: backends.Redact(typed.Remedy, environment),
	}
}
