package docker

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

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
