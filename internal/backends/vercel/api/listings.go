package api

import (
	"context"
	"iter"
)

// Orders of listings by time. Empty means [NewestFirst].
const (
	NewestFirst = "desc"
	OldestFirst = "asc"
)

// Keys that sandboxes are sorted by.
const (
	SortByCreation = "createdAt"
	SortByName     = "name"
	SortByStatus   = "statusUpdatedAt"
	SortBySnapshot = "currentSnapshotId"
)

// SandboxFilter narrows a listing of sandboxes (section 6.3). Zero members are not sent.
type SandboxFilter struct {
	SortBy    string
	SortOrder string
	// NamePrefix needs SortBy to be [SortByName]; it is set when SortBy is empty.
	NamePrefix string
	// Status is running, stopping or stopped; SortBy must be [SortByCreation] or empty.
	Status Status
	// Tag and TagValue are one tag; the API filters by one only.
	Tag, TagValue string
	// PageSize is how many a request returns; 0 leaves it to the API.
	PageSize int
}

// ListSandboxes reads all sandboxes of the project, page by page, and resumes none. A listing
// without a sandbox does not prove that it is gone: [Client.GetSandbox] does.
func (c *Client) ListSandboxes(ctx context.Context, filter SandboxFilter) iter.Seq2[Sandbox, error] {
	if filter.NamePrefix != "" && filter.SortBy == "" {
		filter.SortBy = SortByName
	}
	return pages[Sandbox](ctx, c, func() (call, error) {
		const operation = "list sandboxes"
		if filter.NamePrefix != "" && filter.SortBy != SortByName {
			return call{}, invalid(operation, "sort_by", "A name prefix needs the listing sorted by name.", "")
		}
		if filter.Status != "" && filter.SortBy != "" && filter.SortBy != SortByCreation {
			return call{}, invalid(operation, "sort_by", "A status needs the listing sorted by creation.", "")
		}
		tag := ""
		if filter.Tag != "" {
			tag = filter.Tag + ":" + filter.TagValue
		}
		return get(operation, "", sandboxesPath).
			with("project", c.ProjectID()).with("limit", pageSize(filter.PageSize)).
			with("sortBy", filter.SortBy).with("sortOrder", filter.SortOrder).
			with("namePrefix", filter.NamePrefix).with("status", string(filter.Status)).
			with("tags", tag), nil
	}, "sandboxes")
}

// ListFilter narrows a listing of sessions or snapshots. Zero members are not sent.
type ListFilter struct {
	// Sandbox is the name of the sandbox that they belong to.
	Sandbox   string
	SortOrder string
	PageSize  int
}

func (c *Client) listing(operation, template string, filter ListFilter) func() (call, error) {
	return func() (call, error) {
		return get(operation, filter.Sandbox, template).
			with("project", c.ProjectID()).with("name", filter.Sandbox).
			with("limit", pageSize(filter.PageSize)).with("sortOrder", filter.SortOrder), nil
	}
}

// ListSessions reads the sessions of the project or of one sandbox, ended ones too.
func (c *Client) ListSessions(ctx context.Context, filter ListFilter) iter.Seq2[Session, error] {
	return pages[Session](ctx, c, c.listing("list sessions", sessionsPath, filter), "sessions")
}

// ListSnapshots reads the snapshots of the project or of one sandbox. Deleted ones may be among them.
func (c *Client) ListSnapshots(ctx context.Context, filter ListFilter) iter.Seq2[Snapshot, error] {
	return pages[Snapshot](ctx, c, c.listing("list snapshots", snapshotsPath, filter), "snapshots")
}
