package docker

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/volume"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

var removeForced = container.RemoveOptions{Force: true}

func TestLostIsRecovered(t *testing.T) {
	b := newBench(t)
	spec := b.full()
	created := b.create(spec)
	b.sh("echo kept > /workspace/kept; echo kept > /data/kept")
	b.must(b.raw.ContainerRemove(b.ctx(), b.marks.Name, removeForced))
	lost := b.get()
	if lost.Status != backends.StatusLost || lost.Marks != b.marks {
		t.Fatalf("lost: %+v", lost)
	}
	_, err := b.read("/workspace/kept")
	b.wantKind(err, backends.NotRunning)
	_, err = b.backend.Exec(b.ctx(), b.marks.Name, backends.Command{Argv: []string{"id"}})
	b.wantKind(err, backends.NotRunning)
	b.wantKind(b.backend.Start(b.ctx(), b.marks.Name), backends.NotRunning)

	without := spec
	without.Secrets = nil
	_, err = b.backend.Reconfigure(b.ctx(), b.marks, without)
	b.wantKind(err, backends.Conflict)
	recovered, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
	b.must(err)
	if !reflect.DeepEqual(recovered.Spec, created.Spec) || recovered.Status != backends.StatusRunning || recovered.ResolvedImage != created.ResolvedImage {
		t.Errorf("recovered\n%+v, created\n%+v", recovered, created)
	}
	if got := b.sh("cat /workspace/kept /data/kept; touch /workspace/more && echo $TOKEN"); got != "kept\nkept\n(TOKEN redacted)" {
		t.Errorf("inside: %q", got)
	}
}

func TestLostIsRecoveredFromItsOwnImage(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	b.create(spec)
	b.sh("mkdir /opt; echo tool > /opt/tool; echo kept > /workspace/kept")
	spec.Environment = map[string]string{"A": "1"}
	_, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
	b.must(err)
	b.must(b.raw.ContainerRemove(b.ctx(), b.marks.Name, removeForced))
	recovered, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
	b.must(err)
	if !reflect.DeepEqual(recovered.Spec, asObserved(spec)) {
		t.Errorf("recovered %+v", recovered.Spec)
	}
	if got := b.sh("cat /opt/tool /workspace/kept; echo $A"); got != "tool\nkept\n1" {
		t.Errorf("inside: %q", got)
	}
}

func TestLostFromASnapshot(t *testing.T) {
	b := newBench(t)
	b.create(b.spec())
	b.sh("echo kept > /workspace/kept; mkdir /opt; echo tool > /opt/tool")
	id := "snap-" + b.marks.Name
	_, err := b.backend.CreateSnapshot(b.ctx(), b.marks, id)
	b.must(err)
	b.delete(backends.DeleteOptions{})
	spec := backends.Spec{Source: backends.Source{SnapshotID: id}}
	b.create(spec)
	b.sh("echo more > /workspace/more")
	b.must(b.raw.ContainerRemove(b.ctx(), b.marks.Name, removeForced))
	b.wantKind(b.backend.DeleteSnapshot(b.ctx(), b.marks, id), backends.Conflict)
	_, err = b.backend.Reconfigure(b.ctx(), b.marks, spec)
	b.must(err)
	if got := b.sh("cat /workspace/kept /workspace/more /opt/tool"); got != "kept\nmore\ntool" {
		t.Errorf("inside: %q", got)
	}
}

func TestForeignThingsStay(t *testing.T) {
	b := newBench(t)
	config := &container.Config{Image: b.image, Cmd: []string{"sleep", "1000"}, Labels: map[string]string{"test": b.marks.Owner}}
	created, err := b.raw.ContainerCreate(b.ctx(), config, nil, nil, nil, b.marks.Name)
	b.must(err)
	t.Cleanup(func() { _ = b.raw.ContainerRemove(context.Background(), created.ID, removeForced) })
	if got := b.get(); got.Marks != (backends.Marks{}) || got.Name != b.marks.Name {
		t.Errorf("a foreign container is observed as %+v", got)
	}
	_, err = b.backend.Create(b.ctx(), b.marks, b.spec())
	b.wantKind(err, backends.AlreadyExists)
	_, err = b.backend.Reconfigure(b.ctx(), b.marks, b.spec())
	b.wantKind(err, backends.NotOurs)
	b.wantKind(b.backend.Delete(b.ctx(), b.marks, everything), backends.NotOurs)
	b.wantKind(b.backend.Start(b.ctx(), b.marks.Name), backends.NotOurs)
	b.wantKind(b.backend.WriteFile(b.ctx(), b.marks.Name, "/tmp/x", nil, 0o644), backends.NotOurs)
	_, err = b.raw.ContainerInspect(b.ctx(), created.ID)
	b.must(err)
	b.must(b.raw.ContainerRemove(b.ctx(), created.ID, removeForced))

	_, err = b.raw.VolumeCreate(b.ctx(), volume.CreateOptions{Name: workspaceVolume(b.marks.Name)})
	b.must(err)
	t.Cleanup(func() { _ = b.raw.VolumeRemove(context.Background(), workspaceVolume(b.marks.Name), true) })
	_, err = b.backend.Create(b.ctx(), b.marks, b.spec())
	b.wantKind(err, backends.AlreadyExists)
	_, err = b.backend.Get(b.ctx(), b.marks.Name)
	b.wantKind(err, backends.NotFound)
	b.delete(everything)
	_, err = b.raw.VolumeInspect(b.ctx(), workspaceVolume(b.marks.Name))
	b.must(err)
}

