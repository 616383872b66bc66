package basesnapshot

import "time"

// Label returns the version label of a bake: `<name>-<runtime, if any>-<YYYY-MM-DD>-<hash[:8]>`. It is
// made once, so that the date is that of the bake.
func Label(manifest Manifest, hash string, at time.Time) string {
	label := manifest.Name + "-"
	if manifest.Runtime != "" {
		label += manifest.Runtime + "-"
	}
	return label + at.UTC().Format(time.DateOnly) + "-" + hash[:8]
}
