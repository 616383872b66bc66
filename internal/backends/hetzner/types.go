package hetzner

import "time"

// Server is what we need to know of a server.
type Server struct {
	ID     int64
	Name   string
	Status ServerStatus
	Labels map[string]string
	// IPv4 is the public address and IPv4ID its primary IP, "" and 0 when there is none.
	IPv4   string
	IPv4ID int64
	// IPv6ID is the primary IPv6, 0 when there is none.
	IPv6ID               int64
	ServerType, Location string
	// Image is the name of the image, or its id in decimal where it has none; "" when the platform has
	// forgotten it. ImageID is 0 then.
	Image   string
	ImageID int64
	// Locked is true while an action of the platform runs on it.
	Locked bool
	// Protected is true when deletion protection is on.
	Protected bool
	CreatedAt time.Time
}

// ServerStatus is the platform's word for how a server stands.
type ServerStatus string

// The statuses of section 8.1.
const (
	ServerInitializing ServerStatus = "initializing"
	ServerStarting     ServerStatus = "starting"
	ServerRunning      ServerStatus = "running"
	ServerStopping     ServerStatus = "stopping"
	ServerOff          ServerStatus = "off"
	ServerDeleting     ServerStatus = "deleting"
	ServerMigrating    ServerStatus = "migrating"
	ServerRebuilding   ServerStatus = "rebuilding"
	ServerUnknown      ServerStatus = "unknown"
)

// PrimaryIP is what we need to know of a primary address.
type PrimaryIP struct {
	ID       int64
	Name     string
	IP       string
	Type     string // "ipv4" or "ipv6"
	Labels   map[string]string
	Location string
	// AssigneeID is what it is attached to, 0 when it is free; AssigneeType says what that is.
	AssigneeID   int64
	AssigneeType string
	AutoDelete   bool
	Protected    bool
	CreatedAt    time.Time
}

// SSHKey is a public key of the project.
type SSHKey struct {
	ID   int64
	Name string
	// Fingerprint is the MD5 of the key blob, lower-case hex pairs joined by colons (section 10).
	Fingerprint string
	PublicKey   string
	Labels      map[string]string
	CreatedAt   time.Time
}

// ServerRequest is what a new server is to be.
type ServerRequest struct {
	Name string
	// Names of the catalog. An image without a name, such as a snapshot, is given by its id in decimal.
	ServerType, Location, Image string
	KeyID                       int64
	PrimaryIPID                 int64
	UserData                    string
	// Secrets are what of UserData no error may quote.
	Secrets []string
	Labels  map[string]string
}

// Problem is a wish that the catalog does not have.
type Problem struct {
	// Attribute is the name of the attribute: "server_type", "location" or "image".
	Attribute string
	Detail    string
	// Warning is true for what still works: a type that is announced to go, or that is out of stock now.
	Warning bool
}
