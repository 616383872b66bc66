package api

import (
	"regexp"
	"slices"
)

// CreateRequest describes a new sandbox (section 6.1). Zero members are not sent, so that the API's
// default applies; since defaults changed between versions, callers should send what they rely on.
type CreateRequest struct {
	// Name is required here: without one, a create whose reply is lost could not be found again.
	Name       string     `json:"name"`
	Source     *Source    `json:"source,omitempty"`
	Ports      []int      `json:"ports"` // always sent
	Timeout    *Duration  `json:"timeout,omitempty"`
	Resources  *Resources `json:"resources,omitempty"`
	Runtime    string     `json:"runtime,omitempty"` // chooses the older endpoint; not with Image or a snapshot
	Image      string     `json:"image,omitempty"`   // not with Runtime or a snapshot
	Persistent *bool      `json:"persistent,omitempty"`
	// NetworkPolicy is written in the form that the client is configured for.
	NetworkPolicy      *NetworkPolicy    `json:"-"`
	NetworkID          string            `json:"networkId,omitempty"`
	Env                map[string]string `json:"env,omitempty"`
	Tags               map[string]string `json:"tags,omitempty"`
	SnapshotExpiration *Duration         `json:"snapshotExpiration,omitempty"` // 0: never
	KeepLastSnapshots  *Retention        `json:"keepLastSnapshots,omitempty"`
	Mounts             map[string]Mount  `json:"mounts,omitempty"` // by absolute path
	Region             string            `json:"region,omitempty"`
	FailoverRegions    []string          `json:"failoverRegions,omitzero"` // empty and not nil: none, against a default of the project
}

// ForkRequest describes what differs in a copy of a sandbox (section 6.6). Everything else is
// copied, the environment included. Only Name is required; members that are nil or empty are not sent.
type ForkRequest struct {
	Name               string            `json:"name"`
	Ports              []int             `json:"ports,omitzero"`
	Timeout            *Duration         `json:"timeout,omitempty"`
	Resources          *Resources        `json:"resources,omitempty"`
	Image              string            `json:"image,omitempty"`
	Persistent         *bool             `json:"persistent,omitempty"`
	NetworkPolicy      *NetworkPolicy    `json:"-"`
	NetworkID          string            `json:"networkId,omitempty"`
	Env                map[string]string `json:"env,omitzero"`
	Tags               map[string]string `json:"tags,omitzero"`
	SnapshotExpiration *Duration         `json:"snapshotExpiration,omitempty"`
	KeepLastSnapshots  *Retention        `json:"keepLastSnapshots,omitempty"`
	Mounts             map[string]Mount  `json:"mounts,omitzero"`
	Region             string            `json:"region,omitempty"`
	FailoverRegions    []string          `json:"failoverRegions,omitzero"`
}

// UpdateRequest changes a sandbox (section 6.4). Members that are nil or empty text stay as they
// are; maps and lists that are not nil replace the old value as a whole, empty ones clear it.
//
// Ports change at once. Timeout and NetworkPolicy are stored for later sessions; a running one needs
// [Client.ExtendTimeout] and [Client.SetNetworkPolicy], too. All others apply to the next session.
type UpdateRequest struct {
	Persistent         *bool             `json:"persistent,omitempty"`
	Resources          *Resources        `json:"resources,omitempty"`
	Timeout            *Duration         `json:"timeout,omitempty"`
	NetworkPolicy      *NetworkPolicy    `json:"-"`
	NetworkID          string            `json:"networkId,omitempty"`
	Env                map[string]string `json:"env,omitzero"` // documented, but not known from the SDK
	Tags               map[string]string `json:"tags,omitzero"`
	Ports              []int             `json:"ports,omitzero"`
	SnapshotExpiration *Duration         `json:"snapshotExpiration,omitempty"`
	// KeepLastSnapshots sets the retention; RemoveKeepLast removes it and wins.
	KeepLastSnapshots *Retention `json:"-"`
	RemoveKeepLast    bool       `json:"-"`
	// CurrentSnapshotID rolls back: the snapshot must be usable and of the same project.
	CurrentSnapshotID string           `json:"currentSnapshotId,omitempty"`
	Region            string           `json:"region,omitempty"`
	FailoverRegions   []string         `json:"failoverRegions,omitzero"`
	Mounts            map[string]Mount `json:"mounts,omitzero"`
}

// Resources of a sandbox. The API takes 1 or an even number of vCPUs, with 2,048 MiB each.
type Resources struct {
	VCPUs  int `json:"vcpus"`
	Memory int `json:"memory,omitempty"` // MiB
}

// Source is what a new sandbox starts from. Make it with [FromSnapshot], [FromGit] or [FromTarball].
type Source struct {
	Type       string `json:"type"`
	SnapshotID string `json:"snapshotId,omitempty"`
	URL        string `json:"url,omitempty"`
	Revision   string `json:"revision,omitempty"`
	Depth      int    `json:"depth,omitempty"`
	// Username and Password of a Git server come together.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
}

const sourceSnapshot = "snapshot"

// FromSnapshot starts from a snapshot. No configuration of the sandbox it was taken of comes along.
func FromSnapshot(id string) *Source { return &Source{Type: sourceSnapshot, SnapshotID: id} }

// FromGit starts from a clone. revision may be empty.
func FromGit(url, revision string) *Source { return &Source{Type: "git", URL: url, Revision: revision} }

// FromTarball starts from an unpacked .tar.gz.
func FromTarball(url string) *Source { return &Source{Type: "tarball", URL: url} }

// Retention says which snapshots of a sandbox stay.
type Retention struct {
	Count Int `json:"count"`
	// Expiration of the kept ones; nil: the sandbox's.
	Expiration *Duration `json:"expiration,omitempty"`
	// DeleteEvicted deletes the others at once; nil: the API's default, true.
	DeleteEvicted *bool `json:"deleteEvicted,omitempty"`
}

// Mount is a drive in a sandbox.
type Mount struct {
	Drive string `json:"drive"`
	Mode  string `json:"mode"` // read-write, snapshot; read-only in old answers
}

// usableName is the API's rule for names (section 6.1).
var usableName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

// reservedNames are other endpoints where a name would stand in a path (section 6).
var reservedNames = []string{"sessions", "snapshots", "drives"}

// checkName refuses what would not be a name in a path.
func checkName(operation, name string) error {
	if !usableName.MatchString(name) || slices.Contains(reservedNames, name) {
		return invalid(operation, "name", "A name has 1 to 128 letters, digits, hyphens and underscores, and is none of sessions, snapshots, drives.", "Choose another name.")
	}
	return nil
}

// check refuses combinations that the API rejects, or worse, restores something else from.
func (r CreateRequest) check(operation string) error {
	if r.Source != nil && r.Source.Type == sourceSnapshot && (r.Runtime != "" || r.Image != "") {
		return invalid(operation, "source", "A sandbox from a snapshot takes neither a runtime nor an image.", "Leave them out.")
	}
	if r.Runtime != "" && r.Image != "" {
		return invalid(operation, "source", "Runtime and image exclude each other.", "Leave one out.")
	}
	return checkName(operation, r.Name)
}
