package docker

import (
	"reflect"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func TestChangeByHandShows(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	b.create(spec)
	want := asObserved(spec)
	update := func(resources container.Resources) {
		_, err := b.raw.ContainerUpdate(b.ctx(), b.marks.Name, container.UpdateConfig{Resources: resources})
		b.must(err)
	}
	check := func(what string) {
		t.Helper()
		if got := b.get().Spec; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: observed\n%+v, want\n%+v", what, got, want)
		}
	}
	update(container.Resources{NanoCPUs: 250_000_000})
	want.CPUs = 0.25
	check("cpus")
	update(container.Resources{Memory: 128 << 20, MemorySwap: 128 << 20})
	want.MemoryMiB = 128
	check("memory")
	b.must(b.raw.NetworkDisconnect(b.ctx(), "bridge", b.marks.Name, true))
	want.Network.Mode = backends.NetworkDenyAll
	check("network")
	b.must(b.raw.ContainerStop(b.ctx(), b.marks.Name, container.StopOptions{}))
	check("stop")
	if got := b.get().Status; got != backends.StatusStopped {
		t.Errorf("status %q", got)
	}
	_, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
	b.must(err)
	want = asObserved(spec)
	check("back to the configuration")
}

// TestRemadeByHand makes the container again with the labels of the old one.
func TestRemadeByHand(t *testing.T) {
	rows := map[string]struct {
		remake func(*container.Config, *container.HostConfig)
		want   func(*backends.Spec)
	}{
		"environment": {
			func(c *container.Config, _ *container.HostConfig) { c.Env = []string{"PLAIN=2", "HAND=made"} },
			func(s *backends.Spec) { s.Environment = map[string]string{"PLAIN": "2", "HAND": "made"} },
		},
		"user":              {func(c *container.Config, _ *container.HostConfig) { c.User = "1000" }, func(s *backends.Spec) { s.User = "1000" }},
		"command":           {func(c *container.Config, _ *container.HostConfig) { c.Entrypoint, c.Cmd = nil, []string{"sleep", "99"} }, func(s *backends.Spec) { s.Command = []string{"sleep", "99"} }},
		"working_directory": {func(c *container.Config, _ *container.HostConfig) { c.WorkingDir = "/tmp" }, func(s *backends.Spec) { s.WorkingDirectory = "/tmp" }},
		"labels":            {func(c *container.Config, _ *container.HostConfig) { c.Labels["by"] = "hand" }, func(s *backends.Spec) { s.Labels = map[string]string{"by": "hand"} }},
		"ports": {
			func(c *container.Config, h *container.HostConfig) {
				h.PortBindings = portBindings([]backends.Port{{Port: 8080, Public: true}})
			},
			func(s *backends.Spec) { s.Ports = []backends.Port{{Port: 8080, Protocol: "tcp", Public: true}} },
		},
		"mounts": {
			func(_ *container.Config, h *container.HostConfig) { h.Binds = []string{"/usr/share:/mnt:ro"} },
			func(s *backends.Spec) {
				s.Mounts = []backends.Mount{{Source: "/usr/share", Target: "/mnt", ReadOnly: true}}
			},
		},
		"docker": {
			func(_ *container.Config, h *container.HostConfig) { h.CapAdd = append(h.CapAdd, "NET_RAW") },
			func(s *backends.Spec) {
				s.Docker = &backends.DockerOptions{AddCapabilities: []string{"NET_RAW"}, PullPolicy: pullNever}
			},
		},
		"network": {func(_ *container.Config, h *container.HostConfig) { h.NetworkMode = "host" }, func(s *backends.Spec) { s.Network.Mode = "host" }},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			spec := b.spec()
			spec.Environment = map[string]string{"PLAIN": "1"}
			b.create(spec)
			old := b.inspect()
			b.must(b.raw.ContainerRemove(b.ctx(), old.ID, container.RemoveOptions{Force: true}))
			row.remake(old.Config, old.HostConfig)
			created, err := b.raw.ContainerCreate(b.ctx(), old.Config, old.HostConfig, nil, nil, b.marks.Name)
			b.must(err)
			b.must(b.raw.ContainerStart(b.ctx(), created.ID, container.StartOptions{}))
			want := asObserved(spec)
			row.want(&want)
			if got := b.get().Spec; !reflect.DeepEqual(got, want) {
				t.Errorf("observed\n%+v, want\n%+v", got, want)
			}
			changed, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
			b.must(err)
			if !reflect.DeepEqual(changed.Spec, asObserved(spec)) {
				t.Errorf("changed back to\n%+v, want\n%+v", changed.Spec, spec)
			}
		})
	}
}
