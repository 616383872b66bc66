package basesnapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// commandOutput bounds what is kept of each stream of a command, in bytes. Backends keep the
// beginning, and what matters is at the end.
const commandOutput = 1 << 20

// marker is the file that tells a base snapshot from any other.
type marker struct {
	path    string
	content []byte
}

// markerContent is the marker as JSON.
type markerContent struct {
	Kind      string    `json:"kind"`
	Version   string    `json:"version"`
	Runtime   string    `json:"runtime"`
	Hash      string    `json:"hash"`
	CreatedAt time.Time `json:"createdAt"`
}

// MarkerKind is the kind that markers name.
const MarkerKind = "sandlot-base-snapshot"

// layOut checks that the backend can write all files where they belong, before anything is run, and
// prepares the marker.
func (b *bake) layOut() error {
	manifest := b.work.request.Manifest
	b.marker.path = manifest.MarkerPath
	if b.marker.path == "" {
		b.marker.path = path.Join(b.workspace, DefaultMarker)
	}
	if err := b.reachable(b.marker.path); err != nil {
		return &StepError{Step: "the marker " + b.marker.path, Err: err}
	}
	taken := map[string]string{b.marker.path: "the marker"}
	for _, entry := range manifest.Files.Entries {
		target, err := sandbox.ResolvePath(b.workspace, entry.Path)
		if err == nil {
			err = b.reachable(target)
		}
		if other, twice := taken[target]; twice && err == nil {
			err = fmt.Errorf("%s is put there too", other)
		}
		if err != nil {
			return &StepError{Step: "the template file " + entry.Path, Err: err}
		}
		taken[target] = entry.Path
	}
	content, err := json.Marshal(markerContent{
		Kind: MarkerKind, Version: b.entry.Version, Runtime: manifest.Runtime, Hash: b.entry.ManifestHash, CreatedAt: now(),
	})
	b.marker.content = append(content, '\n')
	return err
}

// reachable refuses paths that the backend cannot write.
func (b *bake) reachable(target string) error {
	if b.backend().Capabilities().AbsolutePaths || sandbox.Within(b.workspace, target) {
		return nil
	}
	return &backends.Error{
		Kind: backends.Unsupported, Backend: b.backend().Name(), Operation: "use a path outside the workspace", Object: target,
		Detail: fmt.Sprintf("Only paths below %s are possible.", b.workspace),
	}
}

// run runs one command in the seed, with the environment of the bake, and wants it to succeed.
func (b *bake) run(ctx context.Context, step string, command backends.Command) error {
	command.Environment = b.environment
	_, err := b.exec(ctx, b.entry.Seed, step, command)
	return err
}

// exec runs one command in a sandbox and wants it to succeed.
func (b *bake) exec(ctx context.Context, box, step string, command backends.Command) (backends.ExecResult, error) {
	command.OutputLimit = commandOutput
	result, err := b.backend().Exec(ctx, box, command)
	if err != nil {
		return result, &StepError{Step: step, Command: command.Argv, Err: errors.Join(ctx.Err(), err)}
	}
	if result.ExitCode != 0 {
		return result, &StepError{Step: step, Command: command.Argv, ExitCode: result.ExitCode, Output: sandbox.Tail(result, b.environment)}
	}
	return result, nil
}
