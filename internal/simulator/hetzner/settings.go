package hetzner

import (
	"fmt"
	"slices"
)

// Settings choose between answers where nobody has seen what the service does, bound what there is,
// and slow down what may be slow. The zero value holds the likeliest answers. Durations are
// milliseconds.
type Settings struct {
	// Latency is how long the actions of a command run: "create_server", "start_server", … A command
	// that is not in it runs for 20 ms.
	Latency map[string]int64 `json:"latency,omitempty"`
	// LockWindow keeps a server locked for this long after its last action ended.
	LockWindow int64 `json:"lockWindow,omitempty"`
	// DeleteLag keeps the name of a deleted server taken, and its primary IPs assigned, for this long
	// after the action ended.
	DeleteLag int64 `json:"deleteLag,omitempty"`
	// DeletingGone answers 404 for a server while it is deleted, instead of the status deleting.
	DeletingGone bool `json:"deletingGone,omitempty"`
	// ListLag keeps new objects out of listings for this long. Reads by id find them at once.
	ListLag int64 `json:"listLag,omitempty"`
	// AutoDelete tells when an IP with auto_delete goes: with the end of the delete action (also when
	// empty), "before" it, or "after" it, by AutoDeleteLag.
	AutoDelete    string `json:"autoDelete,omitempty"`
	AutoDeleteLag int64  `json:"autoDeleteLag,omitempty"`

	// IgnoreShutdown makes all guests ignore the ACPI signal.
	IgnoreShutdown bool `json:"ignoreShutdown,omitempty"`
	// ShutdownTime passes between the signal and the moment when the guest takes it in.
	ShutdownTime int64 `json:"shutdownTime,omitempty"`

	// OutOfStock are the server types that cannot be had in a location now. An empty type or location
	// stands for all.
	OutOfStock []Offer `json:"outOfStock,omitempty"`
	// StaleStock still shows them as available, as the service may when it runs out.
	StaleStock bool `json:"staleStock,omitempty"`
	// Quotas bound how many objects there may be, by the name of the limit: server_limit,
	// primary_ip_limit, ssh_key_limit, image_limit, placement_group_limit.
	Quotas map[string]int `json:"quotas,omitempty"`

	// ReadOnly refuses writes, LegacyReadOnly with the pair of status and code from before 2026.
	ReadOnly       bool `json:"readOnly,omitempty"`
	LegacyReadOnly bool `json:"legacyReadOnly,omitempty"`
	// Revoked refuses the token.
	Revoked bool `json:"revoked,omitempty"`
	// RateLimit is the capacity of the bucket; 0 means 3600. RateRefill are the requests that come back
	// in a second; 0 means 1.
	RateLimit  int     `json:"rateLimit,omitempty"`
	RateRefill float64 `json:"rateRefill,omitempty"`

	// MaxPage is the largest page; 0 means 50. A smaller one also bounds pages that ask for nothing.
	MaxPage int `json:"maxPage,omitempty"`
	// LargeIDs gives new objects ids beyond 32 bits. Those of actions always are.
	LargeIDs bool `json:"largeIDs,omitempty"`
	// UnknownFields adds to all objects fields that no client knows.
	UnknownFields bool `json:"unknownFields,omitempty"`
	// RefuseDatacenter answers a request with the removed field datacenter with 422, instead of ignoring it.
	RefuseDatacenter bool `json:"refuseDatacenter,omitempty"`
	// AssigneeServer reports free primary IPs with the assignee_type of before August 2026.
	AssigneeServer bool `json:"assigneeServer,omitempty"`
}

// Offer is a server type in a location, both by name.
type Offer struct {
	ServerType string `json:"serverType,omitempty"`
	Location   string `json:"location,omitempty"`
}

// Values of [Settings.AutoDelete].
const (
	AutoDeleteBefore = "before"
	AutoDeleteAfter  = "after"
)

const (
	defaultLatency   = 20 // ms
	defaultPerPage   = 25
	defaultMaxPage   = 50
	defaultRateLimit = 3600
	defaultRefill    = 1
)

// limits are the names that Quotas may have.
var limits = []string{limitServers, limitPrimaryIPs, limitSSHKeys, limitImages, limitPlacementGroups}

const (
	limitServers         = "server_limit"
	limitPrimaryIPs      = "primary_ip_limit"
	limitSSHKeys         = "ssh_key_limit"
	limitImages          = "image_limit"
	limitPlacementGroups = "placement_group_limit"
)

func (s Settings) check() error {
	if !slices.Contains([]string{"", AutoDeleteBefore, AutoDeleteAfter}, s.AutoDelete) {
		return fmt.Errorf("unknown order of auto_delete %q", s.AutoDelete)
	}
	for command, latency := range s.Latency {
		if !slices.Contains(commands, command) {
			return fmt.Errorf("unknown command %q", command)
		}
		if latency < 0 {
			return fmt.Errorf("settings must not be negative")
		}
	}
	for name, most := range s.Quotas {
		if !slices.Contains(limits, name) {
			return fmt.Errorf("unknown limit %q", name)
		}
		if most < 0 {
			return fmt.Errorf("settings must not be negative")
		}
	}
	for _, offer := range s.OutOfStock {
		if offer.ServerType != "" && !slices.ContainsFunc(serverTypes, func(t serverType) bool { return t.Name == offer.ServerType }) {
			return fmt.Errorf("unknown server type %q", offer.ServerType)
		}
		if offer.Location != "" && !slices.ContainsFunc(locations, func(l location) bool { return l.Name == offer.Location }) {
			return fmt.Errorf("unknown location %q", offer.Location)
		}
	}
	if min(s.LockWindow, s.DeleteLag, s.ListLag, s.AutoDeleteLag, s.ShutdownTime) < 0 || s.RateLimit < 0 || s.RateRefill < 0 || s.MaxPage < 0 {
		return fmt.Errorf("settings must not be negative")
	}
	return nil
}

func (s Settings) latency(command string) int64 {
	if given, ok := s.Latency[command]; ok {
		return given
	}
	return defaultLatency
}

func (s Settings) outOfStock(serverType, location string) bool {
	return slices.ContainsFunc(s.OutOfStock, func(o Offer) bool {
		return (o.ServerType == "" || o.ServerType == serverType) && (o.Location == "" || o.Location == location)
	})
}

func (s Settings) maxPage() int {
	if s.MaxPage > 0 {
		return min(s.MaxPage, defaultMaxPage)
	}
	return defaultMaxPage
}

func (s Settings) rateLimit() int {
	if s.RateLimit > 0 {
		return s.RateLimit
	}
	return defaultRateLimit
}

func (s Settings) refill() float64 {
	if s.RateRefill > 0 {
		return s.RateRefill
	}
	return defaultRefill
}
