package cloudhost

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

const (
	// Backend is the only platform of cloud hosts, and the backend of their records.
	Backend = "hetzner"
	// RecordKind is the kind of their records.
	RecordKind = "cloud_host"
)

// Status is how a host stands.
type Status string

// The statuses of a host.
const (
	StatusRunning  Status = "running"
	StatusStarting Status = "starting"
	StatusStopping Status = "stopping"
	// StatusSleeping: the server is off; its disk, address and keys are kept, and billed.
	StatusSleeping Status = "sleeping"
	// StatusMissing: a successful answer says that the recorded server is gone.
	StatusMissing Status = "missing"
	// StatusIncomplete: the host was never committed; an update resumes its creation.
	StatusIncomplete Status = "incomplete"
	// StatusInterrupted: a change was cut short; the next update finishes it.
	StatusInterrupted Status = "interrupted"
	// StatusDestroying: a purge was cut short; the next purge finishes it.
	StatusDestroying Status = "destroying"
	// StatusBusy: the platform does something to the server that we did not ask for: it migrates,
	// rebuilds or deletes it.
	StatusBusy Status = "busy"
	// StatusUnknown: the platform itself does not know.
	StatusUnknown Status = "unknown"
)

// The values of Request.DesiredState. The empty string leaves the run state alone.
const (
	DesiredRunning  = "running"
	DesiredSleeping = "sleeping"
)

// The values of Request.DockerPackages.
const (
	// PackagesDocker installs the engine from Docker's own repository.
	PackagesDocker = "docker"
	// PackagesDistribution installs the engine that the distribution has.
	PackagesDistribution = "distribution"
	// PackagesNone installs no engine.
	PackagesNone = "none"
)

// Request is what a create or update asks for.
type Request struct {
	// Name is a host name in the sense of [CheckName], unique for an owner in a project.
	Name string
	// ServerType, Location and Image are names of the catalog. They never change in the life of a host.
	ServerType, Location, Image string
	// DockerPackages is one of the constants above; used at creation only.
	DockerPackages string
	// AuthorizedKeys are further public keys that may log in as root, one OpenSSH line each. An update
	// replaces them on a running host over SSH; on a sleeping one, when it is woken next.
	AuthorizedKeys []string
	// Labels of the user, beside ours, on server, address and key.
	Labels map[string]string
	// IdleTimeout is metadata for whoever drives the host; 0 is off. Nobody here acts on it.
	IdleTimeout time.Duration
	// ExpiresAt refuses a create or wake once it has passed; zero is never.
	ExpiresAt time.Time
	// DesiredState is one of the constants above, or empty.
	DesiredState string
	// Settings are kept in the record and returned by reads, so that an import knows them.
	Settings json.RawMessage
}

// Host is how a host stands, by reads only.
type Host struct {
	// RecordID is the id of its record; it also stands among its labels.
	RecordID string
	Owner    string
	Name     string
	Status   Status
	// Attachment is what the record says now; the caller keeps it in private state. With a rotated token
	// it still names the earlier binding until an operation that writes has accepted the new one.
	Attachment sandbox.Attachment

	// Ids are 0 until the resource was allocated.
	ServerID, KeyID, PrimaryIPID int64
	// IPv4 is the address, "" until it was allocated.
	IPv4 string
	// HostKeyFingerprint is the pinned key as `ssh-keygen -l` prints it, "SHA256:…".
	HostKeyFingerprint string
	// SSHConfigPath is for `ssh -F`. The file is written by applies on this machine; a refresh elsewhere
	// names it without making it.
	SSHConfigPath string

	// Committed is false from before the first allocation until the host was ready once.
	Committed bool
	// Destroying is true from the first step of a purge until the record is gone.
	Destroying bool
	// CreatedAt is when the record was made.
	CreatedAt time.Time

	// ServerType, Location and Image as the platform tells them; of a missing host, as recorded.
	ServerType, Location, Image string
	// Labels of the user on the server; of a missing host, as recorded.
	Labels map[string]string
	// What only the record knows. Settings is empty when there is no record.
	DockerPackages string
	AuthorizedKeys []string
	IdleTimeout    time.Duration
	ExpiresAt      time.Time
	Settings       json.RawMessage

	// Recorded is false when the record is lost: then reads and plans work, all else is refused.
	Recorded bool
	// Deleted is true when this state's own purge was completed, but the answer never reached it.
	Deleted bool
	// TakenOver is true when another Terraform state has attached the host since.
	TakenOver bool
	// RebindPending is true when the host was read with a rotated token that no operation has accepted yet.
	RebindPending bool
}

// CreatedForStart is true until the first commit.
func (h Host) CreatedForStart() bool { return !h.Committed }

// ID is the id of the host in Terraform, `hetzner/<owner>/<name>`.
func (h Host) ID() string { return ID(h.Owner, h.Name) }

// ID returns the identity of a host, `hetzner/<owner>/<name>`.
func ID(owner, name string) string { return Backend + "/" + owner + "/" + name }

// ParseID splits an identity, or an import id `<owner>/<name>`, into owner and name.
func ParseID(id string) (owner, name string, err error) {
	rest := strings.TrimPrefix(id, Backend+"/")
	cut := strings.LastIndex(rest, "/")
	if cut <= 0 {
		return "", "", fmt.Errorf("%q is not the id of a cloud host: expected %s/<owner>/<name>", id, Backend)
	}
	owner, name = rest[:cut], rest[cut+1:]
	return owner, name, errors.Join(sandbox.CheckOwner(owner), CheckName(name))
}

// Result is how a host stands after a create or update.
type Result struct {
	Host Host
	// Reattached is true when a create found a host that was committed and took it over.
	Reattached bool
	// Resumed is true when a create or update finished what an earlier one had begun.
	Resumed bool
}

// Access is how to log in. It holds secrets: hand it to nothing that is stored.
type Access struct {
	// User and Address, with port 22.
	User, Address string
	// PrivateKey is in OpenSSH form, without a passphrase.
	PrivateKey string
	PublicKey  string
	// KnownHosts pins the host's key. During a rotation it has two lines.
	KnownHosts string
	// SSHConfig is the text of the file at SSHConfigPath, which may not be there on this machine.
	SSHConfig, SSHConfigPath string
	HostKeyFingerprint       string
}

// Orphan is a resource that carries the label of our owner and is on no record.
type Orphan struct {
	// Kind is "server", "primary_ip" or "ssh_key".
	Kind string
	ID   int64
	Name string
	// Record is the id that its label names; the record is gone.
	Record    string
	Labels    map[string]string
	CreatedAt time.Time
}

// Foresight is what the store knows of a name before anything is created.
type Foresight struct {
	// Exists is true when a committed record of ours has the name.
	Exists bool
	// Attached is true when a Terraform state holds it now.
	Attached bool
	// Different names what the host was made with when something else is wanted now: "server type cx23".
	Different string
	// OtherPlace is true when it lives under another endpoint or token.
	OtherPlace bool
}
