//go:build linux || darwin

package sqlite

import "golang.org/x/sys/unix"

// spaceLeft tells how many bytes an ordinary user can still write at path, or one when unknown.
func spaceLeft(path string) uint64 {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return 1
	}
	return uint64(stat.Bavail) * uint64(stat.Bsize)
}
