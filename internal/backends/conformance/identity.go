package conformance

import (
	"errors"
	"reflect"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// identityChecks run before all others, in this order.
func identityChecks() []check {
	return []check{
		{"name", checkName},
		{"table", checkTable},
		{"probe", checkProbe},
		{"binding", checkBinding},
	}
}

func checkName(t T, e *env) {
	name := e.backend.Name()
	if name == "" || e.harness.Name != "" && name != e.harness.Name {
		t.Errorf("Name is %q, want %q", name, e.harness.Name)
	}
}

func checkTable(t T, e *env) {
	table := e.backend.Capabilities()
	if !reflect.DeepEqual(table, e.backend.Capabilities()) {
		t.Errorf("Capabilities is not static")
	}
	if table.SecretsLiveIn == "" {
		t.Errorf("SecretsLiveIn is empty")
	}
	known := []string{backends.NetworkDenyAll, backends.NetworkAllowAll, backends.NetworkHost, backends.NetworkRestricted}
	if len(table.NetworkModes) == 0 {
		t.Errorf("there is no network mode")
	}
	for i, mode := range table.NetworkModes {
		if !slices.Contains(known, mode) || slices.Contains(table.NetworkModes[:i], mode) {
			t.Errorf("the network modes are %q", table.NetworkModes)
		}
	}
	if table.PublicPorts && !table.Ports {
		t.Errorf("public ports without ports")
	}
	if table.PublicPortsOnly && !table.PublicPorts {
		t.Errorf("only public ports, and no public ports")
	}
	if table.HostSource && table.DefaultSource {
		t.Errorf("no source means two things")
	}
	if (table.SnapshotSource || table.Clone) && !table.Persistent {
		t.Errorf("snapshots or clones without persistence")
	}
	_, isSnapshotter := e.backend.(backends.Snapshotter)
	if table.Snapshot && !isSnapshotter {
		t.Errorf("Snapshot is declared, and the backend is no Snapshotter")
	}
}

func checkProbe(t T, e *env) {
	availability := e.backend.Probe(e.ctx(t))
	if !availability.Available || availability.Version == "" || availability.Reason != "" {
		t.Errorf("Probe tells %+v", availability)
	}
}

func checkBinding(t T, e *env) {
	before, err := e.backend.Binding(e.ctx(t))
	prepared := err == nil
	if err != nil {
		e.wantKind(t, "Binding of a place that was never prepared", err, backends.NotFound)
		if listed, err := e.backend.List(e.ctx(t)); err != nil || len(listed) > 0 {
			t.Errorf("List before Prepare: %v, %v", listed, err)
		}
		_, err := e.backend.Get(e.ctx(t), e.uniqueName())
		e.wantKind(t, "Get before Prepare", err, backends.NotFound)
		if _, err := e.backend.Binding(e.ctx(t)); !errors.Is(err, backends.NotFound) {
			t.Errorf("reads prepared the place")
		}
	}
	binding, err := e.backend.Prepare(e.ctx(t))
	if err != nil {
		t.Fatalf("Prepare: %v", err)
	}
	if binding.ID == "" || binding.Description == "" {
		t.Errorf("Prepare tells %+v", binding)
	}
	if prepared && before != binding {
		t.Errorf("Binding told %+v, then Prepare %+v", before, binding)
	}
	for range 2 {
		if again, err := e.backend.Prepare(e.ctx(t)); err != nil || again != binding {
			t.Errorf("Prepare again: %+v, %v, want %+v", again, err, binding)
		}
		if read, err := e.backend.Binding(e.ctx(t)); err != nil || read != binding {
			t.Errorf("Binding: %+v, %v, want %+v", read, err, binding)
		}
	}
}
