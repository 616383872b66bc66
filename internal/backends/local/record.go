//go:build linux

package local

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// recordVersion is the version of the format of sandbox.json.
const recordVersion = 1

// record is the content of sandbox.json: all that is known of a sandbox but its secrets.
type record struct {
	Version int            `json:"version"`
	Marks   backends.Marks `json:"marks"`
	Spec    backends.Spec  `json:"spec"`
	// Rootfs is the root file system that a clone or a restored snapshot took over. It is apart
	// from the specification, because nobody asked for it there.
	Rootfs    string          `json:"inherited_rootfs,omitempty"`
	Status    backends.Status `json:"status"`
	SessionID string          `json:"session_id,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
	// UID runs the commands when this process is root; 0 when it was not.
	UID int `json:"uid,omitempty"`
	// Stopping is true while a stop has not finished its work.
	Stopping bool `json:"stopping,omitempty"`
}

// storedSpec is what of spec is kept in the record. The names of secrets are not: they are the
// keys of the secrets file, so that there is one truth.
func storedSpec(spec backends.Spec) backends.Spec {
	spec.Source = backends.Source{Rootfs: spec.Source.Rootfs}
	spec.Secrets = nil
	spec.SecretNames = nil
	return spec
}

func (r record) rootfs() string {
	if r.Spec.Source.Rootfs != "" {
		return r.Spec.Source.Rootfs
	}
	return r.Rootfs
}

func (r record) networkMode() string {
	if r.Spec.Network.Mode == "" {
		return backends.NetworkDenyAll
	}
	return r.Spec.Network.Mode
}

func (r record) ownedBy(marks backends.Marks) bool {
	return r.Marks.Owner == marks.Owner && r.Marks.Record == marks.Record
}

// observed is the record in the words of the interface.
func (r record) observed(secrets map[string]string) backends.Observed {
	spec := r.Spec
	spec.SecretNames = slices.Sorted(maps.Keys(secrets))
	return backends.Observed{
		Marks:     r.Marks,
		Name:      r.Marks.Name,
		Status:    r.Status,
		SessionID: r.SessionID,
		Workspace: workspacePath,
		CreatedAt: r.CreatedAt,
		Spec:      spec,
	}
}

// load reads the record in the folder of a sandbox. [backends.NotFound] means that the folder is
// proven absent; a folder with an unreadable record is an error of its own.
func (b *Backend) load(op operation, name string) (record, error) {
	folder := b.sandboxDir(name)
	info, err := os.Lstat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, op.fail(backends.NotFound, "There is no sandbox %q in the data directory.", name)
	}
	if err != nil {
		return record{}, op.wrap(err, "The folder of the sandbox cannot be looked at.")
	}
	if !info.IsDir() {
		return record{}, op.fail(backends.Failed, "%s is not a folder.", folder)
	}
	stored, err := readRecord(filepath.Join(folder, recordFile))
	if err != nil {
		failure := op.wrap(err, "The sandbox's folder is there, but its record cannot be read.")
		var typed *backends.Error
		if errors.As(failure, &typed) {
			typed.Remedy = "Restore " + filepath.Join(folder, recordFile) + ", or remove the folder if its data is not needed."
		}
		return record{}, failure
	}
	if stored.Marks.Name != name {
		return record{}, op.fail(backends.Failed, "The record in %s is of another sandbox, %q.", folder, stored.Marks.Name)
	}
	return stored, nil
}

func readRecord(path string) (record, error) {
	var stored record
	content, err := os.ReadFile(path)
	if err != nil {
		return stored, err
	}
	if err := json.Unmarshal(content, &stored); err != nil {
		return stored, err
	}
	if stored.Version != recordVersion {
		return stored, errors.New("the record has a version that this provider does not know")
	}
	if stored.Status != backends.StatusRunning && stored.Status != backends.StatusStopped {
		return stored, errors.New("the record has no known status")
	}
	return stored, nil
}

func (b *Backend) saveRecord(ctx context.Context, folder string, value record) error {
	return b.replaceJSON(ctx, filepath.Join(folder, recordFile), value)
}

// loadSecrets reads the values of the secrets. A file that is gone means that there are none,
// which shows as drift of their names.
func (b *Backend) loadSecrets(op operation, folder string) (map[string]string, error) {
	content, err := os.ReadFile(filepath.Join(folder, secretsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, op.wrap(err, "The secrets file cannot be read.")
	}
	var secrets map[string]string
	if json.Unmarshal(content, &secrets) != nil { // its text may quote a secret, so it is not shown
		return nil, op.fail(backends.Failed, "The secrets file of the sandbox is not valid JSON.")
	}
	return secrets, nil
}

func (b *Backend) saveSecrets(ctx context.Context, folder string, secrets map[string]string) error {
	if secrets == nil {
		secrets = map[string]string{}
	}
	return b.replaceJSON(ctx, filepath.Join(folder, secretsFile), secrets)
}
