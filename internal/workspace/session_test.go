package workspace

import (
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// A session whose files a stop would empty is saved before, and restored when it has to run.
func TestSessionIsSavedBeforeItStops(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := session("w1").with(func(w *wish) { w.Base = p.base() })
	made := p.provision(w)
	p.shell(w, "echo mine > mine; rm template")
	stopped := w.with(func(w *wish) { w.Request.DesiredState = sandbox.DesiredStopped })
	result := p.update(made.Attachment, stopped)
	if result.CurrentSnapshotID == "" || result.Observed.Status != backends.StatusStopped {
		t.Fatalf("the stop gave %+v", result)
	}
	view, err := p.Sandboxes.Read(t.Context(), w.Request.Name, made.Attachment)
	if err != nil || view.Status != backends.StatusStopped || !view.SessionLost || view.RestoreFrom != result.CurrentSnapshotID || State(view) != "stopped" {
		t.Errorf("it reads %+v, %v", view, err)
	}
	running := w.with(func(w *wish) { w.Request.DesiredState = sandbox.DesiredRunning })
	after := p.update(made.Attachment, running)
	if after.Attachment != made.Attachment || !after.Observed.Running() {
		t.Errorf("the restoration gave %+v", after)
	}
	if found := p.shell(w, "cat mine base; ls"); found != "mine\nfrom the basebase\nmine" {
		t.Errorf("inside is %q", found)
	}
	if _, kept := p.settled(); kept.RestoredFrom != result.CurrentSnapshotID || kept.BaseSnapshotID != w.Base {
		t.Errorf("the row keeps %+v", kept)
	}
	p.delete(w, made.Attachment, true, sandbox.Removed)
	p.empty(w.Base)
}

// Each stop saves the session anew. What snapshot_retention does not keep of that goes, by an update's stop as
// by a destroy's; without it all stay.
func TestSavesOfASessionAreRetained(t *testing.T) {
	t.Parallel()
	for keep, want := range map[int64]int{0: 4, 1: 1, 2: 2} {
		p := newPlace(t)
		w := session("w1").with(func(w *wish) { w.Request.Retention.KeepLast = keep })
		attachment := p.provision(w).Attachment
		for range 3 {
			for _, state := range []string{sandbox.DesiredStopped, sandbox.DesiredRunning} {
				p.update(attachment, w.with(func(w *wish) { w.Request.DesiredState = state }))
			}
		}
		p.shell(w, "echo last > mine")
		p.delete(w, attachment, false, sandbox.Retained)
		saved, err := p.backend.ListSnapshots(t.Context(), attachment.Record)
		if err != nil || len(saved) != want {
			t.Errorf("keep_last %d: %d snapshots are there (%v), want %d", keep, len(saved), err, want)
		}
		again := p.provision(w)
		if found := p.shell(w, "cat mine"); found != "last" {
			t.Errorf("keep_last %d: inside is %q", keep, found)
		}
		p.delete(w, again.Attachment, true, sandbox.Removed)
		p.empty()
	}
}

func TestRetainedSessionIsRestored(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := session("w1").with(func(w *wish) { w.Base = p.base() })
	made := p.provision(w)
	p.shell(w, "echo mine > mine")
	p.delete(w, made.Attachment, false, sandbox.Retained)
	again := p.provision(w.with(func(w *wish) { w.Base = "a newer base" }))
	if again.Attachment.Record != made.Attachment.Record {
		t.Errorf("another record: %+v", again)
	}
	if found := p.shell(w, "cat mine"); found != "mine" {
		t.Errorf("inside is %q", found)
	}
	p.settled()
}

// Gone with a snapshot: restored from it. Gone without one: a conflict, never the base, never empty.
func TestLostSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := session("w1").with(func(w *wish) { w.Base = p.base() })
	made := p.provision(w)
	p.lose(w)
	view, err := p.Sandboxes.Read(t.Context(), w.Request.Name, made.Attachment)
	if err != nil || view.Status != sandbox.StatusMissing || view.RestoreFrom != "" || State(view) != "error" {
		t.Errorf("it reads %+v, %v", view, err)
	}
	_, err = update(t.Context(), p.Manager, made.Attachment, w)
	refused(t, err, sandbox.CodeWorkspaceLost)
	_, err = provision(t.Context(), p.Manager, w)
	refused(t, err, sandbox.CodeWorkspaceLost)
	if objects, err := p.backend.List(t.Context()); err != nil || len(objects) != 0 {
		t.Errorf("something was made: %+v, %v", objects, err)
	}
	// The next generation starts over, from the base.
	next := w.with(func(w *wish) { w.Request.Generation, w.Request.Name = 2, w.Request.Name+"-g2" })
	p.provision(next)
	if found := p.shell(next, "cat base"); found != "from the base" {
		t.Errorf("inside is %q", found)
	}
	p.delete(w, made.Attachment, true, sandbox.Removed)

	// With a checkpoint.
	w2 := session("w2").with(func(other *wish) { other.Base = w.Base })
	made = p.provision(w2)
	p.shell(w2, "echo saved > mine")
	saved := p.update(made.Attachment, w2.with(func(w *wish) { w.Request.CheckpointTrigger = "1" }))
	p.shell(w2, "echo later > mine")
	p.lose(w2)
	view, err = p.Sandboxes.Read(t.Context(), w2.Request.Name, made.Attachment)
	if err != nil || view.Status != backends.StatusLost || view.RestoreFrom != saved.CurrentSnapshotID {
		t.Errorf("it reads %+v, %v", view, err)
	}
	p.update(made.Attachment, w2.with(func(w *wish) { w.Request.CheckpointTrigger = "1" }))
	if found := p.shell(w2, "cat mine"); found != "saved" {
		t.Errorf("inside is %q", found)
	}

	// The snapshot is gone too: a conflict again.
	p.lose(w2)
	marks := backends.Marks{Owner: mustOwner(t, p), Name: w2.Request.Name, Kind: backends.Session, Record: made.Attachment.Record}
	if err := p.backend.DeleteSnapshot(t.Context(), marks, saved.CurrentSnapshotID); err != nil {
		t.Fatal(err)
	}
	_, err = update(t.Context(), p.Manager, made.Attachment, w2)
	refused(t, err, sandbox.CodeWorkspaceLost)
}

