package api

import (
	"context"
	"net/http"
)

const (
	snapshotsPath = "/v2/sandboxes/snapshots"
	snapshotPath  = "/v2/sandboxes/snapshots/{id}"
	treePath      = "/v2/sandboxes/snapshots/tree"
)

// SnapshotStatus is the state of a snapshot. Only created ones can be used.
type SnapshotStatus string

// The states of snapshots; the last two never change again.
const (
	SnapshotCreated SnapshotStatus = "created"
	SnapshotDeleted SnapshotStatus = "deleted"
	SnapshotFailed  SnapshotStatus = "failed"
)

// Snapshot is a saved disk (section 5.4). It has no name and does not tell its sandbox:
// SourceSessionID and the filter of [Client.ListSnapshots] do.
type Snapshot struct {
	ID              string         `json:"id" wire:"id"`
	SourceSessionID string         `json:"sourceSessionId" wire:"required"`
	Region          string         `json:"region" wire:"required"`
	Regions         []string       `json:"regions"`
	Status          SnapshotStatus `json:"status" wire:"id"`
	SizeBytes       Int            `json:"sizeBytes" wire:"required"`
	CreatedAt       Time           `json:"createdAt" wire:"required"`
	UpdatedAt       Time           `json:"updatedAt" wire:"required"`
	// ExpiresAt is zero when the snapshot never expires. Each use moves it.
	ExpiresAt  Time `json:"expiresAt"`
	LastUsedAt Time `json:"lastUsedAt"`
	// CreationMethod is automatic or manual.
	CreationMethod string `json:"creationMethod"`
	ParentID       string `json:"parentId"`
}

type snapshotAnswer struct {
	Snapshot Snapshot `json:"snapshot" wire:"required"`
}

// GetSnapshot reads a snapshot. A deleted one is [backends.NotFound] or has the status deleted.
func (c *Client) GetSnapshot(ctx context.Context, id string) (Snapshot, error) {
	var answer snapshotAnswer
	err := c.do(ctx, get("read snapshot", id, snapshotPath, id), &answer)
	return answer.Snapshot, err
}

// DeleteSnapshot deletes a snapshot, even one that a sandbox would be resumed from: that sandbox
// cannot be resumed any more, so check first.
func (c *Client) DeleteSnapshot(ctx context.Context, id string) (Snapshot, error) {
	var answer snapshotAnswer
	err := c.do(ctx, change(http.MethodDelete, "delete snapshot", id, snapshotPath, id), &answer)
	return answer.Snapshot, err
}

// TreeNode is a snapshot with those of the same parent.
type TreeNode struct {
	Snapshot Snapshot   `json:"snapshot" wire:"required"`
	Siblings []Snapshot `json:"siblings" wire:"required"`
	// Count is a number in text.
	Count string `json:"count" wire:"required"`
}

// TreePage is one page of the ancestry of a snapshot.
type TreePage struct {
	Nodes  []TreeNode `json:"snapshots" wire:"required"`
	Anchor *TreeNode  `json:"anchor"`
	// Next is the snapshot that the next page starts at, empty on the last one.
	Next string `json:"-"`
}

// SnapshotTree reads one page of the ancestry that starts at a snapshot. Pass Next for the next
// page. pageSize 0 and an empty order leave both to the API.
func (c *Client) SnapshotTree(ctx context.Context, snapshotID, order string, size int) (TreePage, error) {
	var answer struct {
		TreePage
		Pagination pagination `json:"pagination" wire:"required"`
	}
	call := get("read snapshot tree", snapshotID, treePath).
		with("project", c.ProjectID()).with("snapshotId", snapshotID).
		with("limit", pageSize(size)).with("sortOrder", order)
	call.longest = longestPage
	if err := c.do(ctx, call, &answer); err != nil {
		return TreePage{}, err
	}
	if next := answer.Pagination.Next; next != nil {
		answer.Next = *next
	}
	return answer.TreePage, nil
}
