package vercel

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
)

// usable returns a snapshot that a session can begin at. The mutex is held.
func (s *Simulator) usable(id, project, region string) (*snapshot, error) {
	sp := s.snapshots[id]
	if sp == nil || sp.Project != project || sp.Deleted || sp.expired(s.now()) {
		return nil, snapshotGone(id)
	}
	if sp.Region != region {
		return nil, fail(s.settings.regionMismatch(), codeRegionMismatch, "The snapshot is in %s and the sandbox in %s.", sp.Region, region)
	}
	return sp, nil
}

// keep makes a snapshot of the disk of a session that ends, makes it the current one and applies
// retention. It returns nil when the disk cannot be moved. The mutex is held.
func (s *Simulator) keep(sb *sandbox, sn *session, how ending) *snapshot {
	now := s.now()
	sp := &snapshot{
		Serial: s.nextSerial(), ID: randomID("snap_"), SandboxUID: sb.UID, SandboxName: sb.Name, SourceSession: sn.ID,
		Project: sb.Project, Region: sn.Region, CreatedAt: now, UpdatedAt: now, Expiration: sb.expiration(),
		Automatic: how.automatic, Parent: sb.CurrentSnapshot, Runtime: sb.Runtime, Image: sb.Image,
	}
	switch {
	case how.expiration != nil:
		sp.Expiration = *how.expiration
	case how.fallback != 0 && sb.SnapshotExpiration == nil:
		sp.Expiration = how.fallback
	}
	var err error
	if sp.Size, err = s.keepDisk(sn.ID, sp.ID); err != nil {
		return nil
	}
	s.snapshots[sp.ID] = sp
	sb.CurrentSnapshot, sb.UpdatedAt = sp.ID, now
	s.retain(sb, how)
	return sp
}

// retain applies the policy for the last snapshots of a sandbox. The mutex is held.
func (s *Simulator) retain(sb *sandbox, how ending) {
	if sb.KeepLast == nil {
		return
	}
	for i, sp := range s.snapshotsOf(sb.UID) {
		switch {
		case i >= sb.KeepLast.Count && sb.KeepLast.DeleteEvicted:
			s.erase(sp)
		case i >= sb.KeepLast.Count:
			sp.Expiration = defaultExpiry
		case i == 0 && how.expiration != nil: // asked for with a word of its own
		case sb.KeepLast.Expiration != nil:
			sp.Expiration = *sb.KeepLast.Expiration
		case sb.SnapshotExpiration != nil:
			sp.Expiration = *sb.SnapshotExpiration
		}
	}
}

// snapshotsOf returns the living snapshots that a sandbox made, newest first. The mutex is held.
func (s *Simulator) snapshotsOf(uid string) []*snapshot {
	var own []*snapshot
	for _, sp := range s.snapshots {
		if sp.SandboxUID == uid && !sp.Deleted {
			own = append(own, sp)
		}
	}
	slices.SortFunc(own, func(a, b *snapshot) int { return cmp.Compare(b.Serial, a.Serial) })
	return own
}

// erase leaves a tombstone. The mutex is held.
func (s *Simulator) erase(sp *snapshot) {
	sp.Deleted, sp.UpdatedAt = true, s.now()
	if err := removeDisk(s.snapshotDisk(sp.ID)); err != nil {
		s.saveError = err
	}
}

// deleteOrphans erases the snapshots of a deleted sandbox that no other one needs. The mutex is held.
func (s *Simulator) deleteOrphans(uid string) {
	for _, sp := range s.snapshotsOf(uid) {
		if !slices.ContainsFunc(s.sandboxes, func(sb *sandbox) bool { return sb.CurrentSnapshot == sp.ID }) {
			s.erase(sp)
		}
	}
	s.save()
}

type snapshotAnswer struct {
	Snapshot snapshotView `json:"snapshot"`
}

// snapshot returns the one that the path names, with the mutex held unless there is an error.
func (s *Simulator) snapshot(r *http.Request) (*snapshot, error) {
	s.mutex.Lock()
	sp := s.snapshots[r.PathValue("snapshot")]
	if sp == nil {
		s.mutex.Unlock()
		return nil, notFound("Snapshot")
	}
	return sp, nil
}

func (s *Simulator) getSnapshot(w http.ResponseWriter, r *http.Request) error {
	sp, err := s.snapshot(r)
	if err != nil {
		return err
	}
	defer s.mutex.Unlock()
	writeJSON(w, http.StatusOK, snapshotAnswer{s.viewSnapshot(sp)})
	return nil
}

// deleteSnapshot deletes also what a sandbox would resume from, which then cannot be resumed.
func (s *Simulator) deleteSnapshot(w http.ResponseWriter, r *http.Request) error {
	sp, err := s.snapshot(r)
	if err != nil {
		return err
	}
	defer s.mutex.Unlock()
	if sp.Deleted {
		return notFound("Snapshot")
	}
	s.erase(sp)
	s.save()
	writeJSON(w, http.StatusOK, snapshotAnswer{s.viewSnapshot(sp)})
	return nil
}

type treeNode struct {
	Snapshot snapshotView   `json:"snapshot"`
	Siblings []snapshotView `json:"siblings"`
	Count    string         `json:"count"`
}

// snapshotTree lists a snapshot and its ancestors, each with its siblings.
func (s *Simulator) snapshotTree(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	project, err := s.project(query.Get("project"), "project")
	if err != nil {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	limit, err := pageLimit(query, s.settings)
	if err != nil {
		return err
	}
	if query.Get("snapshotId") == "" {
		return badRequest("should have required property `snapshotId`")
	}
	current := s.snapshots[query.Get("snapshotId")]
	if current == nil || current.Project != project {
		return notFound("Snapshot")
	}
	nodes := []treeNode{}
	for current != nil && len(nodes) < limit {
		nodes = append(nodes, s.treeNode(current))
		current = s.snapshots[current.Parent]
	}
	page := pagination{Count: len(nodes)}
	if current != nil {
		page.Next = &current.ID
	}
	if query.Get("sortOrder") == "asc" {
		slices.Reverse(nodes)
	}
	writeJSON(w, http.StatusOK, struct {
		Snapshots  []treeNode `json:"snapshots"`
		Pagination pagination `json:"pagination"`
	}{nodes, page})
	return nil
}

// treeNode adds the siblings of a snapshot. The mutex is held.
func (s *Simulator) treeNode(sp *snapshot) treeNode {
	node := treeNode{Snapshot: s.viewSnapshot(sp), Siblings: []snapshotView{}}
	if sp.Parent != "" {
		for _, other := range s.sortedSnapshots() {
			if other != sp && other.Parent == sp.Parent {
				node.Siblings = append(node.Siblings, s.viewSnapshot(other))
			}
		}
	}
	node.Count = strconv.Itoa(1 + len(node.Siblings))
	return node
}

// sortedSnapshots returns all, oldest first. The mutex is held.
func (s *Simulator) sortedSnapshots() []*snapshot {
	all := make([]*snapshot, 0, len(s.snapshots))
	for _, sp := range s.snapshots {
		all = append(all, sp)
	}
	slices.SortFunc(all, func(a, b *snapshot) int { return cmp.Compare(a.Serial, b.Serial) })
	return all
}