func TestOtherRecordIsNotOurs(t *testing.T) {
	b := newBench(t)
	b.create(b.spec())
	for _, change := range []func(*backends.Marks){
		func(m *backends.Marks) { m.Owner = "other" },
		func(m *backends.Marks) { m.Record = "other" },
	} {
		other := b.marks
		change(&other)
		b.wantKind(b.backend.Delete(b.ctx(), other, everything), backends.NotOurs)
		_, err := b.backend.Reconfigure(b.ctx(), other, b.spec())
		b.wantKind(err, backends.NotOurs)
		_, err = b.backend.CreateSnapshot(b.ctx(), other, "x")
		b.wantKind(err, backends.NotOurs)
	}
	if got := b.get().Status; got != backends.StatusRunning {
		t.Errorf("it is %s", got)
	}
}

// TestContainerFromOurImageIsForeign guards what a label of an image would do otherwise.
func TestContainerFromOurImageIsForeign(t *testing.T) {
	b := newBench(t)
	b.create(b.spec())
	id := "snap-" + b.marks.Name
	_, err := b.backend.CreateSnapshot(b.ctx(), b.marks, id)
	b.must(err)
	config := &container.Config{Image: snapshotReference(b.marks.Name, id), Cmd: []string{"sleep", "1000"}}
	created, err := b.raw.ContainerCreate(b.ctx(), config, nil, nil, nil, b.marks.Name+"-byhand")
	b.must(err)
	t.Cleanup(func() { _ = b.raw.ContainerRemove(context.Background(), created.ID, removeForced) })
	observed, err := b.backend.Get(b.ctx(), b.marks.Name+"-byhand")
	b.must(err)
	if observed.Marks != (backends.Marks{}) {
		t.Errorf("observed as %+v", observed.Marks)
	}
	list, err := b.backend.List(b.ctx())
	b.must(err)
	for _, seen := range list {
		if strings.HasSuffix(seen.Name, "-byhand") {
			t.Errorf("listed: %+v", seen)
		}
	}
}

func TestRetainedVolumeIsAttachedAgain(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	spec.Volumes = map[string]backends.Volume{"data": {Target: "/data"}}
	b.create(spec)
	b.sh("echo kept > /data/kept; echo gone > /workspace/gone")
	b.delete(backends.DeleteOptions{})
	if found := b.count(); !reflect.DeepEqual(found, counts{Volumes: []string{namedVolume(b.marks.Name, "data")}}) {
		t.Errorf("on the engine: %+v", found)
	}
	b.marks.Record += "-2"
	b.create(spec)
	if got := b.sh("cat /data/kept; ls /workspace"); got != "kept" {
		t.Errorf("inside: %q", got)
	}
	b.delete(everything)
	if left := b.count(); !reflect.DeepEqual(left, counts{}) {
		t.Errorf("left behind: %+v", left)
	}
}

