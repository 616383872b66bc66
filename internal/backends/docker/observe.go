package docker

import (
	"maps"
	"math"
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// describe turns a container into what is observed. Values come from the engine where it has
// them; the configuration label only tells which of them were asked for, so a change by hand
// shows as that attribute and nothing else.
func (e *engine) describe(c container.InspectResponse, below inherited) backends.Observed {
	kept := configurationOf(c.Config.Labels)
	observed := backends.Observed{
		Name:          strings.TrimPrefix(c.Name, "/"),
		Status:        statusOf(c),
		Workspace:     workspacePath,
		ResolvedImage: kept.ResolvedImage,
		CreatedAt:     kept.CreatedAt,
	}
	if isSandbox(c.Name, c.Config.Labels) {
		observed.Marks = marksOf(c.Config.Labels)
		observed.Name = c.Config.Labels[labelName]
	} else {
		observed.ResolvedImage = c.Image
	}
	if observed.CreatedAt.IsZero() {
		observed.CreatedAt = parseTime(c.Created)
	}
	if observed.Running() {
		observed.SessionID = sessionID(c)
		observed.Endpoints = e.endpointsOf(c)
	}
	observed.Spec = specOf(c, kept, below)
	return observed
}

// statusOf counts a paused container as stopped: nothing runs in it, and no command can be run.
func statusOf(c container.InspectResponse) backends.Status {
	if c.State != nil && c.State.Running && !c.State.Paused {
		return backends.StatusRunning
	}
	return backends.StatusStopped
}

// sessionID differs between two containers and between two starts of one.
func sessionID(c container.InspectResponse) string {
	id := c.ID
	if len(id) > 12 {
		id = id[:12]
	}
	return id + "-" + strconv.FormatInt(parseTime(c.State.StartedAt).UnixMilli(), 36)
}

// parseTime reads a time of the engine; one that cannot be read is unknown, which is zero.
func parseTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

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
		if fromImage := below.value(name); fromImage != nil && *fromImage == value {
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
	if asked == "" && (actual == below.User || below.explicit && actual == firstOf(below.User, "0")) {
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
		if ok && fromImage == value {
			delete(labels, name)
		}
		if value == below.Labels[name] && below.explicit {
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

// portsOf reads the bindings that were asked for: an engine-chosen port is not among them. What
// was published for IPv4 and IPv6 is one port.
func portsOf(h *container.HostConfig) []backends.Port {
	var ports []backends.Port
	for key, bindings := range h.PortBindings {
		for _, binding := range bindings {
			port := backends.Port{Port: key.Int(), Protocol: key.Proto(), Public: !isLoopback(binding.HostIP)}
			if n, err := strconv.Atoi(binding.HostPort); err == nil {
				port.PublishedPort = n
			}
			ports = append(ports, port)
		}
	}
	return slices.Compact(normalPorts(ports))
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// mountsOf sorts what is mounted into mounts and named volumes of this sandbox. The workspace
// volume and the volumes that an image asks for are neither.
func mountsOf(c container.InspectResponse, below inherited) ([]backends.Mount, map[string]backends.Volume) {
	name := c.Config.Labels[labelName]
	var mounts []backends.Mount
	volumes := map[string]backends.Volume{}
	for _, m := range c.Mounts {
		if m.Type == mount.TypeVolume {
			if _, ok := below.Volumes[m.Destination]; ok && m.Name != workspaceVolume(name) {
				if _, ours := strings.CutPrefix(m.Name, name+"-vol-"); !ours {
					continue
				}
			}
			if m.Name == workspaceVolume(name) && m.Destination == workspacePath {
				continue
			}
			if short, ok := strings.CutPrefix(m.Name, name+"-vol-"); ok {
				volumes[short] = backends.Volume{Target: m.Destination}
				continue
			}
			mounts = append(mounts, backends.Mount{Source: m.Name, Target: m.Destination, ReadOnly: !m.RW})
			continue
		}
		if m.Type == mount.TypeBind {
			mounts = append(mounts, backends.Mount{Source: m.Source, Target: m.Destination, ReadOnly: !m.RW})
		}
	}
	if len(volumes) == 0 {
		volumes = nil
	}
	return normalMounts(mounts), volumes
}

// endpointsOf maps each published port to the host and port that reach it: no scheme is assumed,
// since nobody knows what is spoken there.
func (e *engine) endpointsOf(c container.InspectResponse) map[string]string {
	endpoints := map[string]string{}
	if c.NetworkSettings == nil {
		return endpoints
	}
	for key, bindings := range c.NetworkSettings.Ports {
		for _, binding := range bindings {
			address, err := netip.ParseAddr(binding.HostIP)
			if _, taken := endpoints[string(key)]; taken && (err != nil || !address.Is4()) {
				continue
			}
			host := binding.HostIP
			if err != nil || address.IsUnspecified() {
				host = e.hostname()
			}
			endpoints[string(key)] = net.JoinHostPort(host, binding.HostPort)
		}
	}
	return endpoints
}

// hostname is where ports on all interfaces of the engine's host are reached.
func (e *engine) hostname() string {
	if address, err := url.Parse(e.address); err == nil && address.Hostname() != "" && address.Scheme != "unix" {
		return address.Hostname()
	}
	return "127.0.0.1"
}

func normalPorts(ports []backends.Port) []backends.Port {
	normal := slices.Clone(ports)
	for i := range normal {
		normal[i].Protocol = firstOf(normal[i].Protocol, "tcp")
	}
	slices.SortFunc(normal, func(a, b backends.Port) int {
		if a.Port != b.Port {
			return a.Port - b.Port
		}
		if a.Protocol != b.Protocol {
			return strings.Compare(a.Protocol, b.Protocol)
		}
		return a.PublishedPort - b.PublishedPort
	})
	return normal
}

func normalMounts(mounts []backends.Mount) []backends.Mount {
	normal := slices.Clone(mounts)
	for i := range normal {
		normal[i].Source = cleanSource(normal[i].Source)
		normal[i].Target = path.Clean(normal[i].Target)
	}
	slices.SortFunc(normal, func(a, b backends.Mount) int { return strings.Compare(a.Target, b.Target) })
	return normal
}

// cleanSource leaves the name of a volume alone.
func cleanSource(source string) string {
	if strings.HasPrefix(source, "/") {
		return path.Clean(source)
	}
	return source
}

func normalStrings(values []string) []string {
	normal := slices.Clone(values)
	for i := range normal {
		normal[i] = strings.TrimPrefix(normal[i], "CAP_")
	}
	return slices.Compact(slices.Sorted(slices.Values(normal)))
}

func orNil(values map[string]string) map[string]string {
	if len(values) == 0 {
		return nil
	}
	return values
}
