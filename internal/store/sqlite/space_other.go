//go:build !linux && !darwin

package sqlite

// spaceLeft is not known here; one byte stands for "some".
func spaceLeft(string) uint64 { return 1 }
