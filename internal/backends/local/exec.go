//go:build linux

package local

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Exec implements [backends.Backend]. When the command ends, what it left running ends too.
func (b *Backend) Exec(ctx context.Context, name string, command backends.Command) (backends.ExecResult, error) {
	op, err := b.begin("run command", name, name)
	if err != nil {
		return backends.ExecResult{}, err
	}
	if err := checkCommand(op, command); err != nil {
		return backends.ExecResult{}, err
	}
	stored, leave, err := b.enter(ctx, op, name)
	if err != nil {
		return backends.ExecResult{}, err
	}
	defer leave()
	if err := b.runnableBy(op, stored); err != nil {
		return backends.ExecResult{}, err
	}
	environment, err := b.environment(op, stored, command)
	if err != nil {
		return backends.ExecResult{}, err
	}
	secrets, err := b.loadSecrets(op, b.sandboxDir(name))
	if err != nil {
		return backends.ExecResult{}, err
	}
	if command.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, command.Timeout)
		defer cancel()
		ctx = limited
	}
	options := launchOptions{argv: command.Argv, limit: command.OutputLimit, name: name}
	if options.limit <= 0 {
		options.limit = backends.DefaultOutputLimit
	}
	var result backends.ExecResult
	if b.bare() {
		result, err = b.execBare(ctx, op, stored, command, environment, options)
	} else {
		result, err = b.execIsolated(ctx, op, stored, command, environment, options)
	}
	return result.Redacted(secrets), b.explainEnd(op, name, err)
}

// execIsolated runs the command in namespaces of its own.
func (b *Backend) execIsolated(ctx context.Context, op operation, stored record, command backends.Command, environment map[string]string, options launchOptions) (backends.ExecResult, error) {
	found, err := b.needTools(ctx, op)
	if err != nil {
		return backends.ExecResult{}, err
	}
	line := &commandLine{tools: found, asRoot: b.asRoot(), uid: stored.UID}
	if err := b.describe(op, line, stored, command, environment); err != nil {
		return backends.ExecResult{}, errors.Join(err, line.close())
	}
	if stored.networkMode() == backends.NetworkAllowAll {
		if options.egress, err = findEgress(op); err != nil {
			return backends.ExecResult{}, errors.Join(err, line.close())
		}
	}
	result, err := b.launch(ctx, op, line, options)
	if closing := line.close(); err == nil {
		err = op.wrap(closing, "A file of the command could not be closed.")
	}
	return result, err
}

// describe fills the command line with all of the sandbox.
func (b *Backend) describe(op operation, line *commandLine, stored record, command backends.Command, environment map[string]string) error {
	name, mode := stored.Marks.Name, stored.networkMode()
	line.isolate(mode, name)
	for _, variable := range slices.Sorted(maps.Keys(environment)) {
		line.add("--setenv", variable, environment[variable])
	}
	if rootfs := stored.rootfs(); rootfs != "" {
		if err := checkRootfs(op, rootfs); err != nil {
			return err
		}
		if err := line.rootfsSystem(rootfs, name, mode); err != nil {
			return op.on("source.rootfs").wrap(err, "The root file system cannot be read.")
		}
	} else {
		if err := line.hostSystem(); err != nil {
			return op.wrap(err, "The host's system cannot be looked at.")
		}
		if err := line.ownEtc(name, mode); err != nil {
			return op.wrap(err, "The files of /etc could not be made.")
		}
	}
	line.mounted("--proc", "/proc")
	line.mounted("--dev", "/dev")
	line.add("--size", strconv.Itoa(sharedMemory), "--tmpfs", "/dev/shm", "--dir", "/run", "--dir", "/home")
	if err := b.addMounts(op, line, b.sandboxDir(name), stored); err != nil {
		return err
	}
	line.mounted("--remount-ro", "/dev")
	line.mounted("--remount-ro", "/")
	line.mounted("--chdir", workingDirectory(stored, command))
	return nil
}

func workingDirectory(stored record, command backends.Command) string {
	switch {
	case command.WorkingDirectory != "":
		return command.WorkingDirectory
	case stored.Spec.WorkingDirectory != "":
		return stored.Spec.WorkingDirectory
	}
	return workspacePath
}

func checkCommand(op operation, command backends.Command) error {
	if len(command.Argv) == 0 || command.Argv[0] == "" {
		return op.on("command").fail(backends.Invalid, "The command is empty.")
	}
	for _, argument := range command.Argv {
		if strings.Contains(argument, "\x00") {
			return op.on("command").fail(backends.Invalid, "An argument contains a NUL byte.")
		}
	}
	if command.User != "" {
		return op.on("user").fail(backends.Unsupported, "Every command runs as one unprivileged user that cannot be chosen.")
	}
	if directory := command.WorkingDirectory; directory != "" && !cleanAbsolute(directory) {
		return op.on("working_directory").fail(backends.Invalid, "It must be a clean absolute path inside the sandbox.")
	}
	return checkEnvironment(op, "environment", command.Environment)
}

// environment returns all variables of a command. Nothing of this process's own is in it.
func (b *Backend) environment(op operation, stored record, command backends.Command) (map[string]string, error) {
	secrets, err := b.loadSecrets(op, b.sandboxDir(stored.Marks.Name))
	if err != nil {
		return nil, err
	}
	all := map[string]string{
		"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME": homePath, "USER": "agent", "LOGNAME": "agent", "SHELL": "/bin/sh", "LANG": "C.UTF-8", "TMPDIR": tmpPath,
	}
	for _, layer := range []map[string]string{stored.Spec.Environment, secrets, command.Environment} {
		if err := checkEnvironment(op, "environment", layer); err != nil {
			return nil, err
		}
		maps.Copy(all, layer)
	}
	return all, nil
}

// explainEnd tells a command that failed because the sandbox was stopped or deleted meanwhile.
func (b *Backend) explainEnd(op operation, name string, err error) error {
	if err == nil || errors.Is(err, backends.TimedOut) {
		return err
	}
	if _, now := b.loadRunning(op, name); errors.Is(now, backends.NotRunning) || errors.Is(now, backends.NotFound) {
		return op.fail(backends.NotRunning, "The sandbox was stopped or deleted while the command ran.")
	}
	return err
}
