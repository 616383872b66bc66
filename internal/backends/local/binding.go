//go:build linux

package local

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// prepareLock cannot be the name of a sandbox.
const prepareLock = ".prepare"

// Binding implements [backends.Backend].
func (b *Backend) Binding(_ context.Context) (backends.Binding, error) {
	op, err := b.begin("read binding", b.config.DataDir)
	if err != nil {
		return backends.Binding{}, err
	}
	return b.readBinding(op)
}

func (b *Backend) readBinding(op operation) (backends.Binding, error) {
	content, err := os.ReadFile(b.idPath())
	if errors.Is(err, fs.ErrNotExist) {
		return backends.Binding{}, op.fail(backends.NotFound, "The data directory was never prepared.")
	}
	if err != nil {
		return backends.Binding{}, op.wrap(err, "The id of the data directory cannot be read.")
	}
	id := strings.TrimSpace(string(content))
	if id == "" {
		return backends.Binding{}, op.fail(backends.Failed, "The id file of the data directory is empty.")
	}
	return backends.Binding{ID: id, Description: b.config.DataDir}, nil
}

// Prepare implements [backends.Backend]. Two processes that race end with one id.
func (b *Backend) Prepare(ctx context.Context) (backends.Binding, error) {
	op, err := b.begin("prepare data directory", b.config.DataDir)
	if err != nil {
		return backends.Binding{}, err
	}
	if binding, err := b.readBinding(op); !errors.Is(err, backends.NotFound) {
		return binding, err
	}
	if err := b.makeDir(ctx, b.config.DataDir); err != nil {
		return backends.Binding{}, op.wrap(err, "The data directory could not be made.")
	}
	release, err := b.lock(ctx, op, prepareLock)
	if err != nil {
		return backends.Binding{}, err
	}
	defer release()
	if binding, err := b.readBinding(op); !errors.Is(err, backends.NotFound) {
		return binding, err
	}
	if err := b.replaceFile(ctx, b.idPath(), []byte(randomID()+"\n")); err != nil {
		return backends.Binding{}, op.wrap(err, "The id of the data directory could not be written.")
	}
	return b.readBinding(op)
}

// randomID returns 128 random bits as hexadecimal digits.
func randomID() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // documented never to fail
	return hex.EncodeToString(bits[:])
}
