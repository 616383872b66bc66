package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// imageWith makes an image that has a configuration of its own, on top of the test image.
func (b *bench) imageWith(config *container.Config) string {
	b.t.Helper()
	reference := "sandlot-test/" + b.marks.Owner + ":1"
	created, err := b.raw.ContainerCreate(b.ctx(), &container.Config{Image: b.image, Cmd: []string{"sh"}}, nil, nil, nil, "")
	b.must(err)
	config.Labels = map[string]string{"from": "image"}
	_, err = b.raw.ContainerCommit(b.ctx(), created.ID, container.CommitOptions{Reference: reference, Config: config})
	b.must(err)
	b.must(b.raw.ContainerRemove(b.ctx(), created.ID, removeForced))
	b.t.Cleanup(func() {
		b.sweep()
		if _, err := b.raw.ImageRemove(context.Background(), reference, image.RemoveOptions{Force: true, PruneChildren: true}); err != nil {
			b.t.Errorf("remove the image: %v", err)
		}
	})
	return reference
}

// TestImageDefaultsAreNoConfiguration takes an image that sets everything an image can set.
func TestImageDefaultsAreNoConfiguration(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	spec.Source.Image = b.imageWith(&container.Config{
		Env: []string{"FROM_IMAGE=yes", "OVERRIDDEN=image"}, User: "agent", WorkingDir: "/srv", Cmd: []string{"echo"}, Entrypoint: []string{"/bin/env"},
		Volumes: map[string]struct{}{"/declared": {}, workspacePath: {}},
	})
	spec.Environment = map[string]string{"OVERRIDDEN": "sandbox"}
	created := b.create(spec)
	if want := asObserved(spec); !reflect.DeepEqual(created.Spec, want) {
		t.Errorf("observed\n%+v, want\n%+v", created.Spec, want)
	}
	if got := b.sh("id -u; echo $FROM_IMAGE $OVERRIDDEN; pwd; touch /workspace/x && echo ok"); got != "1000\nyes sandbox\n/workspace\nok" {
		t.Errorf("inside: %q", got)
	}
	asRoot := func(script string) {
		t.Helper()
		result, err := b.exec(backends.Command{Argv: []string{"sh", "-c", script}, User: "root"})
		b.must(err)
		if result.ExitCode != 0 {
			t.Fatalf("%q: %s", script, result.Stderr)
		}
	}
	asRoot("mkdir /opt; echo tool > /opt/tool; echo declared > /declared/file")
	for i, step := range []func(){
		func() { spec.Environment = nil },
		func() { spec.Secrets, spec.SecretNames = map[string]string{"S": "1"}, []string{"S"} },
		func() { spec.Environment, spec.User = map[string]string{"FROM_IMAGE": "no"}, "root" },
		func() { spec.Environment, spec.Secrets, spec.SecretNames, spec.User = nil, nil, nil, "" },
	} {
		step()
		changed, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
		b.must(err)
		if want := asObserved(spec); !reflect.DeepEqual(changed.Spec, want) {
			t.Errorf("step %d: observed\n%+v, want\n%+v", i, changed.Spec, want)
		}
		if got := b.sh("cat /opt/tool /declared/file"); got != "tool\ndeclared" {
			t.Errorf("step %d: inside %q", i, got)
		}
		if got := b.inspect().Config.Labels["from"]; got != "image" {
			t.Errorf("step %d: the image's label is %q", i, got)
		}
		asRoot("echo more >> /opt/more")
	}
	if got := b.sh("id -u; echo $FROM_IMAGE $OVERRIDDEN ${S-unset}"); got != "1000\nyes image unset" {
		t.Errorf("inside at the end: %q", got)
	}
	if found := b.count(); len(found.Images) != 1 || len(found.Containers) != 1 {
		t.Errorf("on the engine: %+v", found)
	}

	b.sh("echo kept > /workspace/kept")
	id := "snap-" + b.marks.Name
	_, err := b.backend.CreateSnapshot(b.ctx(), b.marks, id)
	b.must(err)
	volumes := b.volumeNames()
	b.delete(backends.DeleteOptions{})
	for _, name := range volumes {
		if _, err := b.raw.VolumeInspect(b.ctx(), name); err == nil {
			t.Errorf("volume %s is left", name)
		}
	}
	second := backends.Spec{Source: backends.Source{SnapshotID: id}}
	observed := b.create(second)
	if !reflect.DeepEqual(observed.Spec, backends.Spec{}) {
		t.Errorf("from the snapshot: %+v", observed.Spec)
	}
	if got := b.sh("cat /workspace/kept /opt/tool; id -u; echo $FROM_IMAGE"); got != "kept\ntool\n1000\nyes" {
		t.Errorf("inside what was made from the snapshot: %q", got)
	}
}

// volumeNames are those that the sandbox's container uses.
func (b *bench) volumeNames() []string {
	var names []string
	for _, m := range b.inspect().Mounts {
		names = append(names, m.Name)
	}
	return names
}

func TestImageWithoutPrograms(t *testing.T) {
	b := newBench(t)
	var content bytes.Buffer
	archive := tar.NewWriter(&content)
	b.must(archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "main", Mode: 0o755}))
	b.must(archive.Close())
	reference := "sandlot-test/" + b.marks.Owner + ":1"
	stream, err := b.raw.ImageImport(b.ctx(), image.ImportSource{Source: &content, SourceName: "-"}, reference, image.ImportOptions{})
	b.must(err)
	b.must(drain(stream))
	t.Cleanup(func() { _, _ = b.raw.ImageRemove(context.Background(), reference, image.RemoveOptions{Force: true}) })
	spec := b.spec()
	spec.Source.Image = reference
	_, err = b.backend.Create(b.ctx(), b.marks, spec)
	if failure := b.wantKind(err, backends.Invalid); failure.Object != "command" || !strings.Contains(failure.Detail, "sleep") {
		t.Errorf("without sleep: %v", failure)
	}
	spec.Command, spec.Timeout = []string{"/main"}, 1e9
	_, err = b.backend.Create(b.ctx(), b.marks, spec)
	if failure := b.wantKind(err, backends.Unsupported); failure.Object != "timeout" {
		t.Errorf("without timeout: %v", failure)
	}
	if left := b.count(); !reflect.DeepEqual(left, counts{}) {
		t.Errorf("left behind: %+v", left)
	}
}
