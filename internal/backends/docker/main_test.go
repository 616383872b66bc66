package docker

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(crashVariable) != "":
		runCrashStep()
		os.Exit(0)
	case os.Getenv(dialVariable) != "":
		runDial()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// bench is one test's place on the engine: its own owner and name, swept at the end.
type bench struct {
	t       *testing.T
	backend *Backend
	raw     *client.Client
	image   string
	marks   backends.Marks
	calls   *recorder
}

// recorder keeps the effects that the backend reports.
type recorder struct {
	mu   sync.Mutex
	seen []effects.Effect
}

func (r *recorder) observe(_ context.Context, phase effects.Phase, effect effects.Effect) {
	if phase != effects.Before {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, effect)
}

// take returns what was seen since the last call.
func (r *recorder) take() []effects.Effect {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	r.seen = nil
	return seen
}

func writes(seen []effects.Effect) []effects.Effect {
	return slices.DeleteFunc(slices.Clone(seen), func(e effects.Effect) bool { return !e.Write })
}

func newBench(t *testing.T) *bench {
	t.Helper()
	t.Parallel()
	return newSerialBench(t)
}

func newSerialBench(t *testing.T) *bench {
	t.Helper()
	reference := testkit.DockerImage(t)
	raw, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	suffix, err := randomHex(4)
	if err != nil {
		t.Fatal(err)
	}
	calls := &recorder{}
	b := &bench{
		t: t, raw: raw, image: reference, calls: calls,
		backend: New(Config{Observer: calls.observe}),
		marks: backends.Marks{
			Owner: "test-" + suffix, Name: "sandlot-test-" + suffix, Kind: backends.Persistent,
			Workspace: "0123456789ab", Record: "record-" + suffix,
		},
	}
	t.Cleanup(func() {
		b.sweep()
		b.backend.Close()
		raw.Close()
	})
	return b
}

func (b *bench) ctx() context.Context { return b.t.Context() }

// byOwner filters what this test made.
func (b *bench) byOwner(more ...string) filters.Args {
	args := filters.NewArgs(filters.Arg("label", labelOwner+"="+b.marks.Owner))
	for _, label := range more {
		args.Add("label", label)
	}
	return args
}

// counts are the objects of this test's owner. Images below others are counted with them.
type counts struct {
	Containers, Volumes, Images []string
}

func (b *bench) count() counts {
	b.t.Helper()
	ctx := context.Background()
	var found counts
	containers, err := b.raw.ContainerList(ctx, container.ListOptions{All: true, Filters: b.byOwner()})
	b.must(err)
	for _, c := range containers {
		found.Containers = append(found.Containers, strings.TrimPrefix(c.Names[0], "/"))
	}
	volumes, err := b.raw.VolumeList(ctx, volume.ListOptions{Filters: b.byOwner()})
	b.must(err)
	for _, v := range volumes.Volumes {
		found.Volumes = append(found.Volumes, v.Name)
	}
	images, err := b.raw.ImageList(ctx, image.ListOptions{Filters: b.byOwner()})
	b.must(err)
	for _, i := range images {
		found.Images = append(found.Images, i.Labels[labelRole]+" "+strings.Join(i.RepoTags, " "))
	}
	slices.Sort(found.Containers)
	slices.Sort(found.Volumes)
	slices.Sort(found.Images)
	return found
}

func (b *bench) sweep() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	containers, err := b.raw.ContainerList(ctx, container.ListOptions{All: true, Filters: b.byOwner()})
	if err != nil {
		b.t.Errorf("sweep: %v", err)
	}
	for _, c := range containers {
		if err := b.raw.ContainerRemove(ctx, c.ID, container.RemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
			b.t.Errorf("sweep: %v", err)
		}
	}
	volumes, err := b.raw.VolumeList(ctx, volume.ListOptions{Filters: b.byOwner()})
	if err != nil {
		b.t.Errorf("sweep: %v", err)
	}
	for _, v := range volumes.Volumes {
		if err := b.raw.VolumeRemove(ctx, v.Name, true); err != nil {
			b.t.Errorf("sweep: %v", err)
		}
	}
	for range 5 { // Children first; those below become visible then.
		images, err := b.raw.ImageList(ctx, image.ListOptions{All: true, Filters: b.byOwner()})
		if err != nil {
			b.t.Errorf("sweep: %v", err)
		}
		for _, i := range images {
			_, _ = b.raw.ImageRemove(ctx, i.ID, image.RemoveOptions{Force: true, PruneChildren: true})
		}
		if len(images) == 0 {
			return
		}
	}
	b.t.Error("sweep: images are left")
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) wantKind(err error, kind backends.ErrorKind) *backends.Error {
	b.t.Helper()
	var typed *backends.Error
	if !errors.As(err, &typed) || typed.Kind != kind {
		b.t.Fatalf("got error %v, want kind %q", err, kind)
	}
	return typed
}

// spec is the smallest specification.
func (b *bench) spec() backends.Spec {
	return backends.Spec{Source: backends.Source{Image: b.image}, Docker: &backends.DockerOptions{PullPolicy: pullNever}}
}

func (b *bench) create(spec backends.Spec) backends.Observed {
	b.t.Helper()
	observed, err := b.backend.Create(b.ctx(), b.marks, spec)
	b.must(err)
	return observed
}

// sh runs a script inside and returns what it printed; it must end with status 0.
func (b *bench) sh(script string) string {
	b.t.Helper()
	return b.shIn(b.marks.Name, script)
}

func (b *bench) shIn(name, script string) string {
	b.t.Helper()
	result, err := b.backend.Exec(b.ctx(), name, backends.Command{Argv: []string{"sh", "-c", script}})
	b.must(err)
	if result.ExitCode != 0 {
		b.t.Fatalf("%q ended with %d: %s%s", script, result.ExitCode, result.Stdout, result.Stderr)
	}
	return strings.TrimSpace(string(result.Stdout))
}

func (b *bench) get() backends.Observed {
	b.t.Helper()
	observed, err := b.backend.Get(b.ctx(), b.marks.Name)
	b.must(err)
	return observed
}

func (b *bench) inspect() container.InspectResponse {
	b.t.Helper()
	c, err := b.raw.ContainerInspect(b.ctx(), b.marks.Name)
	b.must(err)
	return c
}

func (b *bench) delete(options backends.DeleteOptions) {
	b.t.Helper()
	b.must(b.backend.Delete(b.ctx(), b.marks, options))
}

var everything = backends.DeleteOptions{Volumes: true, Snapshots: true}
