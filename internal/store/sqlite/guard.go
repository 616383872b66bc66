package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// poll is how often a waiting lock is tried again. The kernel's own waiting cannot be ended by
// a context.
const poll = 10 * time.Millisecond

// guardShared holds the guard against writers. Without a guard file it returns nil: a read makes
// no file.
func guardShared(ctx context.Context, path string) (*flock.Flock, error) {
	guard := flock.New(path, flock.SetFlag(os.O_RDONLY))
	_, err := guard.TryRLockContext(ctx, poll)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return guard, nil
}

// guardExclusive holds the guard against readers and other writers and makes its file.
func guardExclusive(ctx context.Context, path string) (*flock.Flock, error) {
	guard := flock.New(path, flock.SetPermissions(fileMode))
	if _, err := guard.TryLockContext(ctx, poll); err != nil {
		return nil, err
	}
	return guard, nil
}
