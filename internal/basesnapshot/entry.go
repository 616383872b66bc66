package basesnapshot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Entry is one bake in the registry.
type Entry struct {
	ID           string
	Version      string
	ManifestHash string
	// Manifest is what was baked, without the content of files.
	Manifest Manifest
	// SnapshotID is the backend's own.
	SnapshotID string
	// PreviousSnapshotID is what the lane pointed at before it pointed here, "" when at nothing.
	PreviousSnapshotID string
	// Status is one of the store's: baking, ready, failed or retired.
	Status  string
	Current bool
	// Seed is the name of the sandbox that it was baked in.
	Seed string
	// SourceDigest is what the source meant then, as the backend tells it.
	SourceDigest string
	SizeBytes    int64
	LastError    string
	CreatedAt    time.Time
	// Zero times mean: not yet, or never.
	ReadyAt   time.Time
	RetiredAt time.Time
	ExpiresAt time.Time
}

// details is what Snapshot.Manifest holds as JSON.
type details struct {
	Manifest Manifest `json:"manifest"`
	// The names of the variables alone.
	Environment []string `json:"environment,omitempty"`
	Allowlist   []string `json:"environment_allowlist,omitempty"`
	// Checks are those that it passed.
	Checks []SmokeCheck `json:"smoke_checks,omitempty"`
	// Attempt is that of the intent it was baked under.
	Attempt string `json:"attempt,omitempty"`
	// Previous is the entry that was current before this one became it.
	Previous string `json:"previous_entry,omitempty"`
	// Leftover: not everything of a failed bake could be removed.
	Leftover bool `json:"leftover,omitempty"`
}

func detailsOf(entry store.Snapshot) (details, error) {
	var d details
	if len(entry.Manifest) == 0 {
		return d, nil
	}
	if err := json.Unmarshal(entry.Manifest, &d); err != nil {
		return d, fmt.Errorf("the entry %s of the registry of base snapshots cannot be read: %w", entry.ID, err)
	}
	return d, nil
}

// saved tells whether an entry stands for a finished snapshot.
func saved(entry store.Snapshot) bool {
	return entry.SnapshotID != "" && (entry.Status == store.SnapshotReady || entry.Status == store.SnapshotRetired)
}

func expired(entry store.Snapshot, at time.Time) bool {
	return !entry.ExpiresAt.IsZero() && !at.Before(entry.ExpiresAt)
}

// expiry is when a snapshot that became ready at a time expires; zero is never.
func expiry(ready time.Time, expiration time.Duration) time.Time {
	if expiration == 0 {
		return time.Time{}
	}
	return ready.Add(expiration)
}

// usable tells whether a finished snapshot may be used for a request of that expiration.
func usable(entry store.Snapshot, expiration time.Duration, at time.Time) bool {
	return saved(entry) && !expired(entry, at) && (expiration == 0 || at.Before(expiry(entry.ReadyAt, expiration)))
}

// currentOf returns the current one of a lane's entries.
func currentOf(entries []store.Snapshot) *store.Snapshot {
	i := slices.IndexFunc(entries, func(entry store.Snapshot) bool { return entry.Current })
	if i < 0 {
		return nil
	}
	return &entries[i]
}

// formerOf returns the finished snapshots of a lane besides the current one, in the order in which
// one would go back to them: what the lane pointed at last, then the newest.
func formerOf(entries []store.Snapshot) ([]store.Snapshot, error) {
	last := ""
	if current := currentOf(entries); current != nil {
		known, err := detailsOf(*current)
		if err != nil {
			return nil, err
		}
		last = known.Previous
	}
	former := slices.DeleteFunc(slices.Clone(entries), func(entry store.Snapshot) bool { return entry.Current || !saved(entry) })
	slices.SortStableFunc(former, func(a, b store.Snapshot) int {
		if (a.ID == last) != (b.ID == last) {
			if a.ID == last {
				return -1
			}
			return 1
		}
		return cmp.Or(b.ReadyAt.Compare(a.ReadyAt), cmp.Compare(a.ID, b.ID))
	})
	return former, nil
}

// history turns the entries of a lane into those that are shown.
func history(entries []store.Snapshot) ([]Entry, error) {
	byID := map[string]store.Snapshot{}
	for _, entry := range entries {
		byID[entry.ID] = entry
	}
	all := make([]Entry, 0, len(entries))
	for _, entry := range entries {
		known, err := detailsOf(entry)
		if err != nil {
			return nil, err
		}
		shown := Entry{
			ID: entry.ID, Version: entry.Version, ManifestHash: entry.ManifestHash, Manifest: known.Manifest,
			PreviousSnapshotID: byID[known.Previous].SnapshotID, Status: entry.Status, Current: entry.Current, Seed: entry.Seed,
			SourceDigest: entry.SourceDigest, SizeBytes: entry.SizeBytes, LastError: entry.LastError,
			CreatedAt: entry.CreatedAt, ReadyAt: entry.ReadyAt, RetiredAt: entry.RetiredAt, ExpiresAt: entry.ExpiresAt,
		}
		if saved(entry) {
			shown.SnapshotID = entry.SnapshotID // an unfinished one must not be used by its id
		}
		all = append(all, shown)
	}
	return all, nil
}

// standing is a lane's entries as they are shown.
type standing struct {
	current, previous *Entry
	history           []Entry
}

func standingOf(entries []store.Snapshot) (standing, error) {
	var s standing
	former, err := formerOf(entries)
	if err != nil {
		return s, err
	}
	if s.history, err = history(entries); err != nil {
		return s, err
	}
	for i := range s.history {
		if s.history[i].Current {
			s.current = &s.history[i]
		}
		if len(former) > 0 && s.history[i].ID == former[0].ID {
			s.previous = &s.history[i]
		}
	}
	return s, nil
}