func TestRefusals(t *testing.T) {
	b := newBench(t)
	listener, err := (&net.ListenConfig{}).Listen(b.ctx(), "tcp", "127.0.0.1:0")
	b.must(err)
	defer listener.Close()
	busy := listener.Addr().(*net.TCPAddr).Port
	for name, row := range map[string]struct {
		change func(*backends.Spec)
		kind   backends.ErrorKind
		object string
	}{
		"no source":       {func(s *backends.Spec) { s.Source = backends.Source{} }, backends.Unsupported, "source"},
		"rootfs":          {func(s *backends.Spec) { s.Source = backends.Source{Rootfs: "/x"} }, backends.Unsupported, "source.rootfs"},
		"host network":    {func(s *backends.Spec) { s.Network.Mode = "host" }, backends.Unsupported, "network.mode"},
		"absent image":    {func(s *backends.Spec) { s.Source.Image = "sandlot-test/no-such-image:1" }, backends.Invalid, "source.image"},
		"bad image":       {func(s *backends.Spec) { s.Source.Image = "Not An Image" }, backends.Invalid, "source.image"},
		"absent snapshot": {func(s *backends.Spec) { s.Source = backends.Source{SnapshotID: "no-such-snapshot"} }, backends.Invalid, "source.snapshot_id"},
		"absent original": {func(s *backends.Spec) { s.Source = backends.Source{CloneOf: "no-such-sandbox"} }, backends.Invalid, "source.clone_of"},
		"runtime":         {func(s *backends.Spec) { s.Docker = &backends.DockerOptions{Runtime: "no-such"} }, backends.Invalid, "docker.runtime"},
		"capability":      {func(s *backends.Spec) { s.Docker = &backends.DockerOptions{AddCapabilities: []string{"NO_SUCH"}} }, backends.Invalid, "docker.add_capabilities"},
		"cpus":            {func(s *backends.Spec) { s.CPUs = 4096 }, backends.Invalid, "cpus"},
		"memory":          {func(s *backends.Spec) { s.MemoryMiB = 1 }, backends.Invalid, "memory_mib"},
		"absent mount":    {func(s *backends.Spec) { s.Mounts = []backends.Mount{{Source: "/no/such", Target: "/mnt"}} }, backends.Invalid, "mounts"},
		"engine socket":   {func(s *backends.Spec) { s.Mounts = []backends.Mount{{Source: "/var/run/docker.sock", Target: "/s"}} }, backends.Invalid, "mounts"},
		"socket's parent": {func(s *backends.Spec) { s.Mounts = []backends.Mount{{Source: "/run", Target: "/s"}} }, backends.Invalid, "mounts"},
		"whole host":      {func(s *backends.Spec) { s.Mounts = []backends.Mount{{Source: "/", Target: "/s"}} }, backends.Invalid, "mounts"},
		"user":            {func(s *backends.Spec) { s.User = "no-such-user" }, backends.Invalid, "user"},
		"group":           {func(s *backends.Spec) { s.User = "agent:no-such" }, backends.Invalid, "user"},
		"command":         {func(s *backends.Spec) { s.Command = []string{"no-such-program"} }, backends.Invalid, "command"},
		"busy port":       {func(s *backends.Spec) { s.Ports = []backends.Port{{Port: 80, PublishedPort: busy}} }, backends.Conflict, "ports"},
		"label of ours":   {func(s *backends.Spec) { s.Labels = map[string]string{"sandlot.owner": "x"} }, backends.Invalid, "labels"},
		"ports, no network": {func(s *backends.Spec) {
			s.Network.Mode, s.Ports = backends.NetworkDenyAll, []backends.Port{{Port: 80}}
		}, backends.Invalid, "ports"},
		"unknown pull rule": {func(s *backends.Spec) { s.Docker = &backends.DockerOptions{PullPolicy: "often"} }, backends.Invalid, "docker.pull_policy"},
	} {
		spec := b.spec()
		spec.Volumes = map[string]backends.Volume{"data": {Target: "/data"}}
		row.change(&spec)
		_, err := b.backend.Create(b.ctx(), b.marks, spec)
		if failure := b.wantKind(err, row.kind); failure.Object != row.object || len(failure.Left) > 0 {
			t.Errorf("%s: names %q, left %v: %v", name, failure.Object, failure.Left, failure)
		}
		if left := b.count(); !reflect.DeepEqual(left, counts{}) {
			t.Errorf("%s: left behind: %+v", name, left)
		}
	}
}

func TestCanceledCreateLeavesNothing(t *testing.T) {
	b := newBench(t)
	for _, limit := range []time.Duration{10 * time.Millisecond, 50 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(b.ctx(), limit)
		_, err := b.backend.Create(ctx, b.marks, b.spec())
		cancel()
		if err != nil && !errors.Is(err, backends.TimedOut) {
			t.Errorf("after %v: %v", limit, err)
		}
		if err == nil {
			b.delete(everything)
		}
		if left := b.count(); !reflect.DeepEqual(left, counts{}) {
			t.Errorf("after %v: left behind %+v", limit, left)
		}
	}
}

func TestEngineSocketAllowed(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	spec.Mounts = []backends.Mount{{Source: filepath.Clean("/var/run/docker.sock"), Target: "/engine.sock"}}
	spec.Docker.AllowEngineSocket = true
	created := b.create(spec)
	if !reflect.DeepEqual(created.Spec, asObserved(spec)) {
		t.Errorf("observed\n%+v, want\n%+v", created.Spec, spec)
	}
}
