package vercel

import (
	"fmt"
	"net/http"
	"slices"
)

// Settings choose between answers where nobody has seen what the service does, and slow down what
// may be slow there. The zero value holds the likeliest answers. Durations are milliseconds.
type Settings struct {
	// CleanResume makes a non-persistent sandbox resume with an empty disk, instead of answering 410
	// snapshot_not_found.
	CleanResume bool `json:"cleanResume,omitempty"`
	// StopTwiceGone answers the stop of a stopped session with 410, instead of with the session.
	StopTwiceGone bool `json:"stopTwiceGone,omitempty"`
	// LazyStop keeps a session in stopping or snapshotting for this long after the reply, as the service
	// was seen to do. The snapshot of a stop appears at the end of it.
	LazyStop int64 `json:"lazyStop,omitempty"`
	// ImpatientResume answers resume=true with 422 while a session ends, instead of blocking.
	ImpatientResume bool `json:"impatientResume,omitempty"`
	// StrictMkdir refuses to make parents unless recursive is true.
	StrictMkdir bool `json:"strictMkdir,omitempty"`
	// PolicyForm is the only form in which restricted network policies are accepted: "allow" or
	// "custom". Empty accepts both.
	PolicyForm string `json:"policyForm,omitempty"`
	// ExecutableNotFoundStatus is the status of that error; 0 means 400.
	ExecutableNotFoundStatus int `json:"executableNotFoundStatus,omitempty"`
	// RegionMismatchStatus is the status of snapshot_region_mismatch; 0 means 422.
	RegionMismatchStatus int `json:"regionMismatchStatus,omitempty"`
	// EnvUpdate is what an update of env does: "next" session (also when empty), "immediate" for the
	// running one, too, or "rejected".
	EnvUpdate string `json:"envUpdate,omitempty"`
	// MaxPage is the largest limit of a listing; 0 means 100.
	MaxPage int `json:"maxPage,omitempty"`
	// MaxUpload is the largest body of a file upload in bytes; 0 means 256 MiB.
	MaxUpload int64 `json:"maxUpload,omitempty"`
	// OrphanDelay is how long after a delete the orphaned snapshots go.
	OrphanDelay int64 `json:"orphanDelay,omitempty"`
	// DeleteSnapshots makes the delete of a running persistent sandbox save it first, as a stop does.
	DeleteSnapshots bool `json:"deleteSnapshots,omitempty"`
	// WithoutGenerations are the create paths that are switched off: 2, 3 or 4.
	WithoutGenerations []int `json:"withoutGenerations,omitempty"`
	// SudoWithoutRoot runs sudo commands as the ordinary user with root's HOME, instead of refusing
	// them. They are not root: what needs it fails.
	SudoWithoutRoot bool `json:"sudoWithoutRoot,omitempty"`
}

// Values of [Settings.PolicyForm] and [Settings.EnvUpdate].
const (
	PolicyFormAllow    = "allow"
	PolicyFormCustom   = "custom"
	EnvUpdateNext      = "next"
	EnvUpdateImmediate = "immediate"
	EnvUpdateRejected  = "rejected"
)

func (s Settings) check() error {
	if !slices.Contains([]string{"", PolicyFormAllow, PolicyFormCustom}, s.PolicyForm) {
		return fmt.Errorf("unknown policy form %q", s.PolicyForm)
	}
	if !slices.Contains([]string{"", EnvUpdateNext, EnvUpdateImmediate, EnvUpdateRejected}, s.EnvUpdate) {
		return fmt.Errorf("unknown effect of an env update %q", s.EnvUpdate)
	}
	if s.LazyStop < 0 || s.OrphanDelay < 0 || s.MaxPage < 0 || s.MaxUpload < 0 {
		return fmt.Errorf("settings must not be negative")
	}
	return nil
}

func (s Settings) maxPage() int {
	if s.MaxPage > 0 {
		return s.MaxPage
	}
	return maxPage
}

func (s Settings) executableNotFound() int {
	if s.ExecutableNotFoundStatus > 0 {
		return s.ExecutableNotFoundStatus
	}
	return http.StatusBadRequest
}

func (s Settings) regionMismatch() int {
	if s.RegionMismatchStatus > 0 {
		return s.RegionMismatchStatus
	}
	return http.StatusUnprocessableEntity
}
