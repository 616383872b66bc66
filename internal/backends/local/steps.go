//go:build linux

package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// do is the one gate through which everything goes that changes the world.
func (b *Backend) do(ctx context.Context, action, path string, step func() error) error {
	effect := effects.Effect{System: backendName, Action: action, Object: b.relative(path), Write: true}
	if err := b.config.Observer.Do(ctx, effect, step); err != nil {
		return fmt.Errorf("%s %s: %w", action, b.relative(path), err)
	}
	return nil
}

// look is the gate for processes that are started only to learn something.
func (b *Backend) look(ctx context.Context, action, object string, step func() error) error {
	return b.config.Observer.Do(ctx, effects.Effect{System: backendName, Action: action, Object: object}, step)
}

// makeDir makes one directory of our own; that it exists already is success.
func (b *Backend) makeDir(ctx context.Context, path string) error {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return nil
	}
	return b.do(ctx, "mkdir", path, func() error { return os.MkdirAll(path, directoryMode) })
}

// rename moves path in one step and makes the move durable.
func (b *Backend) rename(ctx context.Context, from, to string) error {
	return b.do(ctx, "rename", to, func() error {
		if err := os.Rename(from, to); err != nil {
			return err
		}
		return errors.Join(syncDir(filepath.Dir(to)), syncDir(filepath.Dir(from)))
	})
}

// unlink removes one file; a missing one is success.
func (b *Backend) unlink(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return b.do(ctx, "unlink", path, func() error {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return syncDir(filepath.Dir(path))
	})
}

// temporaryPath is where the next content of a file is written.
func temporaryPath(path string) string { return path + ".new" }

// replaceFile writes a file of our own so that a reader sees the old content or the new. The
// temporary name is fixed: writers hold a lock, and a killed one's leftover is overwritten.
func (b *Backend) replaceFile(ctx context.Context, path string, content []byte) error {
	temporary := temporaryPath(path)
	err := b.do(ctx, "write", temporary, func() error { return writeDurably(temporary, content) })
	if err != nil {
		return err
	}
	return b.rename(ctx, temporary, path)
}

func (b *Backend) replaceJSON(ctx context.Context, path string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", b.relative(path), err)
	}
	return b.replaceFile(ctx, path, append(content, '\n'))
}

func writeDurably(path string, content []byte) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Write(content); err != nil {
		return err
	}
	return file.Sync()
}

func syncDir(path string) (err error) {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, directory.Close()) }()
	return directory.Sync()
}
