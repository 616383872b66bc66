package docker

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// engineSockets are the sockets from which a container engine, and with it the host, can be ruled.
var engineSockets = []string{
	"/var/run/docker.sock", "/run/docker.sock",
	"/run/containerd/containerd.sock", "/var/run/containerd/containerd.sock",
	"/run/podman/podman.sock", "/var/run/podman/podman.sock",
}

// check refuses what must never reach the engine.
func (e *engine) check(operation string, spec backends.Spec) error {
	for name := range spec.Labels {
		if strings.HasPrefix(name, labelPrefix) {
			return invalid(operation, "labels", "Labels that start with "+labelPrefix+" are kept for Sandlot itself.", "")
		}
	}
	if spec.Network.Mode == backends.NetworkDenyAll && len(spec.Ports) > 0 {
		return invalid(operation, "ports", "A sandbox without a network cannot publish ports.", "Leave the ports out, or allow the network.")
	}
	if spec.Docker != nil {
		switch spec.Docker.PullPolicy {
		case "", pullMissing, pullAlways, pullNever:
		default:
			return invalid(operation, "docker.pull_policy", `Allowed: "missing", "always", "never".`, "")
		}
		if spec.Docker.AllowEngineSocket {
			return nil
		}
	}
	for _, m := range spec.Mounts {
		if socket := e.exposed(m.Source); socket != "" {
			return invalid(operation, "mounts", "A mount of "+m.Source+" would show the sandbox the engine's socket "+socket+", and with it the whole host.",
				"Leave the mount out, or allow it with `docker.allow_engine_socket = true`.")
		}
	}
	return nil
}

// exposed returns the engine socket that a mount of source would show, empty when none. Links on
// this machine are followed, which is the engine's host in the usual case.
func (e *engine) exposed(source string) string {
	candidates := []string{path.Clean(source)}
	if real, err := filepath.EvalSymlinks(source); err == nil {
		candidates = append(candidates, real)
	}
	sockets := engineSockets
	if own := e.socket(); own != "" {
		sockets = append([]string{own}, sockets...)
		if real, err := filepath.EvalSymlinks(own); err == nil {
			sockets = append(sockets, real)
		}
	}
	for _, candidate := range candidates {
		for _, socket := range sockets {
			if within(candidate, socket) {
				return socket
			}
		}
	}
	return ""
}

// within tells whether a clean path is a directory or something below it.
func within(directory, p string) bool {
	return p == directory || directory == "/" || strings.HasPrefix(p, directory+"/")
}
