package docker

import (
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/go-connections/nat"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// defaultPidsLimit bounds the processes and threads of a sandbox when nobody chose.
const defaultPidsLimit = 1024

// keptCapabilities is what the root user of a sandbox may do: enough for package managers,
// services that drop to another user, and well-known ports. Of Docker's own defaults these are
// left out, since no agent needs them: AUDIT_WRITE, MKNOD, NET_RAW, SETFCAP, SETPCAP, SYS_CHROOT.
var keptCapabilities = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"}

// keepAlive is the main process when nobody chose one. Every `sleep` takes a number, while
// "infinity" is unknown to some; this one is 68 years.
const keepAlive = 1<<31 - 1

// blueprint is everything that a container of a sandbox is made from.
type blueprint struct {
	marks  backends.Marks
	spec   backends.Spec
	record configuration
	image  string // reference or id
	below  inherited
	resume bool // it replaces a container that ran
	// keep are the volumes, by the engine's names, that were in use already. Into others that are
	// empty the engine copies what the image has at their target.
	keep map[string]bool
	// extra are volumes that an image declared and the engine made: target to engine name.
	extra map[string]string
}

// hasWorkspaceVolume tells whether the workspace is a volume of its own: it is, unless something
// else is mounted there.
func hasWorkspaceVolume(spec backends.Spec) bool {
	for _, m := range spec.Mounts {
		if path.Clean(m.Target) == workspacePath {
			return false
		}
	}
	for _, v := range spec.Volumes {
		if path.Clean(v.Target) == workspacePath {
			return false
		}
	}
	return true
}

func workingDirectory(spec backends.Spec) string {
	return firstOf(spec.WorkingDirectory, workspacePath)
}

// argv is the main process. The image's entry point is never used: a command is run as it is
// written. The engine has no time limit for it, so `timeout` of the image keeps it.
func argv(spec backends.Spec) []string {
	limit := strconv.FormatInt(int64(math.Ceil(spec.Timeout.Seconds())), 10)
	switch {
	case len(spec.Command) == 0 && spec.Timeout == 0:
		return []string{"sleep", strconv.Itoa(keepAlive)}
	case len(spec.Command) == 0:
		return []string{"sleep", limit}
	case spec.Timeout == 0:
		return spec.Command
	}
	return append([]string{"timeout", "-k", "10", limit}, spec.Command...)
}

// environment is the list for the engine. Where the image is one of ours, what the image below
// had is given again, and what a commit could only empty is taken out: a name without "=" does so.
func (p blueprint) environment() []string {
	values := map[string]string{}
	var list []string
	if p.below.explicit {
		for _, entry := range p.below.Env {
			if name, value, ok := strings.Cut(entry, "="); ok {
				values[name] = value
			}
		}
	}
	maps.Copy(values, p.spec.EnvironmentWithSecrets())
	for _, name := range p.below.residue {
		if _, ok := values[name]; !ok {
			list = append(list, name)
		}
	}
	for name, value := range values {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

func (p blueprint) user() string {
	switch {
	case p.spec.User != "":
		return p.spec.User
	case p.below.explicit:
		// A commit keeps the container's user, so the one of the image below has to be named.
		return firstOf(p.below.User, "0")
	}
	return ""
}

func (p blueprint) labels() (map[string]string, error) {
	labels := map[string]string{}
	if p.below.explicit {
		maps.Copy(labels, p.below.Labels)
	}
	maps.Copy(labels, p.spec.Labels)
	maps.Copy(labels, markLabels(p.marks, roleSandbox))
	text, err := configuration{
		Spec: p.spec, ResolvedImage: p.record.ResolvedImage, DefaultRuntime: p.record.DefaultRuntime, CreatedAt: p.record.CreatedAt,
	}.encode()
	if err != nil {
		return nil, err
	}
	labels[labelConfiguration] = text
	// Set in any case, since an image of ours could hand it down otherwise.
	labels[labelResume] = ""
	if p.resume {
		labels[labelResume] = "true"
	}
	return labels, nil
}

// config returns the container's configuration. The command stands in the entry point, so that
// neither the image's entry point nor its command can be added to it.
func (p blueprint) config() (*container.Config, error) {
	labels, err := p.labels()
	if err != nil {
		return nil, err
	}
	exposed := nat.PortSet{}
	for port := range portBindings(p.spec.Ports) {
		exposed[port] = struct{}{}
	}
	return &container.Config{
		Image:        p.image,
		Entrypoint:   argv(p.spec),
		Env:          p.environment(),
		User:         p.user(),
		WorkingDir:   workingDirectory(p.spec),
		Labels:       labels,
		ExposedPorts: exposed,
	}, nil
}

// hostConfig returns what the sandbox may do and use.
//
// No process can gain privileges. With a user of its own this holds for commands run as root too:
// the engine starts them without capabilities, so they own root's files but cannot change owners
// or install packages. A sandbox that needs both leaves its user out and names one per command.
func (p blueprint) hostConfig() *container.HostConfig {
	docker := backends.DockerOptions{}
	if p.spec.Docker != nil {
		docker = *p.spec.Docker
	}
	limit := docker.PidsLimit
	if limit == 0 {
		limit = defaultPidsLimit
	}
	initProcess := true
	return &container.HostConfig{
		Init:          &initProcess,
		NetworkMode:   networkMode(p.spec.Network.Mode),
		PortBindings:  portBindings(p.spec.Ports),
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		CapDrop:       []string{"ALL"},
		CapAdd:        slices.Concat(keptCapabilities, docker.AddCapabilities),
		SecurityOpt:   []string{"no-new-privileges"},
		Runtime:       docker.Runtime,
		Resources:     resources(p.spec.CPUs, p.spec.MemoryMiB, &limit),
		Mounts:        p.mounts(),
	}
}

// resources leaves no swap beyond the memory limit, so that the limit is what it says.
func resources(cpus float64, memoryMiB int64, pids *int64) container.Resources {
	memory := memoryMiB << 20
	return container.Resources{
		NanoCPUs:   int64(math.Round(cpus * 1e9)),
		Memory:     memory,
		MemorySwap: memory,
		PidsLimit:  pids,
	}
}

func networkMode(mode string) container.NetworkMode {
	if mode == backends.NetworkDenyAll {
		return network.NetworkNone
	}
	return network.NetworkBridge
}

func portBindings(ports []backends.Port) nat.PortMap {
	bindings := nat.PortMap{}
	for _, port := range ports {
		key := nat.Port(strconv.Itoa(port.Port) + "/" + firstOf(port.Protocol, "tcp"))
		binding := nat.PortBinding{HostIP: "127.0.0.1"}
		if port.Public {
			binding.HostIP = "0.0.0.0"
		}
		if port.PublishedPort != 0 {
			binding.HostPort = strconv.Itoa(port.PublishedPort)
		}
		bindings[key] = append(bindings[key], binding)
	}
	return bindings
}

// mounts uses the engine's mount objects, since the older binds make missing host directories.
func (p blueprint) mounts() []mount.Mount {
	var list []mount.Mount
	for _, m := range p.spec.Mounts {
		list = append(list, mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly})
	}
	add := func(source, target string) {
		list = append(list, mount.Mount{
			Type: mount.TypeVolume, Source: source, Target: target,
			VolumeOptions: &mount.VolumeOptions{NoCopy: p.keep[source]},
		})
	}
	for volume, v := range p.spec.Volumes {
		add(namedVolume(p.marks.Name, volume), v.Target)
	}
	if hasWorkspaceVolume(p.spec) {
		add(workspaceVolume(p.marks.Name), workspacePath)
	}
	for target, volume := range p.extra {
		if !slices.ContainsFunc(list, func(m mount.Mount) bool { return path.Clean(m.Target) == target }) {
			add(volume, target)
		}
	}
	slices.SortFunc(list, func(a, b mount.Mount) int { return strings.Compare(a.Target, b.Target) })
	return list
}
