package docker

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func TestSnapshot(t *testing.T) {
	for name, row := range map[string]struct {
		secrets bool
		root    bool
		user    string
	}{
		"workspace only":            {},
		"changed root":              {root: true},
		"secrets":                   {secrets: true},
		"secrets and changed root":  {secrets: true, root: true},
		"a user, changed workspace": {user: "agent"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			spec := b.spec()
			spec.User = row.user
			spec.Environment = map[string]string{"PLAIN": "plain-canary-" + b.marks.Name}
			if row.secrets {
				spec.Secrets, spec.SecretNames = map[string]string{"TOKEN": "canary-" + b.marks.Name}, []string{"TOKEN"}
			}
			b.create(spec)
			b.sh("mkdir /workspace/dir; echo kept > /workspace/dir/file; chmod 640 /workspace/dir/file; ln -s dir/file /workspace/link")
			if row.root {
				b.sh("mkdir /opt; echo tool > /opt/tool")
			}
			before := b.get()
			id := "snap-" + b.marks.Name
			made, err := b.backend.CreateSnapshot(b.ctx(), b.marks, id)
			b.must(err)
			if made.ID != id || made.Marks != b.marks || made.SizeBytes <= 0 || made.CreatedAt.IsZero() {
				t.Errorf("snapshot %+v", made)
			}
			if after := b.get(); !reflect.DeepEqual(after, before) {
				t.Errorf("the sandbox changed from\n%+v to\n%+v", before, after)
			}
			b.calls.take()
			again, err := b.backend.CreateSnapshot(b.ctx(), b.marks, id)
			b.must(err)
			if done := writes(b.calls.take()); len(done) > 0 || again != made {
				t.Errorf("the same snapshot again: %+v, wrote %v", again, done)
			}
			b.wantNoCanary("canary-" + b.marks.Name)
			b.fromSnapshot(id, row.root)
		})
	}
}

// fromSnapshot makes a second sandbox and checks what is in it.
func (b *bench) fromSnapshot(id string, root bool) {
	b.t.Helper()
	second := b.marks
	second.Name += "-2"
	second.Record += "-2"
	observed, err := b.backend.Create(b.ctx(), second, backends.Spec{Source: backends.Source{SnapshotID: id}})
	b.must(err)
	if want := (backends.Spec{}); !reflect.DeepEqual(observed.Spec, want) {
		b.t.Errorf("made from the snapshot: %+v", observed.Spec)
	}
	if got := b.shIn(second.Name, "cat /workspace/link; stat -c %a /workspace/dir/file; echo ${TOKEN-unset}${PLAIN-unset}"); got != "kept\n640\nunsetunset" {
		b.t.Errorf("inside: %q", got)
	}
	if root {
		if got := b.shIn(second.Name, "cat /opt/tool"); got != "tool" {
			b.t.Errorf("root file system: %q", got)
		}
	}
	b.wantKind(b.backend.DeleteSnapshot(b.ctx(), b.marks, id), backends.Conflict)
	b.must(b.backend.Delete(b.ctx(), second, everything))
	foreign := b.marks
	foreign.Owner = "somebody-else"
	b.wantKind(b.backend.DeleteSnapshot(b.ctx(), foreign, id), backends.NotOurs)
	b.must(b.backend.DeleteSnapshot(b.ctx(), b.marks, id))
	b.must(b.backend.DeleteSnapshot(b.ctx(), b.marks, id))
	_, err = b.backend.GetSnapshot(b.ctx(), id)
	b.wantKind(err, backends.NotFound)
	b.delete(everything)
	if left := b.count(); !reflect.DeepEqual(left, counts{}) {
		b.t.Errorf("left behind: %+v", left)
	}
}

