package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

const provisioners = 50

func TestProvision(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := persistent("w1").with(func(w *wish) {
		w.Base = p.base()
		w.Files["bin/tool"] = "#!/bin/sh\n"
		w.Request.Setup = []backends.Command{{Argv: []string{"sh", "-c", "cat base > setup"}}}
	})
	result := p.provision(w)
	if result.Workspace == nil || result.Workspace.State != sandbox.WorkspaceReady || result.Workspace.ReadyAt.IsZero() {
		t.Errorf("the result is %+v", result.Workspace)
	}
	if found := p.shell(w, "cat base setup template"); found != "from the basefrom the baseone" {
		t.Errorf("inside is %q", found)
	}
	record, kept := p.settled()
	if record.BaseSnapshot != w.Base || kept.BaseSnapshotID != w.Base || kept.BaseSnapshotVersion == "" || kept.TemplateVersion != "1" {
		t.Errorf("the row is %+v, %+v", record, kept)
	}
	// Provisioned once: neither base, setup nor template is used again, whatever they are now.
	p.shell(w, "rm template base; echo mine > mine")
	again := p.provision(w.with(func(w *wish) { w.Base = "another" }))
	if !again.Reattached || again.Attachment.Record != record.ID {
		t.Errorf("the second run got %+v", again)
	}
	if found := p.shell(w, "ls"); found != "bin\nmine\nsetup" {
		t.Errorf("inside is %q", found)
	}
	if _, kept := p.settled(); kept.BaseSnapshotID != w.Base {
		t.Errorf("the provenance became %+v", kept)
	}
	p.delete(w, again.Attachment, true, sandbox.Removed)
	p.empty(w.Base)
}

// One workspace id, fifty processes: one handle, one row, and nobody fails.
func TestManyProvisionersOfOneWorkspace(t *testing.T) {
	t.Parallel()
	for name, open := range engines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			w := persistent("w1").with(func(w *wish) {
				w.Request.Setup = []backends.Command{{Argv: []string{"sh", "-c", "echo made >> made"}}}
			})
			answers := make([]answer, provisioners)
			var group sync.WaitGroup
			for i := range answers {
				group.Go(func() {
					var err error
					if answers[i], err = p.finish("provision", w, sandbox.Attachment{}); err != nil {
						t.Errorf("provisioner %d: %v", i, err)
					}
				})
			}
			group.Wait()
			if t.Failed() {
				return
			}
			record, _ := p.settled()
			tokens := map[string]bool{}
			for _, got := range answers {
				if got.Handle != record.Name || got.Attachment.Record != record.ID {
					t.Errorf("one got %+v, want %s with the record %s", got, record.Name, record.ID)
				}
				tokens[got.Attachment.Token] = true
			}
			if len(tokens) != provisioners || !tokens[record.Attachment] {
				t.Errorf("%d tokens, the row's among them: %v", len(tokens), tokens[record.Attachment])
			}
			if found := p.shell(w, "cat made template"); found != "made\none" {
				t.Errorf("inside is %q", found)
			}
		})
	}
}

// Fifty workspaces that each take their time wait for nobody else.
func TestManyWorkspacesAtOnce(t *testing.T) {
	t.Parallel()
	for name, open := range engines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			// The waiting is what a lock over all would add up; the machine's cores may.
			slow := func(id string) wish {
				return persistent(id).with(func(w *wish) { w.Request.Setup = []backends.Command{{Argv: []string{"sleep", "10"}}} })
			}
			started := time.Now()
			if _, err := p.finish("provision", slow("first"), sandbox.Attachment{}); err != nil {
				t.Fatal(err)
			}
			one := time.Since(started)
			started = time.Now()
			var group sync.WaitGroup
			for i := range provisioners {
				group.Go(func() {
					if _, err := p.finish("provision", slow(fmt.Sprintf("w%d", i)), sandbox.Attachment{}); err != nil {
						t.Errorf("workspace %d: %v", i, err)
					}
				})
			}
			group.Wait()
			all := time.Since(started)
			t.Logf("one took %v, %d at once %v", one, provisioners, all)
			if all > 3*one {
				t.Errorf("one took %v, %d at once %v: more than three times as long", one, provisioners, all)
			}
			records, err := p.store.Find(t.Context(), store.Query{})
			if err != nil || len(records) != provisioners+1 {
				t.Errorf("there are %d rows (%v)", len(records), err)
			}
		})
	}
}

func TestKilledProvision(t *testing.T) {
	t.Parallel()
	for name, open := range engines() {
		t.Run(name, func(t *testing.T) {
			prepare := func(t *testing.T) (*place, wish) {
				p := open(t)
				return p, persistent("w1").with(func(w *wish) { w.Base = p.base() })
			}
			p, w := prepare(t)
			points := p.points("provision", w, sandbox.Attachment{})
			testkit.EachPoint(t, points, func(t *testing.T, point int) {
				p, w := prepare(t)
				p.kill("provision", w, sandbox.Attachment{}, point)
				neverReadyTooEarly(p, w)
				result := p.provision(w)
				p.settled()
				if found := p.shell(w, "cat base template"); found != "from the baseone" {
					t.Errorf("inside is %q", found)
				}
				p.delete(w, result.Attachment, true, sandbox.Removed)
				p.empty(w.Base)
			})
		})
	}
}

