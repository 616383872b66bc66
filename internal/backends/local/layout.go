//go:build linux

package local

import (
	"path/filepath"
	"strings"
)

// Permissions of what this backend makes for itself.
const (
	directoryMode = 0o700
	fileMode      = 0o600
)

// Names inside a sandbox's folder.
const (
	recordFile   = "sandbox.json"
	secretsFile  = "secrets.json"
	workspaceDir = "workspace"
	homeDir      = "home"
	tmpDir       = "tmp"
	incomingDir  = "incoming" // files on their way into the workspace
	runsDir      = "runs"     // one entry for each command that runs
	runsLock     = "lock"     // inside runsDir
)

func (b *Backend) root() string         { return filepath.Join(b.config.DataDir, "local") }
func (b *Backend) idPath() string       { return filepath.Join(b.config.DataDir, "id") }
func (b *Backend) sandboxesDir() string { return filepath.Join(b.root(), "sandboxes") }
func (b *Backend) snapshotsDir() string { return filepath.Join(b.root(), "snapshots") }
func (b *Backend) stagingDir() string   { return filepath.Join(b.root(), "staging") }
func (b *Backend) trashDir() string     { return filepath.Join(b.root(), "trash") }
func (b *Backend) locksDir() string     { return filepath.Join(b.root(), "locks") }

func (b *Backend) sandboxDir(name string) string { return filepath.Join(b.sandboxesDir(), name) }

// The staging and trash names of a sandbox are fixed, because its lock is held while they are
// used. So whoever comes next finds what a killed process left, without searching.
func (b *Backend) sandboxStaging(name string) string { return filepath.Join(b.stagingDir(), name) }
func (b *Backend) sandboxTrash(name string) string   { return filepath.Join(b.trashDir(), name) }
func (b *Backend) archiveStaging(name string) string {
	return filepath.Join(b.stagingDir(), name+"@snapshot")
}

func (b *Backend) archivePath(id string) string {
	return filepath.Join(b.snapshotsDir(), id+".tar.zst")
}

func (b *Backend) snapshotRecordPath(id string) string {
	return filepath.Join(b.snapshotsDir(), id+".json")
}

// relative shortens a path for effects and messages.
func (b *Backend) relative(path string) string {
	if rest, found := strings.CutPrefix(path, b.config.DataDir+"/"); found {
		return rest
	}
	return path
}
