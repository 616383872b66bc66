//go:build linux

package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// execBare runs the command on the host itself, as the present user. The only things left of the
// sandbox are its folders and its environment.
func (b *Backend) execBare(ctx context.Context, op operation, stored record, command backends.Command, environment map[string]string, options launchOptions) (backends.ExecResult, error) {
	runtime.LockOSThread() // see launch
	defer runtime.UnlockOSThread()
	spec := stored.Spec
	spec.Source.Rootfs = stored.rootfs()
	if err := b.checkBare(op, spec); err != nil {
		return backends.ExecResult{}, err
	}
	folder := b.sandboxDir(stored.Marks.Name)
	directory := b.barePath(folder, workingDirectory(stored, command))
	if info, err := os.Stat(directory); err != nil || !info.IsDir() {
		failure := op.on("working_directory").fail(backends.Invalid, "The working directory does not exist.")
		failure.Err = err
		return backends.ExecResult{}, failure
	}
	if environment["HOME"] == homePath {
		environment["HOME"] = filepath.Join(folder, homeDir)
	}
	if environment["TMPDIR"] == tmpPath {
		environment["TMPDIR"] = filepath.Join(folder, tmpDir)
	}
	process := exec.CommandContext(ctx, command.Argv[0], command.Argv[1:]...)
	process.Dir = directory
	process.Env = []string{}
	for name, value := range environment {
		process.Env = append(process.Env, name+"="+value)
	}
	stdout, stderr := &boundedBuffer{limit: options.limit}, &boundedBuffer{limit: options.limit}
	ended, err := b.supervise(ctx, process, options, stdout, stderr, hooks{})
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return backends.ExecResult{ExitCode: statusNotFound, Stderr: []byte(command.Argv[0] + ": not found\n")}, nil
	}
	if err != nil {
		return backends.ExecResult{}, op.wrap(err, "The command could not be started.")
	}
	result := backends.ExecResult{
		ExitCode: -1, Stdout: stdout.bytes(), Stderr: stderr.bytes(), Truncated: stdout.truncated() || stderr.truncated(),
	}
	if err := ctx.Err(); err != nil && ended != nil {
		return result, timedOut(op, err)
	}
	if status := process.ProcessState; status.Exited() {
		result.ExitCode = status.ExitCode()
		return result, nil
	}
	return result, op.wrap(ended, "The command was ended from outside.")
}

// barePath translates a path inside the sandbox to the host.
func (b *Backend) barePath(folder, path string) string {
	for inside, directory := range map[string]string{workspacePath: workspaceDir, homePath: homeDir} {
		if within(path, inside) {
			return filepath.Join(folder, directory, strings.TrimPrefix(path, inside))
		}
	}
	return path
}
