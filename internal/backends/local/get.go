//go:build linux

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Get implements [backends.Backend].
func (b *Backend) Get(_ context.Context, name string) (backends.Observed, error) {
	op, err := b.begin("read sandbox", name, name)
	if err != nil {
		return backends.Observed{}, err
	}
	return b.observe(op, name)
}

func (b *Backend) observe(op operation, name string) (backends.Observed, error) {
	stored, err := b.load(op, name)
	if err != nil {
		return backends.Observed{}, err
	}
	secrets, err := b.loadSecrets(op, b.sandboxDir(name))
	if err != nil {
		return backends.Observed{}, err
	}
	return stored.observed(secrets), nil
}

// List implements [backends.Backend]. A sandbox whose record cannot be read carries no marks, so
// it is not listed; Get tells what is wrong with it.
func (b *Backend) List(_ context.Context) ([]backends.Observed, error) {
	op, err := b.begin("list sandboxes", "")
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(b.sandboxesDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, op.wrap(err, "The folder of the sandboxes cannot be read.")
	}
	var all []backends.Observed
	for _, entry := range entries {
		if !entry.IsDir() || !plainName.MatchString(entry.Name()) {
			continue
		}
		observed, err := b.observe(op.on(entry.Name()), entry.Name())
		if errors.Is(err, backends.NotFound) || errors.Is(err, backends.Failed) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, observed)
	}
	return all, nil
}