func mustOwner(t *testing.T, p *place) string {
	t.Helper()
	owner, err := p.Sandboxes.Owner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

// A persistent workspace that is gone is a conflict too, for an update and for a new state.
func TestLostPersistentWorkspace(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := persistent("w1").with(func(w *wish) { w.Base = p.base() })
	made := p.provision(w)
	p.lose(w)
	_, err := update(t.Context(), p.Manager, made.Attachment, w)
	refused(t, err, sandbox.CodeMissing)
	_, err = provision(t.Context(), p.Manager, w)
	refused(t, err, sandbox.CodeWorkspaceLost)
}

func TestKilledSave(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"update", "retain"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			prepare := func(t *testing.T) (*place, wish, sandbox.Attachment) {
				p := newPlace(t)
				w := session("w1")
				made := p.provision(w)
				p.shell(w, "echo mine > mine")
				if operation == "update" {
					w.Request.DesiredState = sandbox.DesiredStopped
				}
				return p, w, made.Attachment
			}
			p, w, attachment := prepare(t)
			testkit.EachPoint(t, p.points(operation, w, attachment), func(t *testing.T, point int) {
				p, w, attachment := prepare(t)
				p.kill(operation, w, attachment, point)
				again := p.provision(w.with(func(w *wish) { w.Request.DesiredState = sandbox.DesiredRunning }))
				if found := p.shell(w, "cat mine"); found != "mine" {
					t.Errorf("inside is %q", found)
				}
				p.settled()
				p.delete(w, again.Attachment, true, sandbox.Removed)
				p.empty()
			})
		})
	}
}

func TestKilledRestore(t *testing.T) {
	t.Parallel()
	prepare := func(t *testing.T) (*place, wish, sandbox.Attachment) {
		p := newPlace(t)
		w := session("w1")
		made := p.provision(w)
		p.shell(w, "echo mine > mine")
		p.update(made.Attachment, w.with(func(w *wish) { w.Request.DesiredState = sandbox.DesiredStopped }))
		w.Request.DesiredState = sandbox.DesiredRunning
		return p, w, made.Attachment
	}
	p, w, attachment := prepare(t)
	testkit.EachPoint(t, p.points("update", w, attachment), func(t *testing.T, point int) {
		p, w, attachment := prepare(t)
		p.kill("update", w, attachment, point)
		view, err := p.Sandboxes.Read(t.Context(), w.Request.Name, attachment)
		if err != nil || view.Status == sandbox.StatusMissing {
			t.Fatalf("after the kill it reads %+v, %v", view, err)
		}
		after := p.update(attachment, w)
		if found := p.shell(w, "cat mine"); found != "mine" || after.Attachment != attachment {
			t.Errorf("inside is %q, attached by %+v", found, after.Attachment)
		}
		p.settled()
		p.delete(w, attachment, true, sandbox.Removed)
		p.empty()
	})
}

// The row of a stopped session is lost: its snapshot is found by its marks, and nothing starts empty.
func TestLostRowOfAStoppedSession(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(p *place, w wish, attachment sandbox.Attachment){
		"update": func(p *place, w wish, attachment sandbox.Attachment) { p.update(attachment, w) },
		"create": func(p *place, w wish, _ sandbox.Attachment) { p.provision(w) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			w := session("w1")
			made := p.provision(w)
			p.shell(w, "echo mine > mine")
			p.update(made.Attachment, w.with(func(w *wish) { w.Request.DesiredState = sandbox.DesiredStopped }))
			record, _ := p.row()
			if err := p.store.Delete(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			again(p, w.with(func(w *wish) { w.Request.DesiredState = sandbox.DesiredRunning }), made.Attachment)
			if found := p.shell(w, "cat mine"); found != "mine" {
				t.Errorf("inside is %q", found)
			}
			if after, kept := p.settled(); after.ID != record.ID || kept.TemplateVersion != "1" {
				t.Errorf("the row is %+v, %+v", after, kept)
			}
		})
	}
}

// What is restored has the template that its snapshot was taken with, and is migrated once more.
func TestRestoredSessionIsMigratedAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := session("w1")
	made := p.provision(w)
	saved := w.with(func(w *wish) { w.Request.CheckpointTrigger = "1" })
	p.update(made.Attachment, saved)
	p.update(made.Attachment, saved.with(upgraded))
	p.lose(w)
	p.update(made.Attachment, saved.with(upgraded))
	if found := p.shell(w, "cat migrated"); found != "1 to 2" {
		t.Errorf("inside is %q", found)
	}
	if _, kept := p.settled(); kept.TemplateVersion != "2" {
		t.Errorf("the row keeps %+v", kept)
	}
}