// wantNoCanary searches everything that the engine tells of this test's images, those below others
// included.
func (b *bench) wantNoCanary(canary string) {
	b.t.Helper()
	ctx := context.Background()
	images, err := b.raw.ImageList(ctx, image.ListOptions{All: true, Filters: b.byOwner()})
	b.must(err)
	if len(images) == 0 {
		b.t.Error("there is no image to search")
	}
	for _, found := range images {
		inspected, raw, err := b.raw.ImageInspectWithRaw(ctx, found.ID) //nolint:staticcheck // the raw answer is what is searched
		b.must(err)
		history, err := b.raw.ImageHistory(ctx, found.ID)
		b.must(err)
		text, err := json.Marshal([]any{inspected, history, found})
		b.must(err)
		if strings.Contains(string(raw)+string(text), canary) {
			b.t.Errorf("the canary is in image %s %s", found.ID, found.Labels[labelRole])
		}
	}
}

func TestSecretsStayOutOfImages(t *testing.T) {
	b := newBench(t)
	canary := "canary-" + b.marks.Name
	spec := b.spec()
	spec.Secrets, spec.SecretNames = map[string]string{"TOKEN": canary}, []string{"TOKEN"}
	b.create(spec)
	b.sh("mkdir /opt; echo tool > /opt/tool")
	for _, value := range []string{"1", "2", "3"} {
		spec.Environment = map[string]string{"A": value}
		_, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
		b.must(err)
		b.wantNoCanary(canary)
		b.sh("echo " + value + " >> /opt/tool")
	}
	_, err := b.backend.CreateSnapshot(b.ctx(), b.marks, "snap-"+b.marks.Name)
	b.must(err)
	// Without the secret the commit is used again, on top of what was made with it.
	spec.Secrets, spec.SecretNames = nil, nil
	_, err = b.backend.Reconfigure(b.ctx(), b.marks, spec)
	b.must(err)
	b.sh("echo more >> /opt/tool")
	spec.Environment = nil
	_, err = b.backend.Reconfigure(b.ctx(), b.marks, spec)
	b.must(err)
	b.wantNoCanary(canary)
	if c := b.inspect(); strings.Contains(strings.Join(c.Config.Env, "\n"), canary) {
		t.Error("the dropped secret is still in the environment")
	}
	for _, effect := range b.calls.take() {
		if strings.Contains(effect.Action+effect.Object, canary) {
			t.Errorf("the canary is in an effect: %+v", effect)
		}
	}
	for key, value := range b.inspect().Config.Labels {
		if strings.Contains(key+value, canary) {
			t.Errorf("the canary is in label %s", key)
		}
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	canary := "canary-" + b.marks.Name
	spec.Secrets, spec.SecretNames = map[string]string{"TOKEN": canary}, []string{"TOKEN"}
	spec.WorkingDirectory = canary // The engine repeats it in its message.
	_, err := b.backend.Create(b.ctx(), b.marks, spec)
	if err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("got %v", err)
	}
}

func TestClone(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	spec.Secrets, spec.SecretNames = map[string]string{"TOKEN": "canary-" + b.marks.Name}, []string{"TOKEN"}
	b.create(spec)
	b.sh("echo kept > /workspace/kept; mkdir /opt; echo tool > /opt/tool")
	b.must(b.backend.Stop(b.ctx(), b.marks.Name))
	second := b.marks
	second.Name += "-clone"
	second.Record += "-clone"
	_, err := b.backend.Create(b.ctx(), second, backends.Spec{Source: backends.Source{CloneOf: b.marks.Name}})
	b.must(err)
	if got := b.shIn(second.Name, "cat /workspace/kept /opt/tool; echo ${TOKEN-unset}"); got != "kept\ntool\nunset" {
		t.Errorf("inside the clone: %q", got)
	}
	if got := b.get().Status; got != backends.StatusStopped {
		t.Errorf("the original is %s", got)
	}
	b.wantNoCanary("canary-" + b.marks.Name)
	b.delete(everything)
	b.must(b.backend.Delete(b.ctx(), second, backends.DeleteOptions{}))
	if left := b.count(); !reflect.DeepEqual(left, counts{}) {
		t.Errorf("left behind: %+v", left)
	}
}
