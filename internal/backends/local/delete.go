//go:build linux

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Delete implements [backends.Backend]. The sandbox disappears in one step; its files follow.
func (b *Backend) Delete(ctx context.Context, marks backends.Marks, options backends.DeleteOptions) error {
	op, err := b.begin("delete sandbox", marks.Name, marks.Name)
	if err != nil {
		return err
	}
	_, err = os.Lstat(b.root())
	if errors.Is(err, fs.ErrNotExist) { // no sandbox was ever made here, so there are no leftovers
		return nil
	}
	if err != nil {
		return op.wrap(err, "The data directory cannot be looked at.")
	}
	release, err := b.lock(ctx, op, marks.Name)
	if err != nil {
		return err
	}
	defer release()
	if err := b.deleteSandbox(ctx, op, marks); err != nil {
		return err
	}
	if options.Snapshots {
		if err := b.deleteSnapshotsOf(ctx, op, marks); err != nil {
			return err
		}
	}
	if err := b.verifyGone(op, b.sandboxDir(marks.Name), b.sandboxTrash(marks.Name), b.sandboxStaging(marks.Name)); err != nil {
		return err
	}
	return op.wrap(b.dropLock(ctx, marks.Name), "The lock file of the sandbox could not be removed.")
}

func (b *Backend) deleteSandbox(ctx context.Context, op operation, marks backends.Marks) error {
	stored, err := b.load(op, marks.Name)
	present := !errors.Is(err, backends.NotFound)
	if present && err != nil {
		return err
	}
	if present && !stored.ownedBy(marks) {
		return op.fail(backends.NotOurs, "The sandbox carries the marks of another owner or record.")
	}
	if err := b.removeLeftovers(ctx, marks.Name); err != nil {
		return b.leftBehind(op, err, b.sandboxTrash(marks.Name))
	}
	if !present {
		return nil
	}
	if err := b.makeDir(ctx, b.trashDir()); err != nil {
		return op.wrap(err, "The folder for removed sandboxes could not be made.")
	}
	if err := b.rename(ctx, b.sandboxDir(marks.Name), b.sandboxTrash(marks.Name)); err != nil {
		return op.wrap(err, "The sandbox could not be taken away.")
	}
	if err := b.removeLeftovers(ctx, marks.Name); err != nil {
		return b.leftBehind(op, err, b.sandboxTrash(marks.Name))
	}
	return nil
}

func (b *Backend) leftBehind(op operation, cause error, paths ...string) error {
	err := op.wrap(cause, "Not everything could be removed. Deleting it again continues.")
	var typed *backends.Error
	if errors.As(err, &typed) {
		for _, path := range paths {
			typed.Left = append(typed.Left, b.relative(path))
		}
	}
	return err
}

func (b *Backend) verifyGone(op operation, paths ...string) error {
	for _, path := range paths {
		_, err := os.Lstat(path)
		if err == nil {
			return b.leftBehind(op, errors.New("it is still there"), path)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return op.wrap(err, "Whether the sandbox is gone cannot be told.")
		}
	}
	return nil
}
