package vercel

import (
	"fmt"
	"maps"
	"slices"
)

// The shapes of answers. Absent members are left out and never null, but for the exit code of a
// command and the next page of a listing.

type sandboxView struct {
	Name               string            `json:"name"`
	Persistent         bool              `json:"persistent"`
	CurrentSessionID   string            `json:"currentSessionId"`
	Status             status            `json:"status"`
	CreatedAt          ms                `json:"createdAt"`
	UpdatedAt          ms                `json:"updatedAt"`
	StatusUpdatedAt    ms                `json:"statusUpdatedAt"`
	CurrentSnapshotID  string            `json:"currentSnapshotId,omitempty"`
	Region             string            `json:"region"`
	FailoverRegions    []string          `json:"failoverRegions,omitempty"`
	NetworkID          string            `json:"networkId,omitempty"`
	VCPUs              int               `json:"vcpus"`
	Memory             int               `json:"memory"`
	Runtime            string            `json:"runtime,omitempty"`
	Image              string            `json:"image,omitempty"`
	Timeout            int64             `json:"timeout"`
	NetworkPolicy      *policy           `json:"networkPolicy"`
	Tags               map[string]string `json:"tags,omitzero"`
	SnapshotExpiration *int64            `json:"snapshotExpiration,omitempty"`
	KeepLastSnapshots  *retention        `json:"keepLastSnapshots,omitempty"`
	ExpiresAt          ms                `json:"expiresAt,omitempty"`
	Cwd                string            `json:"cwd"`
	TotalEgressBytes   int64             `json:"totalEgressBytes"`
	TotalIngressBytes  int64             `json:"totalIngressBytes"`
	TotalActiveCPU     int64             `json:"totalActiveCpuDurationMs"`
	TotalDuration      int64             `json:"totalDurationMs"`
}

type sessionView struct {
	ID                string   `json:"id"`
	ProjectID         string   `json:"projectId"`
	SourceSandboxName string   `json:"sourceSandboxName"`
	Status            status   `json:"status"`
	Memory            int      `json:"memory"`
	VCPUs             int      `json:"vcpus"`
	Region            string   `json:"region"`
	Runtime           string   `json:"runtime,omitempty"`
	Timeout           int64    `json:"timeout"`
	RequestedAt       ms       `json:"requestedAt"`
	CreatedAt         ms       `json:"createdAt"`
	UpdatedAt         ms       `json:"updatedAt"`
	Cwd               string   `json:"cwd"`
	StartedAt         ms       `json:"startedAt,omitempty"`
	RequestedStopAt   ms       `json:"requestedStopAt,omitempty"`
	StoppedAt         ms       `json:"stoppedAt,omitempty"`
	SnapshottedAt     ms       `json:"snapshottedAt,omitempty"`
	Duration          *int64   `json:"duration,omitempty"`
	SourceSnapshotID  string   `json:"sourceSnapshotId,omitempty"`
	NetworkPolicy     *policy  `json:"networkPolicy"`
	ActiveCPU         *int64   `json:"activeCpuDurationMs,omitempty"`
	NetworkTransfer   *traffic `json:"networkTransfer,omitempty"`
}

type traffic struct {
	Ingress int64 `json:"ingress"`
	Egress  int64 `json:"egress"`
}

type routeView struct {
	URL       string `json:"url"`
	Subdomain string `json:"subdomain"`
	Port      int    `json:"port"`
}

type snapshotView struct {
	ID              string   `json:"id"`
	SourceSessionID string   `json:"sourceSessionId"`
	Region          string   `json:"region"`
	Regions         []string `json:"regions"`
	Status          string   `json:"status"`
	SizeBytes       int64    `json:"sizeBytes"`
	CreatedAt       ms       `json:"createdAt"`
	UpdatedAt       ms       `json:"updatedAt"`
	ExpiresAt       ms       `json:"expiresAt,omitempty"`
	LastUsedAt      ms       `json:"lastUsedAt,omitempty"`
	CreationMethod  string   `json:"creationMethod"`
	ParentID        string   `json:"parentId,omitempty"`
}

