//go:build linux

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Create implements [backends.Backend]. The sandbox is built whole under a staging name and
// appears in one step, so a killed Create leaves nothing visible.
func (b *Backend) Create(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	if err := backends.Refuse(backendName, "create sandbox", b.Capabilities().Gaps(spec)); err != nil {
		return backends.Observed{}, err
	}
	op, err := b.begin("create sandbox", marks.Name, marks.Name)
	if err != nil {
		return backends.Observed{}, err
	}
	if err := b.checkSpec(ctx, op, spec); err != nil {
		return backends.Observed{}, err
	}
	if missing := missingSecrets(spec, spec.Secrets); missing != "" {
		return backends.Observed{}, op.on("secret_environment_wo").fail(backends.Invalid, "The value of the secret %q is absent.", missing)
	}
	if _, err := b.Prepare(ctx); err != nil {
		return backends.Observed{}, err
	}
	names := []string{marks.Name}
	if spec.Source.CloneOf != "" {
		if _, err := b.begin(op.verb, "source.clone_of", spec.Source.CloneOf); err != nil {
			return backends.Observed{}, err
		}
		if _, err := b.load(op.on("source.clone_of"), spec.Source.CloneOf); err != nil { // so that an absent one leaves no lock file
			return backends.Observed{}, err
		}
		names = append(names, spec.Source.CloneOf)
	}
	release, err := b.lock(ctx, op, names...)
	if err != nil {
		return backends.Observed{}, err
	}
	defer release()
	if err := b.create(ctx, op, marks, spec); err != nil {
		return backends.Observed{}, err
	}
	return b.observe(op, marks.Name)
}

// create runs under the lock of the name.
func (b *Backend) create(ctx context.Context, op operation, marks backends.Marks, spec backends.Spec) error {
	_, err := os.Lstat(b.sandboxDir(marks.Name))
	if err == nil {
		return op.fail(backends.AlreadyExists, "A sandbox of this name exists already.")
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return op.wrap(err, "The folder of the sandboxes cannot be looked at.")
	}
	if err := b.removeLeftovers(ctx, marks.Name); err != nil {
		return op.wrap(err, "What an earlier operation left could not be removed.")
	}
	staging := b.sandboxStaging(marks.Name)
	err = b.build(ctx, op, staging, marks, spec)
	if err == nil {
		err = b.rename(ctx, staging, b.sandboxDir(marks.Name))
	}
	if err == nil {
		return nil
	}
	// The caller's context may be what failed, and what was built must go all the same.
	ctx = context.WithoutCancel(ctx)
	err = b.undo(ctx, op.wrap(err, "The sandbox could not be built."), staging, b.sandboxDir(marks.Name))
	return errors.Join(err, b.dropLock(ctx, marks.Name))
}

func (b *Backend) build(ctx context.Context, op operation, folder string, marks backends.Marks, spec backends.Spec) error {
	for _, directory := range []string{b.sandboxesDir(), folder, filepath.Join(folder, runsDir), filepath.Join(folder, incomingDir)} {
		if err := b.makeDir(ctx, directory); err != nil {
			return err
		}
	}
	stored := record{
		Version:   recordVersion,
		Marks:     marks,
		Spec:      storedSpec(spec),
		Status:    backends.StatusRunning,
		SessionID: randomID(),
		CreatedAt: time.Now().UTC().Truncate(time.Second),
		UID:       b.sandboxUID(marks.Name),
	}
	rootfs, err := b.fill(ctx, op, folder, spec.Source)
	if err != nil {
		return err
	}
	stored.Rootfs = rootfs
	for _, directory := range []string{workspaceDir, homeDir, tmpDir} {
		path := filepath.Join(folder, directory)
		if err := b.makeDir(ctx, path); err != nil {
			return err
		}
		if stored.UID == 0 {
			continue
		}
		if err := b.chownTree(ctx, path, stored.UID); err != nil {
			return err
		}
	}
	if err := b.saveSecrets(ctx, folder, spec.Secrets); err != nil {
		return err
	}
	return b.saveRecord(ctx, folder, stored)
}

// fill puts the files of the source into the folder and returns the root file system that comes
// with them.
func (b *Backend) fill(ctx context.Context, op operation, folder string, source backends.Source) (rootfs string, err error) {
	switch {
	case source.SnapshotID != "":
		return b.restore(ctx, op, folder, source.SnapshotID)
	case source.CloneOf != "":
		return b.clone(ctx, op, folder, source.CloneOf)
	}
	return "", nil
}

// undo removes what a failed step made and names in cause what could not be removed.
func (b *Backend) undo(ctx context.Context, cause error, paths ...string) error {
	var typed *backends.Error
	if !errors.As(cause, &typed) {
		return cause
	}
	for _, path := range paths {
		if err := b.removeTree(ctx, path); err != nil {
			typed.Left = append(typed.Left, b.relative(path))
		}
	}
	return cause
}

// removeLeftovers removes what a killed operation on this name left. The caller holds the lock.
func (b *Backend) removeLeftovers(ctx context.Context, name string) error {
	trash := b.sandboxTrash(name)
	if err := b.endRuns(ctx, trash); err != nil {
		return err
	}
	for _, path := range []string{trash, b.sandboxStaging(name), b.archiveStaging(name)} {
		if err := b.removeTree(ctx, path); err != nil {
			return err
		}
	}
	return nil
}