// neverReadyTooEarly checks that a row says ready only when its template is there.
func neverReadyTooEarly(p *place, w wish) {
	p.t.Helper()
	records, err := p.store.Find(p.t.Context(), store.Query{WorkspaceID: w.Request.WorkspaceID})
	if err != nil || len(records) == 0 {
		return
	}
	if !strings.Contains(string(records[0].Workspace), `"ready"`) {
		return
	}
	if _, err := os.Stat(filepath.Join(p.dir, "local", "sandboxes", w.Request.Name, "workspace", "template")); err != nil {
		p.t.Errorf("the row says ready, and the template is not there: %v", err)
	}
}

// A template that cannot be put on leaves an error on the row, never a ready workspace. The next run
// makes it anew; one that waited for the failed one reports its failure.
func TestOverlayFailure(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	good := persistent("w1")
	bad := good.with(func(w *wish) {
		// A link that leads out of the workspace stands where the template wants a directory.
		w.Request.Setup = []backends.Command{{Argv: []string{"ln", "-s", "/etc", "dir"}}}
		w.Files = map[string]string{"a": "a", "dir/file": "x"}
	})
	_, err := provision(t.Context(), p.Manager, bad)
	var partial *sandbox.PartialError
	if !errors.As(err, &partial) || partial.Result.Attachment.Record == "" {
		t.Fatalf("got the error %v, want a partial one", err)
	}
	refused(t, err, sandbox.CodeOverlayFailed)
	record, kept := p.row()
	if record.Committed || kept.State != sandbox.WorkspaceError || !strings.Contains(kept.LastError, "dir/file") {
		t.Errorf("the row is %+v, %+v", record, kept)
	}
	view, err := p.Sandboxes.Read(t.Context(), record.Name, partial.Result.Attachment)
	if err != nil || State(view) != "error" {
		t.Errorf("it reads %+v, %v", view, err)
	}
	p.shellOutside(bad, "left")
	result := p.provision(good)
	p.settled()
	if found := p.shell(good, "ls"); found != "template" {
		t.Errorf("inside is %q: the failed workspace was not made anew", found)
	}
	p.delete(good, result.Attachment, true, sandbox.Removed)

	// A failed one is removed under either policy, since it was never ready.
	_, err = provision(t.Context(), p.Manager, bad)
	if !errors.As(err, &partial) {
		t.Fatal(err)
	}
	p.delete(bad, partial.Result.Attachment, false, sandbox.Removed)
	p.empty()
}

// shellOutside writes a file into the workspace of a sandbox, as a command inside would.
func (p *place) shellOutside(w wish, name string) {
	p.t.Helper()
	if err := p.backend.WriteFile(p.t.Context(), w.Request.Name, "/workspace/"+name, nil, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func TestWaitersReportTheFailure(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	bad := persistent("w1").with(func(w *wish) {
		w.Request.Setup = []backends.Command{{Argv: []string{"ln", "-s", "/etc", "dir"}}, {Argv: []string{"sleep", "2"}}}
		w.Files = map[string]string{"dir/file": "x"}
	})
	done := make(chan error, 1)
	go func() {
		_, err := provision(t.Context(), p.Manager, bad)
		done <- err
	}()
	for claimed := false; !claimed; time.Sleep(10 * time.Millisecond) {
		records, err := p.store.Find(t.Context(), store.Query{WorkspaceID: "w1"})
		claimed = err == nil && len(records) == 1
	}
	_, err := provision(t.Context(), openPlace(t, p.dir, p.url).Manager, persistent("w1"))
	refused(t, err, sandbox.CodeProvisionFailed)
	refused(t, <-done, sandbox.CodeOverlayFailed)
	// Whoever comes later does not wait for it any more.
	p.provision(persistent("w1"))
	p.settled()
}

func TestKindsAreApart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := persistent("w1")
	plain := w.Request
	if _, err := p.Sandboxes.Create(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	_, err := provision(t.Context(), p.Manager, w)
	refused(t, err, sandbox.CodeOtherKind)
	other := persistent("w2")
	p.provision(other)
	_, err = p.Sandboxes.Create(t.Context(), other.Request)
	refused(t, err, sandbox.CodeOtherKind)
	_, err = provision(t.Context(), p.Manager, session("w2"))
	refused(t, err, sandbox.CodeOtherKind)
}

// A record that was lost is rebuilt from the marks on the object and what the state knows.
func TestLostRow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := persistent("w1")
	made := p.provision(w)
	p.shell(w, "echo mine > mine")
	record, _ := p.row()
	if err := p.store.Delete(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	plan, err := w.plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plan.KnownTemplateVersion = "1"
	request := w.Request
	request.Extension = p.Extension(plan)
	if _, err := p.Sandboxes.Update(context.WithoutCancel(t.Context()), made.Attachment, request); err != nil {
		t.Fatal(err)
	}
	if after, kept := p.settled(); after.ID != record.ID || kept.TemplateVersion != "1" {
		t.Errorf("the row is %+v, %+v", after, kept)
	}
	if found := p.shell(w, "cat mine"); found != "mine" {
		t.Errorf("inside is %q", found)
	}
}
