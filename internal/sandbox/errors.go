package sandbox

import "github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"

// Code is a stable name of a refusal that the lifecycle itself decides. Failures of a backend
// keep their backends.ErrorKind.
type Code string

// The refusals of the lifecycle.
const (
	// CodeNotOurs: the name belongs to an object of somebody else.
	CodeNotOurs Code = "not_ours"
	// CodeOtherKind: the name belongs to one of ours of another kind.
	CodeOtherKind Code = "other_kind"
	// CodeOtherSource: the object to re-attach was made from another source.
	CodeOtherSource Code = "other_source"
	// CodeOtherName: the workspace lives under another name.
	CodeOtherName Code = "other_name"
	// CodeOtherBinding: another engine, account or data directory is configured.
	CodeOtherBinding Code = "other_binding"
	// CodeTakenOver: another Terraform state has attached the object since.
	CodeTakenOver Code = "taken_over"
	// CodeMissing: the object is gone.
	CodeMissing Code = "sandbox_missing"
	// CodeSetupFailed: a setup step failed.
	CodeSetupFailed Code = "setup_failed"
	// CodeProvisionFailed: another run that was waited for could not make the workspace.
	CodeProvisionFailed Code = "provision_failed"
	// CodeOverlayFailed: a new workspace could not be given its template.
	CodeOverlayFailed Code = "overlay_failed"
	// CodeMigrationFailed: a workspace could not be brought to another version of its template.
	CodeMigrationFailed Code = "migration_failed"
	// CodeWorkspaceLost: a workspace's session is gone and nothing is left to restore it from.
	CodeWorkspaceLost Code = "workspace_lost"
	// CodeUnproven: neither state nor record proves that the object may be purged.
	CodeUnproven Code = "ownership_unproven"
)

// Refusal is an operation that the lifecycle refused or gave up, with what to do next.
type Refusal struct {
	Code   Code
	Detail string
	Remedy string
	Err    error
}

func (r *Refusal) Error() string {
	text := r.Detail
	if r.Remedy != "" {
		text += " " + r.Remedy
	}
	if r.Err != nil {
		text += ": " + r.Err.Error()
	}
	return text
}

func (r *Refusal) Unwrap() error { return r.Err }

// Is reports whether target is this refusal's code.
func (r *Refusal) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == r.Code
}

// Error makes a code usable as the target of errors.Is.
func (c Code) Error() string { return string(c) }

// PartialError is a failed create that left something of ours behind: the caller keeps the object
// in its state, so that a later delete removes it.
type PartialError struct {
	Result Result
	Err    error
}

func (p *PartialError) Error() string { return p.Err.Error() }

func (p *PartialError) Unwrap() error { return p.Err }

func isMissing(err error) bool { return backends.KindOf(err) == backends.NotFound }
