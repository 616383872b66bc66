package basesnapshot

import (
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// hashShown is how many digits of a hash stand in names.
const hashShown = 12

// seedName names the sandbox that a manifest is baked in. It follows from the hash, so that a second
// bake of the same manifest cannot go unnoticed even where the lock is not shared.
func (m *Manager) seedName(hash string) string { return m.NamePrefix + "-bake-" + hash[:hashShown] }

// verifyName names the sandbox that the snapshot is tried out in, by the name of its seed: the prefix
// may be another one by now.
func verifyName(seed, hash string) string {
	return strings.TrimSuffix(seed, "-bake-"+hash[:hashShown]) + "-verify-" + hash[:hashShown]
}

// snapshotName is different for each bake: a new one lies beside the old one.
func (m *Manager) snapshotName(hash string) string {
	return m.NamePrefix + "-base-" + hash[:hashShown] + "-" + sandbox.NewToken()[:8]
}

// boxMarks are the marks of a sandbox of a bake.
func boxMarks(entry store.Snapshot, name string) backends.Marks {
	return backends.Marks{Owner: entry.Owner, Name: name, Kind: backends.Session, Record: entry.Lane}
}

func seedMarks(entry store.Snapshot) backends.Marks { return boxMarks(entry, entry.Seed) }

func verifyMarks(entry store.Snapshot) backends.Marks {
	return boxMarks(entry, verifyName(entry.Seed, entry.ManifestHash))
}
