// Package backendset is the closed set of backends that the schema accepts, and makes them.
package backendset

import (
	"fmt"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/docker"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/local"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Config holds the settings of all backends.
type Config struct {
	Local  local.Config
	Docker docker.Config
	Vercel vercel.Config
}

// Names returns the values of the `backend` attribute, in the order of the documentation.
func Names() []string { return []string{"local", "docker", "vercel"} }

// OnHosts returns the names of those that can be on a cloud host.
func OnHosts() []string { return []string{"docker"} }

// New makes a backend, also of the name of one on a cloud host, for which the configuration says how to
// get there. It does no I/O: clients connect on first use.
func New(name string, config Config) (backends.Backend, error) {
	plain, host := sandbox.CutHost(name)
	if host != "" && !slices.Contains(OnHosts(), plain) {
		return nil, fmt.Errorf("the backend %q cannot be on a cloud host", plain)
	}
	switch plain {
	case "local":
		return local.New(config.Local), nil
	case "docker":
		return docker.New(config.Docker), nil
	case "vercel":
		return vercel.New(config.Vercel), nil
	}
	return nil, fmt.Errorf("there is no backend %q", name)
}

// CheckSpec returns what a backend itself knows that a specification cannot have there. No I/O.
func CheckSpec(name string, kind backends.Kind, spec backends.Spec) []backends.Gap {
	backend, err := New(name, Config{})
	if err != nil {
		return nil
	}
	return backends.CheckSpec(backend, kind, spec)
}

// Capabilities returns the static table of a backend; false when there is none of that name.
func Capabilities(name string) (backends.Capabilities, bool) {
	backend, err := New(name, Config{})
	if err != nil {
		return backends.Capabilities{}, false
	}
	return backend.Capabilities(), true
}
