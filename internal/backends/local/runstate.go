//go:build linux

package local

import (
	"context"
	"path/filepath"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Start implements [backends.Backend].
func (b *Backend) Start(ctx context.Context, name string) error {
	return b.changeState(ctx, "start sandbox", name, func(op operation, stored record) error {
		if stored.Status == backends.StatusRunning {
			return nil
		}
		if stored.Stopping {
			finished, err := b.finishStop(ctx, op, stored)
			if err != nil {
				return err
			}
			stored = finished
		}
		stored.Status = backends.StatusRunning
		stored.SessionID = randomID()
		return op.wrap(b.saveRecord(ctx, b.sandboxDir(name), stored), "The record of the sandbox could not be written.")
	})
}

// Stop implements [backends.Backend]. It ends running commands and empties /tmp. A session sandbox
// also loses its workspace and home; a persistent one keeps both.
func (b *Backend) Stop(ctx context.Context, name string) error {
	return b.changeState(ctx, "stop sandbox", name, func(op operation, stored record) error {
		if stored.Status == backends.StatusStopped && !stored.Stopping {
			return nil
		}
		stored.Status = backends.StatusStopped
		stored.SessionID = ""
		stored.Stopping = true
		// Written before commands are ended, so that no new one begins meanwhile.
		if err := b.saveRecord(ctx, b.sandboxDir(name), stored); err != nil {
			return op.wrap(err, "The record of the sandbox could not be written.")
		}
		_, err := b.finishStop(ctx, op, stored)
		return err
	})
}

// finishStop does what a stop has left to do once the record says stopped.
func (b *Backend) finishStop(ctx context.Context, op operation, stored record) (record, error) {
	folder := b.sandboxDir(stored.Marks.Name)
	if err := b.endRuns(ctx, folder); err != nil {
		return stored, op.wrap(err, "Commands that run in the sandbox could not be ended.")
	}
	lost := []string{tmpDir}
	if stored.Marks.Kind != backends.Persistent {
		lost = append(lost, workspaceDir, homeDir)
	}
	for _, directory := range lost {
		if err := b.emptyDir(ctx, filepath.Join(folder, directory)); err != nil {
			return stored, op.wrap(err, "The files of the ended session could not be removed.")
		}
	}
	stored.Stopping = false
	if err := b.saveRecord(ctx, folder, stored); err != nil {
		return stored, op.wrap(err, "The record of the sandbox could not be written.")
	}
	return stored, nil
}

func (b *Backend) changeState(ctx context.Context, verb, name string, change func(operation, record) error) error {
	op, err := b.begin(verb, name, name)
	if err != nil {
		return err
	}
	if _, err := b.load(op, name); err != nil { // so that an absent one leaves no lock file
		return err
	}
	release, err := b.lock(ctx, op, name)
	if err != nil {
		return err
	}
	defer release()
	stored, err := b.load(op, name)
	if err != nil {
		return err
	}
	return change(op, stored)
}
