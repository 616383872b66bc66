package vercel

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// observed is what a sandbox with its session and routes tells.
func observed(state api.SandboxState) backends.Observed {
	found := state.Sandbox
	seen := backends.Observed{
		Marks: marksOf(found), Name: found.Name, Status: statusOf(state.Session.Status),
		SessionID: state.Session.ID, CurrentSnapshotID: found.CurrentSnapshotID, Workspace: state.Session.Cwd,
		// Pinned to a digest by the platform, and so never what was asked for.
		ResolvedImage: cmp.Or(found.Image, found.Runtime),
		CreatedAt:     found.CreatedAt.Time,
		Spec: backends.Spec{
			CPUs: found.VCPUs, MemoryMiB: int64(found.Memory), Timeout: found.Timeout.Duration,
			Labels: labelsOf(found), Network: networkOf(found.NetworkPolicy), Retention: retentionOf(found),
			Vercel: &backends.VercelOptions{
				Region: cmp.Or(found.Region, capabilities().Defaults.Region), FailoverRegions: found.FailoverRegions,
			},
		},
	}
	seen.Unresumable = seen.Status == backends.StatusStopped && (!found.Persistent || found.CurrentSnapshotID == "")
	for _, route := range published(state.Routes) {
		if seen.Endpoints == nil {
			seen.Endpoints = map[string]string{}
		}
		seen.Endpoints[strconv.Itoa(int(route.Port))+"/tcp"] = route.URL
		seen.Spec.Ports = append(seen.Spec.Ports, backends.Port{Port: int(route.Port), Public: true})
	}
	slices.SortFunc(seen.Spec.Ports, func(a, b backends.Port) int { return cmp.Compare(a.Port, b.Port) })
	return seen
}

// published are the routes that somebody asked for.
func published(routes []api.Route) []api.Route {
	return slices.DeleteFunc(slices.Clone(routes), func(route api.Route) bool { return route.System })
}

// statusOf: what can run commands, or will in a moment, runs. A session that ends, or has ended in
// whatever way, leaves a sandbox that the next session goes on with.
func statusOf(status api.Status) backends.Status {
	if status == api.StatusRunning || status == api.StatusPending {
		return backends.StatusRunning
	}
	return backends.StatusStopped
}

// retentionOf is nil for a sandbox that keeps all of its snapshots for ever.
func retentionOf(found api.Sandbox) *backends.SnapshotRetention {
	var kept backends.SnapshotRetention
	if found.SnapshotExpiration != nil {
		kept.Expiration = found.SnapshotExpiration.Duration
	}
	if found.KeepLastSnapshots != nil {
		kept.KeepLast = int64(found.KeepLastSnapshots.Count)
	}
	if kept == (backends.SnapshotRetention{}) {
		return nil
	}
	return &kept
}
