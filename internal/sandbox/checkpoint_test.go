package sandbox

import (
	"slices"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func TestSurplus(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	aged := func(id string, age time.Duration) backends.Snapshot {
		return backends.Snapshot{ID: id, CreatedAt: now.Add(-age)}
	}
	all := []backends.Snapshot{aged("c", 2*time.Hour), aged("new", 0), aged("a", 48*time.Hour), aged("b", 24*time.Hour)}
	for _, test := range []struct {
		name      string
		snapshots []backends.Snapshot
		retention Retention
		want      []string
	}{
		{"nothing asked for", all, Retention{}, nil},
		{"only the new one", all, Retention{KeepLast: 1}, []string{"a", "b", "c"}},
		{"two", all, Retention{KeepLast: 2}, []string{"a", "b"}},
		{"three", all, Retention{KeepLast: 3}, []string{"a"}},
		{"as many as there are", all, Retention{KeepLast: 4}, nil},
		{"more than there are", all, Retention{KeepLast: 9}, nil},
		{"older than a day, that age included", all, Retention{Expiration: 24 * time.Hour}, []string{"a", "b"}},
		{"just younger", all, Retention{Expiration: 24*time.Hour + time.Nanosecond}, []string{"a"}},
		{"each of the two rules", all, Retention{KeepLast: 2, Expiration: 36 * time.Hour}, []string{"a", "b"}},
		{"the stricter one counts", all, Retention{KeepLast: 9, Expiration: time.Hour}, []string{"a", "b", "c"}},
		{"the new one is never let go", []backends.Snapshot{aged("new", 48*time.Hour)}, Retention{KeepLast: 1, Expiration: time.Hour}, nil},
		{"none", nil, Retention{KeepLast: 1}, nil},
	} {
		before := slices.Clone(test.snapshots)
		var found []string
		for _, snapshot := range surplus(test.snapshots, "new", test.retention, now) {
			found = append(found, snapshot.ID)
		}
		if !slices.Equal(found, test.want) {
			t.Errorf("%s: %q go, want %q", test.name, found, test.want)
		}
		if !slices.Equal(before, test.snapshots) {
			t.Errorf("%s: the argument was changed", test.name)
		}
	}
}
