package vercel

import (
	"sync"
	"time"
)

// ms is a time as the service writes it: milliseconds since the epoch.
type ms = int64

// status is the state of a session, which its sandbox mirrors.
type status string

const (
	statusPending      status = "pending"
	statusRunning      status = "running"
	statusStopping     status = "stopping"
	statusSnapshotting status = "snapshotting"
	statusStopped      status = "stopped"
	statusFailed       status = "failed"
)

func (s status) ended() bool { return s == statusStopped || s == statusFailed }

// retention is a keepLastSnapshots policy.
type retention struct {
	Count         int    `json:"count"`
	Expiration    *int64 `json:"expiration,omitempty"`
	DeleteEvicted bool   `json:"deleteEvicted"`
}

// sandbox is a name with a configuration; its sessions do the work. Exported fields are kept in
// the state file.
type sandbox struct {
	Serial             int64
	UID                string // tells it from a later one of the same name
	Project            string
	Name               string
	Persistent         bool
	CurrentSession     string
	CurrentSnapshot    string
	CreatedAt          ms
	UpdatedAt          ms
	StatusUpdatedAt    ms
	LastUsedAt         ms
	Region             string
	FailoverRegions    []string
	NetworkID          string
	VCPUs              int
	Runtime            string
	Image              string
	Timeout            int64
	Policy             *policy
	Tags               map[string]string
	SnapshotExpiration *int64 // nil: DefaultExpiration
	DefaultExpiration  int64  // of the generation that made it
	KeepLast           *retention
	Env                map[string]string
	Ports              []int
	Subdomains         map[int]string
	EndedDuration      int64 // ms of sessions that ended
	// SourceURL is what a git or tarball source named: forks without a snapshot begin there, too.
	SourceURL string
}

// expiration is what snapshots get that say nothing themselves.
func (sb *sandbox) expiration() int64 {
	if sb.SnapshotExpiration != nil {
		return *sb.SnapshotExpiration
	}
	return sb.DefaultExpiration
}

// session is one boot of a sandbox.
type session struct {
	Serial          int64
	ID              string
	SandboxUID      string
	SandboxName     string
	Project         string
	Status          status
	Persistent      bool // as the sandbox was when it booted
	Region          string
	VCPUs           int
	Runtime         string
	Cwd             string
	User            string
	Timeout         int64
	Policy          *policy
	Env             map[string]string
	SourceSnapshot  string
	RequestedAt     ms
	CreatedAt       ms
	StartedAt       ms
	UpdatedAt       ms
	RequestedStopAt ms
	StoppedAt       ms
	SnapshottedAt   ms
	Commands        []*command `json:"-"`

	// sourceURL is what the first session of a sandbox fills its disk from, without a snapshot.
	sourceURL string
	// settled is closed when a transition ends; nil outside of one.
	settled chan struct{}
	// stopTimer keeps the time-out from firing.
	stopTimer func()
	// machine runs commands; made by the first one.
	machine *machine
	booting sync.Mutex
}

// deadline is when the session times out.
func (s *session) deadline() ms { return s.StartedAt + s.Timeout }

// snapshot is a saved disk.
type snapshot struct {
	Serial        int64
	ID            string
	SandboxUID    string
	SandboxName   string
	SourceSession string
	Project       string
	Region        string
	Deleted       bool
	Size          int64
	CreatedAt     ms
	UpdatedAt     ms
	LastUsedAt    ms
	Expiration    int64 // ms after the last use; 0 is never
	Automatic     bool
	Parent        string
	Runtime       string
	Image         string
}

// expiresAt is 0 for never.
func (s *snapshot) expiresAt() ms {
	if s.Expiration == 0 {
		return 0
	}
	return max(s.CreatedAt, s.LastUsedAt) + s.Expiration
}

func (s *snapshot) expired(now ms) bool {
	at := s.expiresAt()
	return at != 0 && at <= now
}

func milliseconds(t time.Time) ms { return t.UnixMilli() }
