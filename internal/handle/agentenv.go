package handle

import (
	"slices"
	"strings"
)

const docker = "docker"

// agentEnvRecord is a handle: the specification that the provider was given, and the public side of
// its services.
type agentEnvRecord struct {
	Spec     agentEnvSpec              `json:"spec"`
	Services map[string]agentEnvPublic `json:"services"`
}

type agentEnvSpec struct {
	Provider  string                     `json:"provider"`
	Owner     string                     `json:"owner"`
	Name      string                     `json:"name"`
	Cwd       string                     `json:"cwd"`
	Host      string                     `json:"host,omitempty"`
	SSHConfig string                     `json:"sshConfig,omitempty"`
	Services  map[string]agentEnvService `json:"services"`
	Cloud     *cloudRecord               `json:"cloud,omitempty"`
}

type agentEnvService struct {
	Image         string            `json:"image,omitempty"`
	Port          int               `json:"port,omitempty"`
	ContainerPort int               `json:"containerPort,omitempty"`
	Protocol      string            `json:"protocol,omitempty"`
	Command       string            `json:"command,omitempty"`
	Env           map[string]string `json:"env,omitempty"`
	Volumes       map[string]string `json:"volumes,omitempty"`
	Internal      bool              `json:"internal,omitempty"`
}

// agentEnvPublic has either a port and a protocol or the mark that there is none.
type agentEnvPublic struct {
	Port     int    `json:"port,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	Internal bool   `json:"internal,omitempty"`
}

const (
	defaultProtocol = "http"
	highestPort     = 65535
	notAPort        = "is not a port from 1 to 65535"
	notAbsolute     = "is not an absolute path"
)

func printAgentEnv(o Object) (any, error) {
	if err := fitAgentEnv(o); err != nil {
		return nil, err
	}
	err := need(AgentEnv,
		required{"spec.provider", o.Backend}, required{"spec.owner", o.Owner},
		required{"spec.name", o.Name}, required{"spec.cwd", o.Directory})
	switch {
	case err != nil:
		return nil, err
	case !strings.HasPrefix(o.Directory, "/"):
		return nil, &KeyError{Shape: AgentEnv, Key: "spec.cwd", Problem: notAbsolute}
	case len(o.Services) == 0:
		return nil, &KeyError{Shape: AgentEnv, Key: "spec.services", Problem: "has no value in this object"}
	}
	record := agentEnvRecord{
		Spec: agentEnvSpec{
			Provider: o.Backend, Owner: o.Owner, Name: o.Name, Cwd: o.Directory,
			Host: o.Host, SSHConfig: o.SSHConfig, Services: map[string]agentEnvService{}, Cloud: printCloud(o.Cloud),
		},
		Services: map[string]agentEnvPublic{},
	}
	for name, service := range o.Services {
		public, err := publicSide("services."+name, service)
		if err != nil {
			return nil, err
		}
		record.Services[name] = public
		record.Spec.Services[name] = agentEnvService{
			Image: service.Image, Port: public.Port, ContainerPort: service.ContainerPort, Protocol: public.Protocol,
			Command: service.Command, Env: service.Env, Volumes: service.Volumes, Internal: public.Internal,
		}
	}
	return record, nil
}

func publicSide(key string, s Service) (agentEnvPublic, error) {
	switch {
	case s.Internal && (s.Port != 0 || s.Protocol != ""):
		return agentEnvPublic{}, &KeyError{Shape: AgentEnv, Key: key, Problem: internalButPublic}
	case s.Internal:
		return agentEnvPublic{Internal: true}, nil
	case s.Port < 1 || s.Port > highestPort:
		return agentEnvPublic{}, &KeyError{Shape: AgentEnv, Key: key + ".port", Problem: notAPort}
	case s.ContainerPort < 0 || s.ContainerPort > highestPort:
		return agentEnvPublic{}, &KeyError{Shape: AgentEnv, Key: key + ".containerPort", Problem: notAPort}
	case s.Protocol == "":
		s.Protocol = defaultProtocol
	}
	return agentEnvPublic{Port: s.Port, Protocol: s.Protocol}, nil
}

const internalButPublic = "is internal, and has a port or a protocol"

// fitAgentEnv refuses the backends that are no provider there. Names that we do not know pass.
func fitAgentEnv(o Object) error {
	if slices.Contains([]string{vercel, "local", "orbstack", appleBackend, "adapter"}, o.Backend) {
		return &MismatchError{
			Shape: AgentEnv, Backend: o.Backend, Kind: o.Kind,
			Wants:  "It describes sandboxes on the backend \"docker\", on this machine or over SSH",
			Remedy: "Ask for " + string(WorkspaceResource) + ", which fits every backend",
		}
	}
	return nil
}

func parseAgentEnv(f *fields) Object {
	spec := f.needObject("spec")
	o := Object{
		Backend: spec.needText("provider"), ResourceKind: ResourceSandbox, Owner: spec.needText("owner"), Name: spec.needText("name"),
		Directory: spec.needText("cwd"), Host: spec.text("host"), SSHConfig: spec.text("sshConfig"), Cloud: parseCloud(spec),
		Services: map[string]Service{},
	}
	if fitAgentEnv(o) != nil {
		spec.fail("provider", "is "+quote(o.Backend)+", which is no provider")
	}
	if !strings.HasPrefix(o.Directory, "/") {
		spec.fail("cwd", notAbsolute)
	}
	configured, public := spec.needObject("services"), f.needObject("services")
	for _, name := range slices.Concat(configured.names(), public.names()) {
		o.Services[name] = parseService(configured.object(name), public.object(name))
	}
	if len(o.Services) == 0 {
		spec.fail("services", "is empty")
	}
	return o
}

// parseService takes the public side from the handle where it is there: the provider may have
// published another port than it was asked for.
func parseService(configured, public *fields) Service {
	s := Service{
		Image: configured.text("image"), ContainerPort: port(configured, "containerPort"),
		Command: configured.text("command"), Env: configured.texts("env"), Volumes: configured.texts("volumes"),
	}
	s.Internal = isTrue(public.flag("internal")) || isTrue(configured.flag("internal"))
	if s.Port = port(public, "port"); s.Port == 0 {
		s.Port = port(configured, "port")
	}
	if s.Protocol = public.text("protocol"); s.Protocol == "" {
		s.Protocol = configured.text("protocol")
	}
	switch {
	case s.Internal && (s.Port != 0 || s.Protocol != ""):
		public.fail("internal", "stands beside a port or a protocol")
	case !s.Internal && s.Port == 0:
		public.fail("port", "is missing")
	case !s.Internal && s.Protocol == "":
		s.Protocol = defaultProtocol
	}
	return s
}

// port reads a port, 0 when it is absent.
func port(f *fields, key string) int {
	if !f.has(key) {
		return 0
	}
	value := f.number(key)
	if value < 1 || value > highestPort {
		f.fail(key, notAPort)
		return 0
	}
	return int(value)
}

func isTrue(flag *bool) bool { return flag != nil && *flag }
