package docker

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Reconfigure changes limits in place and, for anything else, makes the container again with its
// root file system on the same volumes.
func (b *Backend) Reconfigure(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	const operation = "change sandbox"
	if err := backends.Refuse(backendName, operation, b.Capabilities().ChangeGaps(spec)); err != nil {
		return backends.Observed{}, err
	}
	e, err := b.connect()
	if err != nil {
		return backends.Observed{}, err
	}
	if err := e.check(operation, spec); err != nil {
		return backends.Observed{}, err
	}
	defer b.locks.lock(marks.Name)()
	observed, err := b.reconfigure(ctx, e, operation, marks, spec)
	if err != nil {
		return backends.Observed{}, e.fail(operation, marks.Name, err, secretsOf(spec)...)
	}
	return observed, nil
}

func (b *Backend) reconfigure(ctx context.Context, e *engine, operation string, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	found, err := e.locate(ctx, marks.Name)
	if err != nil {
		return backends.Observed{}, err
	}
	c, err := b.settle(ctx, e, operation, marks, found)
	if err != nil {
		return backends.Observed{}, err
	}
	if c == nil {
		return b.recover(ctx, e, operation, marks, spec, *found.workspace)
	}
	seen, err := b.observe(ctx, e, operation, *c)
	if err != nil {
		return backends.Observed{}, err
	}
	wanted, err := keepSecrets(operation, spec, c.Config.Env)
	if err != nil {
		return backends.Observed{}, err
	}
	wanted.Source = seen.Spec.Source
	if differs(*c, seen.Spec, wanted) || !limitsAreLive(*c, seen.Spec, wanted) {
		return b.replace(ctx, e, operation, marks, *c, wanted)
	}
	if c.State.Status == container.StateCreated {
		// A killed Create may not have come to this.
		below, err := b.images.inherited(ctx, e, c.Image)
		if err != nil {
			return backends.Observed{}, err
		}
		if err := e.own(ctx, operation, c.ID, blueprint{marks: marks, spec: wanted, below: below}, false); err != nil {
			return backends.Observed{}, err
		}
	}
	if seen.Spec.CPUs == wanted.CPUs && seen.Spec.MemoryMiB == wanted.MemoryMiB {
		return seen, nil
	}
	update := container.UpdateConfig{Resources: resources(wanted.CPUs, wanted.MemoryMiB, nil)}
	if _, err := e.ContainerUpdate(ctx, c.ID, update); err != nil {
		return backends.Observed{}, e.blame(operation, marks.Name, err)
	}
	if c, err = e.byName(ctx, marks.Name); err != nil {
		return backends.Observed{}, err
	}
	if c == nil {
		return backends.Observed{}, notFound(operation, marks.Name)
	}
	return b.observe(ctx, e, operation, *c)
}

// keepSecrets fills in the present values of secrets when none are given.
func keepSecrets(operation string, spec backends.Spec, entries []string) (backends.Spec, error) {
	if spec.Secrets != nil || len(spec.SecretNames) == 0 {
		return spec, nil
	}
	present := map[string]string{}
	for _, entry := range entries {
		if name, value, ok := strings.Cut(entry, "="); ok {
			present[name] = value
		}
	}
	spec.Secrets = map[string]string{}
	for _, name := range spec.SecretNames {
		value, ok := present[name]
		if !ok {
			return spec, noSecret(operation, name)
		}
		spec.Secrets[name] = value
	}
	return spec, nil
}

func noSecret(operation, name string) error {
	return &backends.Error{
		Kind: backends.Conflict, Backend: backendName, Operation: operation, Object: "secret_environment_wo",
		Detail: "The value of " + name + " was kept in the container only and is not there any more.",
		Remedy: "Raise `secret_environment_wo_version`, so that the values are handed in again.",
	}
}

// differs tells whether anything but the live limits is not as wanted.
func differs(c container.InspectResponse, seen, wanted backends.Spec) bool {
	sameWorkspace := hasWorkspaceVolume(wanted) == slices.ContainsFunc(c.Mounts, func(m container.MountPoint) bool {
		return m.Type == mount.TypeVolume && m.Name == workspaceVolume(c.Config.Labels[labelName]) && m.Destination == workspacePath
	})
	return !sameWorkspace ||
		!maps.Equal(seen.Environment, wanted.Environment) ||
		!sameSecrets(c.Config.Env, seen, wanted) ||
		seen.WorkingDirectory != wanted.WorkingDirectory ||
		seen.User != wanted.User ||
		!slices.Equal(seen.Command, wanted.Command) ||
		seen.Timeout != wanted.Timeout ||
		!slices.Equal(normalPorts(seen.Ports), normalPorts(wanted.Ports)) ||
		!slices.Equal(normalMounts(seen.Mounts), normalMounts(wanted.Mounts)) ||
		!maps.Equal(seen.Volumes, wanted.Volumes) ||
		firstOf(seen.Network.Mode, backends.NetworkAllowAll) != firstOf(wanted.Network.Mode, backends.NetworkAllowAll) ||
		!maps.Equal(seen.Labels, wanted.Labels) ||
		!sameDocker(seen.Docker, wanted.Docker) ||
		!hardened(c.HostConfig)
}

func sameSecrets(entries []string, seen, wanted backends.Spec) bool {
	if !slices.Equal(seen.SortedSecretNames(), wanted.SortedSecretNames()) {
		return false
	}
	for name, value := range wanted.Secrets {
		if !slices.Contains(entries, name+"="+value) {
			return false
		}
	}
	return true
}

// hardened tells whether a container still has what every sandbox gets; one made by hand may not.
func hardened(h *container.HostConfig) bool {
	return !h.Privileged && slices.Contains(h.CapDrop, "ALL") && slices.ContainsFunc(h.SecurityOpt, func(option string) bool {
		return strings.HasPrefix(option, "no-new-privileges")
	})
}

// limitsAreLive tells whether the engine can change the limits of a container as wanted. It takes
// 0 for "as it is", so a limit cannot be lifted, and does not mix its two ways to limit CPUs.
func limitsAreLive(c container.InspectResponse, seen, wanted backends.Spec) bool {
	return (seen.CPUs == wanted.CPUs || wanted.CPUs != 0 && c.HostConfig.CPUQuota == 0) &&
		(seen.MemoryMiB == wanted.MemoryMiB || wanted.MemoryMiB != 0)
}
