//go:build linux

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// lockRetry is how often a lock held by another process is tried again.
const lockRetry = 10 * time.Millisecond

// nameLocks are the locks inside this process. They make waiters of one process queue on a
// channel, so that only one of them polls the kernel's lock.
type nameLocks struct {
	mutex sync.Mutex
	held  map[string]*nameLock
}

type nameLock struct {
	token chan struct{}
	users int
}

func (l *nameLocks) acquire(ctx context.Context, name string) (func(), error) {
	l.mutex.Lock()
	if l.held == nil {
		l.held = map[string]*nameLock{}
	}
	lock := l.held[name]
	if lock == nil {
		lock = &nameLock{token: make(chan struct{}, 1)}
		l.held[name] = lock
	}
	lock.users++
	l.mutex.Unlock()

	leave := func() {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		if lock.users--; lock.users == 0 {
			delete(l.held, name)
		}
	}
	select {
	case lock.token <- struct{}{}:
		return func() { <-lock.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// lock takes the locks of names, in this process and against others. A dead holder's lock is
// freed by the kernel. They are taken in sorted order, so that two clones cannot wait for each other.
func (b *Backend) lock(ctx context.Context, op operation, names ...string) (release func(), err error) {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	var held []func()
	release = func() {
		for _, free := range slices.Backward(held) {
			free()
		}
	}
	if err := b.makeDir(ctx, b.locksDir()); err != nil {
		return nil, op.wrap(err, "The lock folder could not be made.")
	}
	for _, name := range names {
		free, err := b.names.acquire(ctx, name)
		if err != nil {
			release()
			return nil, op.wrap(err, "Another operation on this name did not end in time.")
		}
		held = append(held, free)
		free, err = b.lockFile(ctx, b.lockPath(name))
		if err != nil {
			release()
			return nil, op.wrap(err, "Another process that works on this name did not end in time, or its lock file cannot be used.")
		}
		held = append(held, free)
	}
	return release, nil
}

func (b *Backend) lockPath(name string) string { return filepath.Join(b.locksDir(), name+".lock") }

// lockFile takes the kernel's lock on path. The file may have been removed by the holder before
// us (see dropLock), so the lock counts only when the path still leads to it.
func (b *Backend) lockFile(ctx context.Context, path string) (func(), error) {
	for {
		file := flock.New(path, flock.SetPermissions(fileMode))
		err := b.do(ctx, "lock", path, func() error {
			_, err := file.TryLockContext(ctx, lockRetry)
			return err
		})
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		same, err := leadsTo(path, file)
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if same {
			return func() { _ = file.Close() }, nil // closing frees the lock; there is nothing to do about an error
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
}

func leadsTo(path string, file *flock.Flock) (bool, error) {
	locked, err := file.Stat()
	if err != nil {
		return false, err
	}
	present, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return os.SameFile(locked, present), nil
}

// dropLock removes the lock file of a name that is gone. The caller holds the lock.
func (b *Backend) dropLock(ctx context.Context, name string) error {
	return b.unlink(ctx, b.lockPath(name))
}
