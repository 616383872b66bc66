//go:build linux

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// checkSpec refuses what could only fail later, inside a command.
func (b *Backend) checkSpec(ctx context.Context, op operation, spec backends.Spec) error {
	if err := b.checkBare(op, spec); err != nil {
		return err
	}
	if err := checkEnvironment(op, "environment", spec.Environment); err != nil {
		return err
	}
	if err := checkEnvironment(op, "secret_environment_wo", spec.Secrets); err != nil {
		return err
	}
	if directory := spec.WorkingDirectory; directory != "" && !cleanAbsolute(directory) {
		return op.on("working_directory").fail(backends.Invalid, "It must be a clean absolute path inside the sandbox.")
	}
	if spec.Source.Rootfs != "" {
		if err := checkRootfs(op, spec.Source.Rootfs); err != nil {
			return err
		}
	}
	for _, mount := range spec.Mounts {
		if err := b.checkMount(op, mount); err != nil {
			return err
		}
	}
	if b.bare() {
		return nil
	}
	return b.checkTools(ctx, op, spec.Network.Mode)
}

// checkBare refuses what a command on the bare host cannot be held to.
func (b *Backend) checkBare(op operation, spec backends.Spec) error {
	if !b.bare() {
		return nil
	}
	switch {
	case spec.Network.Mode != backends.NetworkHost:
		return op.on("network.mode").fail(backends.Unsupported, "Without isolation the network cannot be restricted. Only %q works.", backends.NetworkHost)
	case spec.Source.Rootfs != "":
		return op.on("source.rootfs").fail(backends.Unsupported, "Without isolation commands see the host's own file system.")
	case len(spec.Mounts) > 0:
		return op.on("mounts").fail(backends.Unsupported, "Without isolation nothing can be mounted.")
	}
	return nil
}

// checkEnvironment keeps a variable from changing the arguments that it travels among.
func checkEnvironment(op operation, attribute string, environment map[string]string) error {
	for name, value := range environment {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return op.on(attribute).fail(backends.Invalid, "%q is not the name of a variable.", name)
		}
		if strings.Contains(value, "\x00") {
			return op.on(attribute).fail(backends.Invalid, "The value of %q contains a NUL byte.", name)
		}
	}
	return nil
}

func checkRootfs(op operation, path string) error {
	op = op.on("source.rootfs")
	if !cleanAbsolute(path) || path == "/" {
		return op.fail(backends.Invalid, "It must be a clean absolute path of a directory other than the host's own root.")
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return op.fail(backends.Invalid, "There is no directory %q on this machine.", path)
	}
	if err != nil {
		return op.wrap(err, "It cannot be looked at.")
	}
	if !info.IsDir() {
		return op.fail(backends.Invalid, "%q is not a directory.", path)
	}
	return nil
}

func cleanAbsolute(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == path && !strings.Contains(path, "\x00")
}

// missingSecrets returns the first name whose value is absent, or the empty string.
func missingSecrets(spec backends.Spec, values map[string]string) string {
	for _, name := range spec.SortedSecretNames() {
		if _, present := values[name]; !present {
			return name
		}
	}
	return ""
}
