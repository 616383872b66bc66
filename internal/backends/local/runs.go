//go:build linux

package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Running commands hold a shared lock on a file in the sandbox's folder and leave an entry there
// that names their process. Who stops or deletes the sandbox ends the processes of the
// entries until it gets the lock alone. A dead holder's lock is freed by the kernel.

// enter takes the shared lock and reads the record of a running sandbox.
func (b *Backend) enter(ctx context.Context, op operation, name string) (record, func(), error) {
	if _, err := b.loadRunning(op, name); err != nil {
		return record{}, nil, err
	}
	file := flock.New(filepath.Join(b.sandboxDir(name), runsDir, runsLock), flock.SetPermissions(fileMode))
	leave := func() { _ = file.Close() } // closing frees the lock; there is nothing to do about an error
	err := b.do(ctx, "share lock", file.Path(), func() error {
		_, err := file.TryRLockContext(ctx, lockRetry)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		leave()
		return record{}, nil, op.wrap(err, "The sandbox is being stopped or deleted, or its lock file cannot be used.")
	}
	// Read again: it may have been stopped or deleted before the lock was ours.
	stored, err := b.loadRunning(op, name)
	if err != nil {
		leave()
		return record{}, nil, err
	}
	if !file.RLocked() {
		leave()
		return record{}, nil, op.fail(backends.Failed, "The folder %q of the sandbox is absent.", runsDir)
	}
	return stored, leave, nil
}

func (b *Backend) loadRunning(op operation, name string) (record, error) {
	stored, err := b.load(op, name)
	if err != nil {
		return stored, err
	}
	if stored.Status != backends.StatusRunning {
		failure := op.fail(backends.NotRunning, "The sandbox is stopped.")
		failure.Remedy = "Set `desired_state = \"running\"` to start it."
		return stored, failure
	}
	return stored, nil
}

// recordRun leaves the entry of a process that leads its own process group.
func (b *Backend) recordRun(ctx context.Context, name string, pid int) (forget func(), err error) {
	nothing := func() {}
	identity, err := processIdentity(pid)
	if err != nil {
		return nothing, err
	}
	runs := filepath.Join(b.sandboxDir(name), runsDir)
	path := filepath.Join(runs, identity)
	err = b.do(ctx, "record run", runs, func() error {
		return os.WriteFile(path, nil, fileMode)
	})
	if errors.Is(err, fs.ErrNotExist) {
		// The sandbox was taken away since the lock was taken. Who did that waits for the lock and
		// cannot know this process, so it has to go by itself.
		return nothing, killGroup(pid)
	}
	if err != nil {
		return nothing, err
	}
	// The sandbox may be on its way to the trash, entry and all; then there is nothing to forget.
	return func() { _ = b.forgetRun(context.WithoutCancel(ctx), runs, identity) }, nil
}

// forgetRun removes an entry. Effects name the folder, as names of entries differ with each run.
func (b *Backend) forgetRun(ctx context.Context, runs, identity string) error {
	return b.do(ctx, "forget run", runs, func() error {
		if err := os.Remove(filepath.Join(runs, identity)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// endRuns kills what runs in the sandbox of a folder and waits until it is gone.
func (b *Backend) endRuns(ctx context.Context, folder string) error {
	runs := filepath.Join(folder, runsDir)
	if _, err := os.Lstat(runs); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	file := flock.New(filepath.Join(runs, runsLock), flock.SetPermissions(fileMode))
	defer func() { _ = file.Close() }() // closing frees the lock; there is nothing to do about an error
	for {
		if err := b.killRuns(ctx, runs); err != nil {
			return err
		}
		var alone bool
		err := b.do(ctx, "lock", file.Path(), func() (err error) {
			alone, err = file.TryLock()
			return err
		})
		if err != nil || alone {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockRetry):
		}
	}
}

func (b *Backend) killRuns(ctx context.Context, runs string) error {
	entries, err := os.ReadDir(runs)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == runsLock {
			continue
		}
		if err := b.killRun(ctx, runs, entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

func (b *Backend) killRun(ctx context.Context, runs, identity string) error {
	pid, err := strconv.Atoi(strings.SplitN(identity, ".", 2)[0])
	if err != nil || pid < 2 {
		return fmt.Errorf("%s: not the name of a run in %s", identity, runs)
	}
	present, err := processIdentity(pid)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if present == identity {
		err := b.do(ctx, "kill run", runs, func() error { return killGroup(pid) })
		if err != nil {
			return err
		}
	}
	return b.forgetRun(ctx, runs, identity)
}

// killGroup ends a process and its process group. That it ended meanwhile is success.
func killGroup(pid int) error {
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// processIdentity tells a process from a later one of the same number: by its start time, and
// by the boot it lives in.
func processIdentity(pid int) (string, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, syscall.ESRCH) {
		return "", fs.ErrNotExist
	}
	if err != nil {
		return "", err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	// The program's name, in brackets, may hold spaces. The start time is field 22.
	fields := strings.Fields(string(status[bytes.LastIndexByte(status, ')')+1:]))
	if len(fields) < 20 {
		return "", fmt.Errorf("/proc/%d/stat has an unknown form", pid)
	}
	return fmt.Sprintf("%d.%s.%s", pid, fields[19], strings.TrimSpace(string(boot))), nil
}
