package basesnapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// hashShown is how many digits of a hash stand in names.
const hashShown = 12

// seedMark stands in the names of seeds, before the digits.
const seedMark = "-bake-"

// seedName names the sandbox that a manifest is baked in. It follows from owner and hash, so that a
// second bake of the same manifest cannot go unnoticed even where the lock is not shared, and another
// owner at the same backend is in nobody's way.
func (m *Manager) seedName(owner, hash string) string {
	digest := sha256.Sum256([]byte(owner + "\x00" + hash))
	return m.NamePrefix + seedMark + hex.EncodeToString(digest[:])[:hashShown]
}

// verifyName names the sandbox that the snapshot is tried out in, by the name of its seed: the prefix
// may be another one by now.
func verifyName(seed string) string {
	at := strings.LastIndex(seed, seedMark)
	if at < 0 {
		return seed + "-verify"
	}
	return seed[:at] + "-verify-" + seed[at+len(seedMark):]
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
	return boxMarks(entry, verifyName(entry.Seed))
}
