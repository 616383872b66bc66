package docker

import (
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

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
