package cloudhost

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/moby/sys/atomicwriter"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// The files of a host, below DataDir. `ssh` needs files; where there is no keyring they also are the only
// place of the private keys.
const (
	hostsDir       = "cloud-hosts"
	fileClientKey  = "id_ed25519"
	fileClientPub  = "id_ed25519.pub"
	fileHostKey    = "injected_host_key"
	fileKnownHosts = "known_hosts"
	fileConfig     = "ssh_config"
)

// SSHConfigPath is where the SSH configuration of a record is, or would be. No I/O.
func (m *Manager) SSHConfigPath(recordID string) string { return m.path(recordID, fileConfig) }

func (m *Manager) path(recordID, name string) string {
	return filepath.Join(m.DataDir, hostsDir, recordID, name)
}

// writeFile replaces a file in one step. Folder and file are closed to everybody else, whatever the umask.
func (m *Manager) writeFile(ctx context.Context, recordID, name, content string) error {
	path := m.path(recordID, name)
	return m.Observer.Do(ctx, fileEffect("write", recordID, name), func() error {
		for _, dir := range []string{filepath.Join(m.DataDir, hostsDir), filepath.Dir(path)} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder
				return err
			}
		}
		return atomicwriter.WriteFile(path, []byte(content), 0o600)
	})
}

// readFile returns "" for a file that is not there.
func (m *Manager) readFile(recordID, name string) (string, error) {
	content, err := os.ReadFile(m.path(recordID, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(content), err
}

func (m *Manager) removeFile(ctx context.Context, recordID, name string) error {
	if _, err := os.Lstat(m.path(recordID, name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return m.Observer.Do(ctx, fileEffect("remove", recordID, name), func() error {
		return os.Remove(m.path(recordID, name))
	})
}

// removeFiles removes the folder of a host.
func (m *Manager) removeFiles(ctx context.Context, recordID string) error {
	dir := filepath.Dir(m.path(recordID, fileConfig))
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return m.Observer.Do(ctx, fileEffect("remove", recordID, ""), func() error { return os.RemoveAll(dir) })
}

func fileEffect(action, recordID, name string) effects.Effect {
	return effects.Effect{System: "files", Action: action, Object: filepath.Join(hostsDir, recordID, name), Write: true}
}

// CheckDataDir judges a data directory by what a path in an SSH configuration can say. It is stricter than
// what other objects need.
func CheckDataDir(dir string) error {
	if strings.ContainsAny(dir, "\"\\\r\n\x00%") || strings.Contains(dir, "${") {
		return fmt.Errorf("the SSH configuration of cloud hosts cannot name files below %q: a data directory for them holds no quotation mark, backslash, line break, %% or ${", dir)
	}
	return nil
}
