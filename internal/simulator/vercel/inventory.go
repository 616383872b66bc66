package vercel

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Inventory is what there is, for assertions. Objects stand in the order in which they were made.
type Inventory struct {
	Sandboxes []SandboxEntry  `json:"sandboxes"`
	Sessions  []SessionEntry  `json:"sessions"`
	Snapshots []SnapshotEntry `json:"snapshots"`
	// SessionsMade counts all sessions there ever were, also those of deleted sandboxes.
	SessionsMade int `json:"sessionsMade"`
}

// SandboxEntry is a sandbox. What the service never shows is here, too.
type SandboxEntry struct {
	Project    string            `json:"project"`
	UID        string            `json:"uid"` // another one for each sandbox of a name
	Name       string            `json:"name"`
	Status     string            `json:"status"`
	Persistent bool              `json:"persistent"`
	Session    string            `json:"session"`
	Snapshot   string            `json:"snapshot,omitempty"`
	Tags       map[string]string `json:"tags,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	Source     string            `json:"source,omitempty"` // the URL of a git or tarball source
}

// SessionEntry is a session of a sandbox that still exists.
type SessionEntry struct {
	ID       string `json:"id"`
	Sandbox  string `json:"sandbox"`
	Status   string `json:"status"`
	Commands int    `json:"commands"`
}

// SnapshotEntry is a snapshot, or the tombstone of one.
type SnapshotEntry struct {
	ID        string `json:"id"`
	Sandbox   string `json:"sandbox"`
	Session   string `json:"session"`
	Deleted   bool   `json:"deleted,omitempty"`
	Automatic bool   `json:"automatic,omitempty"`
	ExpiresAt int64  `json:"expiresAt,omitempty"` // ms since the epoch; 0 is never
}

// Inventory returns what there is now.
func (s *Simulator) Inventory() Inventory {
	_ = s.tidy() // requests tell
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all := Inventory{Sandboxes: []SandboxEntry{}, Sessions: []SessionEntry{}, Snapshots: []SnapshotEntry{}, SessionsMade: s.sessionsMade}
	for _, sb := range s.sandboxes {
		all.Sandboxes = append(all.Sandboxes, SandboxEntry{
			Project: sb.Project, UID: sb.UID, Name: sb.Name, Status: string(s.sessions[sb.CurrentSession].Status), Persistent: sb.Persistent,
			Session: sb.CurrentSession, Snapshot: sb.CurrentSnapshot, Tags: sb.Tags, Env: sb.Env, Source: sb.SourceURL,
		})
	}
	for _, sn := range s.sortedSessions() {
		all.Sessions = append(all.Sessions, SessionEntry{ID: sn.ID, Sandbox: sn.SandboxName, Status: string(sn.Status), Commands: len(sn.Commands)})
	}
	for _, sp := range s.sortedSnapshots() {
		all.Snapshots = append(all.Snapshots, SnapshotEntry{
			ID: sp.ID, Sandbox: sp.SandboxName, Session: sp.SourceSession, Deleted: sp.Deleted, Automatic: sp.Automatic, ExpiresAt: sp.expiresAt(),
		})
	}
	return all
}

// SnapshotDisk is the folder that has the files of a snapshot, and nobody may write to.
func (s *Simulator) SnapshotDisk(id string) string { return s.snapshotDisk(id) }

// WorkspaceFile reads a file below the working directory of a sandbox, of whatever project, from the disk of
// its session or, when that has ended, from the one that the next session begins with. No session is made.
// The error is [fs.ErrNotExist] when there is no such sandbox or file.
func (s *Simulator) WorkspaceFile(name, file string) ([]byte, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, sb := range s.sandboxes {
		if sb.Name != name {
			continue
		}
		disk := s.sessionDisk(sb.CurrentSession)
		if s.sessions[sb.CurrentSession].Status.ended() {
			disk = s.snapshotDisk(sb.CurrentSnapshot)
		}
		root, err := os.OpenRoot(filepath.Join(disk, diskWork))
		if err != nil {
			return nil, err
		}
		content, err := root.ReadFile(file)
		return content, errors.Join(err, root.Close())
	}
	return nil, fs.ErrNotExist
}

// sortedSessions returns all, oldest first. The mutex is held.
func (s *Simulator) sortedSessions() []*session {
	all := make([]*session, 0, len(s.sessions))
	for _, sn := range s.sessions {
		all = append(all, sn)
	}
	slices.SortFunc(all, func(a, b *session) int { return cmp.Compare(a.Serial, b.Serial) })
	return all
}

// ExpireSnapshot lets a snapshot expire now.
func (s *Simulator) ExpireSnapshot(id string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	sp := s.snapshots[id]
	if sp == nil {
		return fmt.Errorf("there is no snapshot %q", id)
	}
	if !sp.Deleted {
		s.erase(sp)
		s.save()
	}
	return nil
}