type commandView struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Args       []string `json:"args"`
	Cwd        string   `json:"cwd"`
	SessionID  string   `json:"sessionId"`
	ExitCode   *int     `json:"exitCode"`
	StartedAt  ms       `json:"startedAt"`
	DurationMs *int64   `json:"durationMs,omitempty"`
}

func (s *Simulator) viewSandbox(sb *sandbox) sandboxView {
	current := s.sessions[sb.CurrentSession]
	view := sandboxView{
		Name: sb.Name, Persistent: sb.Persistent, CurrentSessionID: sb.CurrentSession, Status: current.Status,
		CreatedAt: sb.CreatedAt, UpdatedAt: sb.UpdatedAt, StatusUpdatedAt: sb.StatusUpdatedAt, CurrentSnapshotID: sb.CurrentSnapshot,
		Region: sb.Region, FailoverRegions: sb.FailoverRegions, NetworkID: sb.NetworkID,
		VCPUs: sb.VCPUs, Memory: sb.VCPUs * memoryPerVCPU, Runtime: sb.Runtime, Image: sb.Image, Timeout: sb.Timeout,
		NetworkPolicy: sb.Policy, Tags: maps.Clone(sb.Tags), SnapshotExpiration: sb.SnapshotExpiration, KeepLastSnapshots: sb.KeepLast,
		Cwd: current.Cwd, TotalDuration: sb.EndedDuration,
	}
	if current.Status == statusRunning {
		view.ExpiresAt = current.deadline()
		view.TotalDuration += s.now() - current.StartedAt
	}
	return view
}

func (s *Simulator) viewSession(sn *session) sessionView {
	view := sessionView{
		ID: sn.ID, ProjectID: sn.Project, SourceSandboxName: sn.SandboxName, Status: sn.Status,
		Memory: sn.VCPUs * memoryPerVCPU, VCPUs: sn.VCPUs, Region: sn.Region, Runtime: sn.Runtime, Timeout: sn.Timeout,
		RequestedAt: sn.RequestedAt, CreatedAt: sn.CreatedAt, UpdatedAt: sn.UpdatedAt, Cwd: sn.Cwd, StartedAt: sn.StartedAt,
		RequestedStopAt: sn.RequestedStopAt, StoppedAt: sn.StoppedAt, SnapshottedAt: sn.SnapshottedAt,
		SourceSnapshotID: sn.SourceSnapshot, NetworkPolicy: sn.Policy,
	}
	if sn.Status == statusStopped {
		duration, nothing := sn.StoppedAt-sn.StartedAt, int64(0)
		view.Duration, view.ActiveCPU, view.NetworkTransfer = &duration, &nothing, &traffic{}
	}
	return view
}

func (s *Simulator) viewRoutes(sb *sandbox) []routeView {
	routes := []routeView{}
	for _, port := range slices.Sorted(slices.Values(sb.Ports)) {
		if sb.Subdomains == nil {
			sb.Subdomains = map[int]string{}
		}
		if sb.Subdomains[port] == "" {
			sb.Subdomains[port] = randomID("sb-")
		}
		subdomain := sb.Subdomains[port]
		routes = append(routes, routeView{URL: fmt.Sprintf("https://%s.vercel.run", subdomain), Subdomain: subdomain, Port: port})
	}
	return routes
}

func (s *Simulator) viewSnapshot(sp *snapshot) snapshotView {
	view := snapshotView{
		ID: sp.ID, SourceSessionID: sp.SourceSession, Region: sp.Region, Regions: []string{sp.Region}, Status: "created",
		SizeBytes: sp.Size, CreatedAt: sp.CreatedAt, UpdatedAt: sp.UpdatedAt, ExpiresAt: sp.expiresAt(), LastUsedAt: sp.LastUsedAt,
		CreationMethod: "manual", ParentID: sp.Parent,
	}
	if sp.Automatic {
		view.CreationMethod = "automatic"
	}
	if sp.Deleted {
		view.Status = "deleted"
	}
	return view
}
