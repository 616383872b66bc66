package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// MaxFileSize is the largest file that is read into memory or compared by content, in bytes.
const MaxFileSize = 64 << 20

// FileState is a file as a read found it.
type FileState struct {
	Path   string // absolute inside the sandbox
	SHA256 string // lower-case hex
	Size   int64  // bytes
	Mode   fs.FileMode
}

// resolve turns a user's path into the one that the backend takes.
func (m *Manager) resolve(observed backends.Observed, userPath string) (string, error) {
	resolved, err := ResolvePath(observed.Workspace, userPath)
	if err != nil {
		return "", &backends.Error{Kind: backends.PathEscapes, Backend: m.Backend.Name(), Operation: "resolve path", Object: userPath, Err: err}
	}
	if !m.Backend.Capabilities().AbsolutePaths && !Within(observed.Workspace, resolved) {
		return "", &backends.Error{
			Kind: backends.Unsupported, Backend: m.Backend.Name(), Operation: "use a path outside the workspace", Object: userPath,
			Detail: fmt.Sprintf("Only paths below %s are possible.", observed.Workspace),
		}
	}
	return resolved, nil
}

// HashFile reads a file and returns its hash. It never wakes the sandbox.
func (m *Manager) HashFile(ctx context.Context, observed backends.Observed, userPath string) (FileState, error) {
	state, _, err := m.readFile(ctx, observed, userPath, 0)
	return state, err
}

// ReadFile reads a file of at most limit bytes. It never wakes the sandbox.
func (m *Manager) ReadFile(ctx context.Context, observed backends.Observed, userPath string, limit int64) (FileState, []byte, error) {
	return m.readFile(ctx, observed, userPath, limit)
}

// readFile hashes a file, and keeps its content when limit is more than 0.
func (m *Manager) readFile(ctx context.Context, observed backends.Observed, userPath string, limit int64) (state FileState, content []byte, err error) {
	resolved, err := m.resolve(observed, userPath)
	if err != nil {
		return FileState{}, nil, err
	}
	reader, info, err := m.Backend.OpenFile(ctx, observed.Name, resolved)
	if err != nil {
		return FileState{}, nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	if limit > 0 && info.Size > limit {
		return FileState{}, nil, &backends.Error{
			Kind: backends.Invalid, Backend: m.Backend.Name(), Operation: "read file", Object: userPath,
			Detail: fmt.Sprintf("It has %d bytes; at most %d can be read.", info.Size, limit),
		}
	}
	hash := sha256.New()
	var size int64
	if limit > 0 {
		content, err = io.ReadAll(io.LimitReader(io.TeeReader(reader, hash), limit+1))
		size = int64(len(content))
	} else {
		size, err = io.Copy(hash, reader)
	}
	if err == nil && (limit > 0 && size > limit || size < info.Size) {
		err = &backends.Error{
			Kind: backends.Conflict, Backend: m.Backend.Name(), Operation: "read file", Object: userPath,
			Detail: "It changed while it was read.", Remedy: "Run again when nothing writes it.",
		}
	}
	if err != nil {
		return FileState{}, nil, fmt.Errorf("read %s of %s: %w", resolved, ID(m.Backend.Name(), observed.Name), err)
	}
	return FileState{Path: resolved, SHA256: hex.EncodeToString(hash.Sum(nil)), Size: size, Mode: info.Mode.Perm()}, content, nil
}

// StatFile describes a file, nil without an error when there is none. It never wakes the sandbox.
func (m *Manager) StatFile(ctx context.Context, observed backends.Observed, userPath string) (*backends.FileInfo, error) {
	resolved, err := m.resolve(observed, userPath)
	if err != nil {
		return nil, err
	}
	info, err := m.Backend.StatFile(ctx, observed.Name, resolved)
	if backends.KindOf(err) == backends.FileNotFound {
		return nil, nil
	}
	return &info, err
}

// WriteFile replaces a file in one step.
func (m *Manager) WriteFile(ctx context.Context, observed backends.Observed, userPath string, content []byte, mode fs.FileMode) (FileState, error) {
	resolved, err := m.resolve(observed, userPath)
	if err != nil {
		return FileState{}, err
	}
	err = m.reached(ctx, observed, func(ctx context.Context) error {
		return m.Backend.WriteFile(ctx, observed.Name, resolved, content, mode)
	})
	if err != nil {
		return FileState{}, err
	}
	sum := sha256.Sum256(content)
	return FileState{Path: resolved, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content)), Mode: mode}, nil
}

// RemoveFile removes a file; a missing one is success.
func (m *Manager) RemoveFile(ctx context.Context, observed backends.Observed, userPath string) error {
	resolved, err := m.resolve(observed, userPath)
	if err != nil {
		return err
	}
	return m.reached(ctx, observed, func(ctx context.Context) error {
		return m.Backend.RemoveFile(ctx, observed.Name, resolved)
	})
}

// ListFiles lists a directory, and all below it when recursive, until more than limit entries were
// found. It never wakes the sandbox.
func (m *Manager) ListFiles(ctx context.Context, observed backends.Observed, userPath string, recursive bool, limit int) ([]backends.FileInfo, error) {
	start, err := m.resolve(observed, userPath)
	if err != nil {
		return nil, err
	}
	var found []backends.FileInfo
	for pending := []string{start}; len(pending) > 0; {
		dir := pending[0]
		pending = pending[1:]
		entries, err := m.Backend.ListFiles(ctx, observed.Name, dir)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			entry.Path = path.Clean(entry.Path)
			found = append(found, entry)
			if recursive && entry.Mode.IsDir() {
				pending = append(pending, entry.Path)
			}
		}
		if len(found) > limit {
			return nil, &backends.Error{
				Kind: backends.Invalid, Backend: m.Backend.Name(), Operation: "list directory", Object: userPath,
				Detail: fmt.Sprintf("It holds more than %d entries.", limit),
				Remedy: "List a directory further down.",
			}
		}
	}
	return found, nil
}
