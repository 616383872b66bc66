package hetzner

import (
	"net/netip"
	"time"
)

// Exported fields of these types are kept in the state file.

// status is the state of a server.
type status string

const (
	statusInitializing status = "initializing"
	statusStarting     status = "starting"
	statusRunning      status = "running"
	statusStopping     status = "stopping"
	statusOff          status = "off"
	statusDeleting     status = "deleting"
	statusMigrating    status = "migrating"
	statusRebuilding   status = "rebuilding"
	statusUnknown      status = "unknown"
)

// Families of primary IPs.
const (
	ipv4 = "ipv4"
	ipv6 = "ipv6"
)

// meta is what all objects of a project have.
type meta struct {
	ID      int64
	Name    string
	Labels  map[string]string
	Created time.Time
}

func (m *meta) base() *meta { return m }

type server struct {
	meta
	Status           status
	TypeID           int64
	LocationID       int64
	ImageID          int64
	PlacementGroup   int64
	DiskSize         int // GB
	ProtectDelete    bool
	ProtectRebuild   bool
	UserData         []byte
	PublicKeys       []string
	Booted           bool // it has a disk
	BootSerial       int  // counts its starts
	Rebooting        bool // it is to start again when it stops
	ShutdownReceived bool // a signal is on its way
	IgnoreShutdown   bool
	ShutdownTime     int64
	LockedUntil      time.Time
	GuestDown        bool   // the machine stopped since it was started last
	Before           status // what an action that may fail found
	// Removed is a server whose deletion is over but for the lag.
	Removed bool
}

type primaryIP struct {
	meta
	Type          string
	Address       netip.Addr // of an ipv6 the first of its /64
	LocationID    int64
	AutoDelete    bool
	ProtectDelete bool
	AssigneeID    int64 // 0: nobody
}

type sshKey struct {
	meta
	PublicKey   string
	Fingerprint string
}

type placementGroup struct {
	meta
}

// image is a system image or a snapshot.
type image struct {
	meta
	Type             string
	Status           string
	Description      string
	DiskSize         int
	Flavor           string
	Version          string
	Architecture     string
	ProtectDelete    bool
	CreatedFrom      int64
	CreatedFromName  string
	Announced        time.Time
	UnavailableAfter time.Time
}

type actionStatus string

const (
	actionRunning actionStatus = "running"
	actionSuccess actionStatus = "success"
	actionError   actionStatus = "error"
)

// resource is what an action works on.
type resource struct {
	ID   int64  `json:"id"`
	Type string `json:"type"`
}

type action struct {
	ID           int64
	Command      string
	Status       actionStatus
	Started      time.Time
	Finished     time.Time
	Latency      int64
	ErrorCode    string
	ErrorMessage string
	Resources    []resource
	Server       int64
	PrimaryIP    int64
	Image        int64
	ServerType   int64
	UpgradeDisk  bool
	// Next is the action that begins when this one ends well.
	Next int64
	// Waits is one that has not begun.
	Waits bool
	// Fault is how it ends otherwise than well; nil for an ordinary one.
	Fault *ActionFault
}

func (a *action) final() bool { return a.Status != actionRunning }
