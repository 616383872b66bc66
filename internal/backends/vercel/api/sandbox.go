package api

// Status is the state of a session, and of a sandbox, which mirrors its current session
// (section 9.1). Values that are not listed here are passed on.
type Status string

// The states of sessions.
const (
	StatusPending      Status = "pending"
	StatusRunning      Status = "running"
	StatusStopping     Status = "stopping"
	StatusSnapshotting Status = "snapshotting"
	StatusStopped      Status = "stopped"
	StatusFailed       Status = "failed"
	StatusAborted      Status = "aborted"
)

// Terminal reports whether a session of this status never changes again. A sandbox whose session
// has ended can be resumed by a new session.
func (s Status) Terminal() bool {
	return s == StatusStopped || s == StatusFailed || s == StatusAborted
}

// Sandbox is a named sandbox (section 5.1). Its environment and source are never told.
type Sandbox struct {
	Name       string `json:"name" wire:"id"`
	Persistent bool   `json:"persistent" wire:"required"`
	// CurrentSessionID changes at every resume and is never an identity.
	CurrentSessionID string `json:"currentSessionId" wire:"id"`
	Status           Status `json:"status" wire:"id"`
	CreatedAt        Time   `json:"createdAt" wire:"required"`
	UpdatedAt        Time   `json:"updatedAt" wire:"required"`
	StatusUpdatedAt  Time   `json:"statusUpdatedAt"`
	// CurrentSnapshotID is where the next resume starts. Empty until the first snapshot.
	CurrentSnapshotID string   `json:"currentSnapshotId"`
	Region            string   `json:"region"`
	FailoverRegions   []string `json:"failoverRegions"`
	NetworkID         string   `json:"networkId"`
	VCPUs             float64  `json:"vcpus"`
	Memory            float64  `json:"memory"` // MiB
	Runtime           string   `json:"runtime"`
	// Image is pinned to a digest, whatever reference was sent.
	Image string `json:"image"`
	// Timeout is that of new sessions.
	Timeout       Duration          `json:"timeout"`
	NetworkPolicy *PolicyState      `json:"networkPolicy"`
	Tags          map[string]string `json:"tags"`
	Mounts        map[string]Mount  `json:"mounts"`
	// SnapshotExpiration of 0 means never; nil, that the API did not tell.
	SnapshotExpiration *Duration  `json:"snapshotExpiration"`
	KeepLastSnapshots  *Retention `json:"keepLastSnapshots"`
	// ExpiresAt is the deadline of the running session. Zero when none runs.
	ExpiresAt Time   `json:"expiresAt"`
	Cwd       string `json:"cwd"`

	TotalEgressBytes       Int      `json:"totalEgressBytes"`
	TotalIngressBytes      Int      `json:"totalIngressBytes"`
	TotalActiveCPUDuration Duration `json:"totalActiveCpuDurationMs"`
	TotalDuration          Duration `json:"totalDurationMs"`
}

// SandboxState is a sandbox with its current or last session.
type SandboxState struct {
	Sandbox Sandbox `json:"sandbox" wire:"required"`
	// Session is the last one, with its final status, when none runs.
	Session Session `json:"session" wire:"required"`
	Routes  []Route `json:"routes" wire:"required"`
	// Resumed is true when the request made a new session.
	Resumed bool `json:"resumed"`
}

// Route is a published port (section 5.3). It is public and not authenticated.
type Route struct {
	URL       string `json:"url" wire:"id"`
	Subdomain string `json:"subdomain" wire:"required"`
	Port      Int    `json:"port" wire:"required"`
	// System routes are the platform's own.
	System bool `json:"system"`
}

// Session is one boot of a sandbox (section 5.2). Its id is opaque.
type Session struct {
	ID     string `json:"id" wire:"id"`
	Status Status `json:"status" wire:"id"`
	// ProjectID and SourceSandboxName are documented, but not told by every answer.
	ProjectID         string   `json:"projectId"`
	SourceSandboxName string   `json:"sourceSandboxName"`
	Runtime           string   `json:"runtime"`
	Memory            float64  `json:"memory" wire:"required"` // MiB
	VCPUs             float64  `json:"vcpus" wire:"required"`
	Region            string   `json:"region" wire:"required"`
	Timeout           Duration `json:"timeout" wire:"required"`
	// Cwd is the working directory of commands that choose none.
	Cwd             string       `json:"cwd" wire:"required"`
	RequestedAt     Time         `json:"requestedAt" wire:"required"`
	CreatedAt       Time         `json:"createdAt" wire:"required"`
	UpdatedAt       Time         `json:"updatedAt" wire:"required"`
	StartedAt       Time         `json:"startedAt"`
	RequestedStopAt Time         `json:"requestedStopAt"`
	StoppedAt       Time         `json:"stoppedAt"`
	AbortedAt       Time         `json:"abortedAt"`
	SnapshottedAt   Time         `json:"snapshottedAt"`
	Duration        Duration     `json:"duration"`
	SourceSnapshot  string       `json:"sourceSnapshotId"`
	InteractivePort Int          `json:"interactivePort"`
	NetworkPolicy   *PolicyState `json:"networkPolicy"`
	// ActiveCPUDuration and NetworkTransfer are told after a clean stop only.
	ActiveCPUDuration Duration  `json:"activeCpuDurationMs"`
	NetworkTransfer   *Transfer `json:"networkTransfer"`
}

// Deadline is when the session ends by its timeout.
func (s Session) Deadline() Time {
	start := s.StartedAt
	if start.IsZero() {
		start = s.CreatedAt
	}
	return Time{start.Add(s.Timeout.Duration)}
}

// Transfer counts bytes over the network.
type Transfer struct {
	Ingress Int `json:"ingress"`
	Egress  Int `json:"egress"`
}

// SessionState is a session with the routes of its sandbox.
type SessionState struct {
	Session Session `json:"session" wire:"required"`
	Routes  []Route `json:"routes"`
}
