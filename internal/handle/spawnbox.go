package handle

import "slices"

// spawnboxRecord holds what attaching takes, the name and the driver, and what the attached sandbox
// then tells of itself.
type spawnboxRecord struct {
	Name      string `json:"name"`
	Driver    string `json:"driver"`
	User      string `json:"user,omitempty"`
	Workspace string `json:"workspace,omitempty"`
	Isolated  *bool  `json:"isolated,omitempty"`
}

// eveRecord is the session state that the connector captures; its own name for the sandbox is the
// machine.
type eveRecord struct {
	BackendName string      `json:"backendName"`
	SessionKey  string      `json:"sessionKey"`
	Metadata    eveMetadata `json:"metadata"`
}

type eveMetadata struct {
	Machine string `json:"machine"`
}

const eveBackend = "spawnbox"

func printSpawnbox(o Object) (any, error) {
	if err := fitSpawnbox(Spawnbox, o); err != nil {
		return nil, err
	}
	driver := driverOf(o.Backend)
	if err := need(Spawnbox, required{"name", o.Name}, required{"driver", driver}); err != nil {
		return nil, err
	}
	return spawnboxRecord{Name: o.Name, Driver: driver, User: o.User, Workspace: o.Workspace, Isolated: o.Isolated}, nil
}

func printEve(o Object) (any, error) {
	if err := fitSpawnbox(Eve, o); err != nil {
		return nil, err
	}
	if err := need(Eve, required{"sessionKey", o.SessionKey}, required{"metadata.machine", o.Name}); err != nil {
		return nil, err
	}
	return eveRecord{BackendName: eveBackend, SessionKey: o.SessionKey, Metadata: eveMetadata{Machine: o.Name}}, nil
}

// fitSpawnbox refuses the backends that have no driver there. Names that we do not know pass, since
// an application can register a driver under any name.
func fitSpawnbox(shape Shape, o Object) error {
	if slices.Contains([]string{vercel, docker, "local", "adapter"}, o.Backend) {
		return &MismatchError{
			Shape: shape, Backend: o.Backend, Kind: o.Kind,
			Wants:  "It describes sandboxes on the backends \"orbstack\" and \"apple_container\", which have a driver there",
			Remedy: "Ask for " + string(WorkspaceResource) + ", which fits every backend",
		}
	}
	return nil
}

// Only one backend has another name there.
const (
	appleBackend = "apple_container"
	appleDriver  = "apple"
)

func driverOf(backend string) string {
	if backend == appleBackend {
		return appleDriver
	}
	return backend
}

func parseSpawnbox(f *fields) Object {
	o := Object{
		Name: f.needText("name"), Backend: f.needText("driver"), ResourceKind: ResourceSandbox,
		User: f.text("user"), Workspace: f.text("workspace"), Isolated: f.flag("isolated"),
	}
	if o.Backend == appleDriver {
		o.Backend = appleBackend
	}
	if fitSpawnbox(f.shape, o) != nil {
		f.fail("driver", "is "+quote(o.Backend)+", which is no driver")
	}
	return o
}

// parseEve leaves the backend unknown: the record does not tell the driver.
func parseEve(f *fields) Object {
	if name := f.needText("backendName"); name != eveBackend {
		f.fail("backendName", "is "+quote(name)+": known is "+quote(eveBackend))
	}
	return Object{
		SessionKey: f.needText("sessionKey"), ResourceKind: ResourceSandbox,
		Name: f.needObject("metadata").needText("machine"),
	}
}
