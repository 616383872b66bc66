package cloudhost

import (
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// The refusals of cloud hosts, beside those that all objects have: [sandbox.CodeNotOurs],
// [sandbox.CodeOtherBinding], [sandbox.CodeTakenOver] and [sandbox.CodeUnproven].
const (
	// CodeMissing: the recorded server is gone.
	CodeMissing sandbox.Code = "host_missing"
	// CodeSleeping: the server is off, and the operation needs it running.
	CodeSleeping sandbox.Code = "host_sleeping"
	// CodeExpired: `expires_at` has passed, so the host is neither created nor woken.
	CodeExpired sandbox.Code = "host_expired"
	// CodeOtherOptions: the host to re-attach was made with another type, location or image.
	CodeOtherOptions sandbox.Code = "host_differs"
	// CodeStillRunning: the server did not stop in time after a graceful shutdown. It is never forced.
	CodeStillRunning sandbox.Code = "host_still_running"
	// CodeAmbiguous: several resources carry the labels of one host.
	CodeAmbiguous sandbox.Code = "host_ambiguous"
	// CodeConflictingID: the labels of a host are on another resource than the recorded one.
	CodeConflictingID sandbox.Code = "host_id_conflict"
	// CodeForeignLabels: a recorded id belongs to a resource that does not carry our labels any more.
	CodeForeignLabels sandbox.Code = "host_labels_changed"
	// CodeForeignAssignment: the address is attached to something other than our server.
	CodeForeignAssignment sandbox.Code = "host_address_elsewhere"
	// CodeUntrackedIPv6: the server has a primary IPv6 that we did not give it.
	CodeUntrackedIPv6 sandbox.Code = "host_ipv6_untracked"
	// CodeUnexpected: a resource with our labels is not what was asked for.
	CodeUnexpected sandbox.Code = "host_unexpected"
	// CodeProtected: deletion protection is on; it is never lifted silently.
	CodeProtected sandbox.Code = "host_protected"
	// CodeRecordMissing: there is no record of the host, and the operation needs one.
	CodeRecordMissing sandbox.Code = "host_record_missing"
	// CodeKeysMissing: the keys of the host are neither in the store nor on this machine.
	CodeKeysMissing sandbox.Code = "host_keys_missing"
	// CodeKeyringRequired: a shared store takes private keys only when they are encrypted.
	CodeKeyringRequired sandbox.Code = "encryption_key_required"
	// CodeDestroying: a purge was begun and has to be finished.
	CodeDestroying sandbox.Code = "host_destroying"
	// CodeAuthorizedKeys: the further keys could not be replaced on the host.
	CodeAuthorizedKeys sandbox.Code = "authorized_keys_failed"
	// CodeIncomplete: the host was never committed, and the operation needs a complete one.
	CodeIncomplete sandbox.Code = "host_incomplete"
)

// The failures of readiness, one a step. What was made stays, and an update resumes.
const (
	// CodeSSHUnreachable: nothing answered as an SSH server.
	CodeSSHUnreachable sandbox.Code = "ssh_unreachable"
	// CodeHostKeyMismatch: the server showed another key than the pinned one. Nothing was sent to it.
	CodeHostKeyMismatch sandbox.Code = "ssh_host_key_mismatch"
	// CodeSSHAuthentication: the server refused our key.
	CodeSSHAuthentication sandbox.Code = "ssh_authentication_failed"
	// CodeCloudInit: cloud-init failed, did not finish in time, or is not there.
	CodeCloudInit sandbox.Code = "cloud_init_failed"
	// CodeBootstrap: cloud-init finished, but our script did not.
	CodeBootstrap sandbox.Code = "bootstrap_failed"
	// CodeDocker: the engine does not answer.
	CodeDocker sandbox.Code = "docker_not_ready"
	// CodeCompose: there is no Compose plugin.
	CodeCompose sandbox.Code = "compose_not_ready"
	// CodeRsync: there is no rsync.
	CodeRsync sandbox.Code = "rsync_not_ready"
	// CodeRotation: the host's key could not be rotated. The pinned keys include the one it has.
	CodeRotation sandbox.Code = "host_key_rotation_failed"
)

// PartialError is a failed create or update that leaves an uncommitted host behind. The caller keeps Host
// in its state: an update resumes, a delete removes it under either policy.
type PartialError struct {
	Host Host
	Err  error
}

func (p *PartialError) Error() string { return p.Err.Error() }

func (p *PartialError) Unwrap() error { return p.Err }

func refuse(code sandbox.Code, remedy, format string, arguments ...any) *sandbox.Refusal {
	return &sandbox.Refusal{Code: code, Detail: fmt.Sprintf(format, arguments...), Remedy: remedy}
}
