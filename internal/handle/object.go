package handle

import "time"

// The known kinds of a data holder. Others are kept as they are.
const (
	// KindPersistent: the name is durable and the data outlives each session.
	KindPersistent = "persistent"
	// KindSession: one session is all there is.
	KindSession = "session"
	// KindVolume: a directory on the host, without a sandbox around it.
	KindVolume = "volume"
)

// The known kinds of a resource. Others are kept as they are.
const (
	ResourceSandbox  = "sandbox"
	ResourceVolume   = "volume"
	ResourceSnapshot = "snapshot"
)

// State says how far an object is, in the words of the workspace resource. The set is closed.
type State string

// The states.
const (
	StatePending      State = "pending"
	StateProvisioning State = "provisioning"
	StateReady        State = "ready"
	StateStopped      State = "stopped"
	StateError        State = "error"
)

// Object describes one data holder, whatever keeps it. A zero member means that the value is not
// known or that there is none. It holds plain data only: no secret, no connection, no process.
type Object struct {
	WorkspaceID string
	// Backend is an open string in our words: vercel, docker, local, orbstack, apple_container, …
	Backend string
	// Kind is one of the constants or an open string.
	Kind string
	// ResourceKind is one of the constants or an open string; "" follows from Kind.
	ResourceKind string
	Name         string
	// SessionID is metadata, except for a session on Vercel: there it is all that identifies it.
	SessionID  string
	SnapshotID string // the newest snapshot of the object's own data
	// BaseSnapshotID and BaseSnapshotVersion say what the object was made from. They are provenance,
	// never something to recover from.
	BaseSnapshotID      string
	BaseSnapshotVersion string
	TemplateVersion     string
	Runtime             string
	State               State
	Status              string // in the backend's own words

	// SessionKey is the key under which an application files the object among its own sessions.
	SessionKey string
	Owner      string
	Host       string // SSH alias of the machine the backend runs on; "" is this one
	SSHConfig  string // absolute path of the SSH configuration that knows Host
	// Directory is the absolute path of the workspace on the machine the application runs on.
	Directory string
	Workspace string // absolute path of the workspace inside
	User      string
	Isolated  *bool // from the host's files; nil when unknown
	Services  map[string]Service
	Cloud     *Cloud

	// ProvisionLockToken is printed by the only shape that has it, the workspace resource.
	ProvisionLockToken string
	// Metadata is whatever encoding/json can write.
	Metadata map[string]any

	ExpiresAt  time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time
	LastUsedAt time.Time
	LastSeenAt time.Time
}

// Service is one program of the object that others reach by a port.
type Service struct {
	Image         string
	Port          int // the published port, 1 to 65535; 0 when Internal
	ContainerPort int // 0: not known
	Protocol      string
	Command       string
	Env           map[string]string // plain values only
	Volumes       map[string]string // name to absolute path inside
	// Internal services are reached by their neighbors only, and have neither port nor protocol.
	Internal bool
}

// Cloud is the machine that was made for the object.
type Cloud struct {
	Provider        string
	Type            string
	Location        string
	Image           string
	IdleTimeout     time.Duration // 0: never
	ExpiresAt       time.Time     // zero: never
	RecordID        string
	Owner           string
	Name            string
	ServerID        int64
	KeyID           int64
	PrimaryIPIDs    []int64
	CreatedAt       time.Time
	CreatedForStart bool // until the first start succeeded
}

// lastUsed is never zero for an object that has any time at all. The store of the application that
// the shapes come from falls back in the same way.
func (o Object) lastUsed() time.Time { return firstOf(o.LastUsedAt, o.UpdatedAt, o.CreatedAt) }

func (o Object) updated() time.Time { return firstOf(o.UpdatedAt, o.LastUsedAt, o.CreatedAt) }

func firstOf(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}
