// Package diagnostics turns failures into the texts a user reads. Every diagnostic says what
// happened, what is left behind, what to do next and then the cause, and ends with a stable code.
package diagnostics

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Codes of what the provider layer itself decides. Those of failures are the kinds of package
// backends and the codes of package sandbox.
const (
	PurgeFirst          = "purge_first"
	GenerationLowered   = "generation_lowered"
	Replaced            = "replaced"
	Retained            = "retained"
	Removed             = "removed"
	DataLost            = "data_lost"
	DuplicateWorkspace  = "duplicate_workspace"
	DuplicateFile       = "duplicate_file"
	OwnerRequired       = "owner_required"
	StoreRequired       = "store_required"
	InvalidValue        = "invalid_value"
	Unsupported         = "unsupported"
	ConfigurationUnsure = "configuration_unknown"
	Reattached          = "reattached"
	HostNetwork         = "host_network"
	StoreFailed         = "store_failed"
	Interrupted         = "interrupted"
	Migrated            = "migrated"
	SnapshotUnusable    = "snapshot_unusable"
)

// WithCode appends the code to a detail text.
func WithCode(detail, code string) string {
	return strings.TrimRight(detail, "\n ") + "\n\nCode: " + code
}

// AttributeError is an error on one attribute.
func AttributeError(at path.Path, code, summary, detail string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, summary, WithCode(detail, code))
}

// AttributeWarning is a warning on one attribute.
func AttributeWarning(at path.Path, code, summary, detail string) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(at, summary, WithCode(detail, code))
}

// Warning is a warning on the whole object.
func Warning(code, summary, detail string) diag.Diagnostic {
	return diag.NewWarningDiagnostic(summary, WithCode(detail, code))
}

// FromError is the error diagnostic of a failed operation. The summary has the form
// `Unable to <Verb> <Thing> "<name>"`.
func FromError(summary string, err error) diag.Diagnostic {
	detail, code := describe(err)
	return diag.NewErrorDiagnostic(summary, WithCode(detail, code))
}

// FromAttributeError is [FromError] on one attribute.
func FromAttributeError(at path.Path, summary string, err error) diag.Diagnostic {
	detail, code := describe(err)
	return AttributeError(at, code, summary, detail)
}

func describe(err error) (detail, code string) {
	var refusal *sandbox.Refusal
	if errors.As(err, &refusal) {
		return paragraphs(refusal.Detail, refusal.Remedy, causeOf(refusal.Err)), string(refusal.Code)
	}
	var failure *backends.Error
	if errors.As(err, &failure) {
		return describeFailure(err, failure), string(failure.Kind)
	}
	if remedy := storeRemedy(err); remedy != "" {
		return paragraphs(remedy, causeOf(err)), StoreFailed
	}
	return err.Error(), string(backends.KindOf(err))
}

func describeFailure(err error, failure *backends.Error) string {
	happened := fmt.Sprintf("The %s backend could not %s", failure.Backend, failure.Operation)
	if failure.Object != "" {
		happened += fmt.Sprintf(" %q", failure.Object)
	}
	happened += fmt.Sprintf(": %s.", failure.Kind.Error())
	left := ""
	if len(failure.Left) > 0 {
		left = "Left behind: " + strings.Join(failure.Left, ", ") + "."
	}
	cause := causeOf(failure.Err)
	if outer := err.Error(); outer != failure.Error() {
		cause = paragraphs(cause, "In full: "+outer)
	}
	return paragraphs(happened+" "+failure.Detail, left, failure.Remedy, cause)
}

// storeRemedy explains the failures of the store that a user can mend.
func storeRemedy(err error) string {
	for _, known := range []struct {
		target error
		remedy string
	}{
		{store.ErrNewerSchema, "The store was written by a newer version of this provider. Upgrade the provider."},
		{store.ErrCorrupt, "The store is damaged. Restore it from a backup, or move it away: records are rebuilt from the state and from the marks on the objects."},
		{store.ErrReadOnly, "The store cannot be written. Check the permissions of the data directory, or what the role may do in the database."},
		{store.ErrFull, "There is no space left where the store lives. Free some and apply again."},
		{store.ErrUnavailable, "The store's database does not answer, or not any more. What was announced in it is finished by the next apply. Apply again when it is back."},
		{store.ErrLockLost, "The connection that held the lock broke, so that another run may be at work on the same object. Nothing more was written. Apply again."},
		{store.ErrConflict, "Another run changed the same record at the same moment. Apply again."},
	} {
		if errors.Is(err, known.target) {
			return known.remedy
		}
	}
	return ""
}

func causeOf(err error) string {
	if err == nil {
		return ""
	}
	return "Cause: " + err.Error()
}

// Sentence makes the text of an error one: a capital letter and a full stop.
func Sentence(err error) string {
	text := err.Error()
	if text == "" {
		return text
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

func paragraphs(parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "\n\n")
}
