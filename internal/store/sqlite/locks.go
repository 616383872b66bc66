package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Lock waits for the lock of key. It is a kernel lock on a file of its own, which the kernel
// frees when the process ends, and which also excludes other goroutines of this process.
//
// The file stays when the lock is released. Removing it would break the lock: somebody who opened
// it before the removal and somebody who made it anew after would both hold "the" lock.
func (s *Store) Lock(ctx context.Context, key string) (store.Lock, error) {
	var held *flock.Flock
	err := s.observer.Do(ctx, s.effect("lock", key), func() (err error) {
		held, err = s.lock(ctx, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	return lock{held}, nil
}

// lock is held for as long as the process lives, so that what happens under it needs no proof.
type lock struct{ *flock.Flock }

// Context returns ctx.
func (lock) Context(ctx context.Context) context.Context { return ctx }

func (s *Store) lock(ctx context.Context, key string) (*flock.Flock, error) {
	operation := fmt.Sprintf("wait for the lock of %q", key)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	folder := filepath.Join(s.dir, locksFolder)
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return nil, s.fail(operation, writing, err)
	}
	file := flock.New(filepath.Join(folder, lockName(key)), flock.SetPermissions(fileMode))
	if _, err := file.TryLockContext(ctx, poll); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s: another operation holds it: %w", operation, ctx.Err())
		}
		return nil, s.fail(operation, writing, err)
	}
	return file, nil
}

// lockName makes a file name of any key: 128 bits are plenty, and short names fit everywhere.
func lockName(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16]) + ".lock"
}
