package docker

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// specOf reads the configuration of a container. kept tells what of it was asked for.
func specOf(c container.InspectResponse, kept configuration, below inherited) backends.Spec {
	asked := kept.Spec
	environment, secrets := environmentOf(c.Config.Env, asked, below)
	mounts, volumes := mountsOf(c, below)
	return backends.Spec{
		Source:           backends.Source{Image: asked.Source.Image},
		CPUs:             cpusOf(c.HostConfig.Resources),
		MemoryMiB:        (c.HostConfig.Memory + 1<<20 - 1) >> 20,
		Environment:      environment,
		SecretNames:      secrets,
		WorkingDirectory: workingDirectoryOf(c.Config.WorkingDir, asked),
		User:             userOf(c.Config.User, asked.User, below),
		Command:          commandOf(c.Config, asked),
		Timeout:          timeoutOf(c.Config, asked),
		Ports:            asAsked(asked.Ports, portsOf(c.HostConfig), normalPorts),
		Mounts:           asAsked(asked.Mounts, mounts, normalMounts),
		Volumes:          volumes,
		Network:          networkOf(c, asked.Network),
		Labels:           labelsOf(c.Config.Labels, asked.Labels, below),
		Docker:           dockerOf(c.HostConfig, kept),
	}
}

// asAsked returns the list that was asked for when the engine's is the same but for order and
// spelled-out defaults, else the engine's.
func asAsked[T comparable](asked, actual []T, normal func([]T) []T) []T {
	if slices.Equal(normal(asked), normal(actual)) {
		return asked
	}
	return actual
}

func cpusOf(r container.Resources) float64 {
	if r.NanoCPUs != 0 {
		return float64(r.NanoCPUs) / 1e9
	}
	if r.CPUQuota > 0 {
		period := r.CPUPeriod
		if period == 0 {
			period = 100_000
		}
		return math.Round(float64(r.CPUQuota)/float64(period)*1000) / 1000
	}
	return 0
}

// environmentOf returns the variables that were asked for, or are there in spite of it, and the
// names of secrets that are there.
func environmentOf(entries []string, asked backends.Spec, below inherited) (map[string]string, []string) {
	values := map[string]string{}
	for _, entry := range entries {
		if name, value, ok := strings.Cut(entry, "="); ok {
			values[name] = value
		}
	}
	var secrets []string
	for _, name := range asked.SecretNames {
		if _, ok := values[name]; ok {
			secrets = append(secrets, name)
			delete(values, name)
		}
	}
	for name, value := range values {
		if _, ok := asked.Environment[name]; ok {
			continue
		}
		if fromImage := below.value(name); below.unknown || fromImage != nil && *fromImage == value {
			delete(values, name)
		}
	}
	return orNil(values), secrets
}

func workingDirectoryOf(actual string, asked backends.Spec) string {
	if actual == workingDirectory(asked) {
		return asked.WorkingDirectory
	}
	return firstOf(actual, "/")
}

func userOf(actual, asked string, below inherited) string {
	if asked == "" && (below.unknown || actual == below.User || below.explicit && actual == firstOf(below.User, "0")) {
		return ""
	}
	if actual == "" && asked != "" {
		return "root"
	}
	return actual
}

func mainProcess(c *container.Config) []string {
	return slices.Concat([]string(c.Entrypoint), []string(c.Cmd))
}

func commandOf(c *container.Config, asked backends.Spec) []string {
	actual := mainProcess(c)
	if slices.Equal(actual, argv(asked)) {
		return asked.Command
	}
	if len(actual) > 4 && slices.Equal(actual[:3], []string{"timeout", "-k", "10"}) {
		return actual[4:]
	}
	return actual
}

func timeoutOf(c *container.Config, asked backends.Spec) time.Duration {
	actual := mainProcess(c)
	if slices.Equal(actual, argv(asked)) {
		return asked.Timeout
	}
	if len(actual) > 4 && slices.Equal(actual[:3], []string{"timeout", "-k", "10"}) {
		if n, err := strconv.Atoi(actual[3]); err == nil {
			return time.Duration(n) * time.Second
		}
	}
	// Another command by hand is a change of the command; of a limit nothing is known.
	return asked.Timeout
}

// networkOf reads the networks that the container is really on: a disconnect by hand leaves the
// host configuration as it was.
func networkOf(c container.InspectResponse, asked backends.Network) backends.Network {
	var names []string
	if c.NetworkSettings != nil {
		names = slices.Sorted(maps.Keys(c.NetworkSettings.Networks))
	}
	mode := strings.Join(names, ",")
	switch mode {
	case "", network.NetworkNone:
		mode = backends.NetworkDenyAll
	case network.NetworkBridge:
		mode = backends.NetworkAllowAll
	case network.NetworkHost:
		mode = backends.NetworkHost
	}
	if mode == firstOf(asked.Mode, backends.NetworkAllowAll) {
		return asked
	}
	return backends.Network{Mode: mode}
}

func labelsOf(actual, asked map[string]string, below inherited) map[string]string {
	labels := withoutOurs(actual)
	for name, value := range labels {
		if _, ok := asked[name]; ok {
			continue
		}
		fromImage, ok := below.imageLabels[name]
		if below.unknown || ok && fromImage == value || below.explicit && below.Labels[name] == value {
			delete(labels, name)
		}
	}
	return orNil(labels)
}

func dockerOf(h *container.HostConfig, kept configuration) *backends.DockerOptions {
	var asked backends.DockerOptions
	if kept.Spec.Docker != nil {
		asked = *kept.Spec.Docker
	}
	actual := backends.DockerOptions{
		Runtime:           h.Runtime,
		AllowEngineSocket: asked.AllowEngineSocket,
		PullPolicy:        asked.PullPolicy,
	}
	if asked.Runtime == "" && h.Runtime == kept.DefaultRuntime {
		actual.Runtime = ""
	}
	if h.PidsLimit != nil {
		actual.PidsLimit = *h.PidsLimit
	}
	if asked.PidsLimit == 0 && actual.PidsLimit == defaultPidsLimit {
		actual.PidsLimit = 0
	}
	for _, added := range h.CapAdd {
		if !slices.Contains(keptCapabilities, strings.TrimPrefix(added, "CAP_")) || slices.Contains(asked.AddCapabilities, added) {
			actual.AddCapabilities = append(actual.AddCapabilities, strings.TrimPrefix(added, "CAP_"))
		}
	}
	if h.Privileged {
		actual.AddCapabilities = []string{"ALL"}
	}
	actual.AddCapabilities = asAsked(asked.AddCapabilities, actual.AddCapabilities, normalStrings)
	if kept.Spec.Docker == nil && sameDocker(&actual, nil) {
		return nil
	}
	return &actual
}

func sameDocker(a, b *backends.DockerOptions) bool {
	var left, right backends.DockerOptions
	if a != nil {
		left = *a
	}
	if b != nil {
		right = *b
	}
	return left.Runtime == right.Runtime && left.PidsLimit == right.PidsLimit &&
		left.AllowEngineSocket == right.AllowEngineSocket && left.PullPolicy == right.PullPolicy &&
		slices.Equal(normalStrings(left.AddCapabilities), normalStrings(right.AddCapabilities))
}
