package sandbox

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// The tests below kill a process right before and right after every write that a clean run was
// seen to make, and then run the operation once more.

func TestKilledCreate(t *testing.T) {
	t.Parallel()
	request := persistent(box)
	request.WorkspaceID = "w1"
	request.Setup = []backends.Command{{Argv: []string{"sh", "-c", "echo made >> /workspace/made"}}}
	work := task{Operation: "create", Request: request}
	clean := newPlace(t)
	_, passed := clean.finish(work)
	testkit.EachPoint(t, passed, func(t *testing.T, point int) {
		p := newPlace(t)
		p.kill(work, point)
		result := p.create(p.manager, request)
		record, _ := p.settled()
		if record.Attachment != result.Attachment.Token || record.WorkspaceID != "w1" {
			t.Errorf("the record is %+v, the attachment %+v", record, result.Attachment)
		}
		if found := p.shell(p.manager, "cat /workspace/made"); found != "made" {
			t.Errorf("the setup left %q", found)
		}
		p.delete(p.manager, request, result.Attachment, true, Removed)
		p.empty()
	})
}

func TestKilledReattach(t *testing.T) {
	t.Parallel()
	request := persistent(box)
	request.Spec.Environment = map[string]string{"A": "2"}
	work := task{Operation: "create", Request: request}
	prepare := func(t *testing.T) *place {
		p := newPlace(t)
		made := p.create(p.manager, persistent(box))
		p.shell(p.manager, "echo kept > /workspace/file")
		p.delete(p.manager, persistent(box), made.Attachment, false, Retained)
		return p
	}
	_, passed := prepare(t).finish(work)
	testkit.EachPoint(t, passed, func(t *testing.T, point int) {
		p := prepare(t)
		id := p.record().ID
		p.kill(work, point)
		if result := p.create(p.manager, request); !result.Reattached || result.Attachment.Record != id {
			t.Errorf("re-attached %+v, want the record %s", result, id)
		}
		p.settled()
		if found := p.shell(p.manager, "cat /workspace/file; echo $A"); found != "kept\n2" {
			t.Errorf("inside is %q", found)
		}
	})
}

func TestKilledUpdate(t *testing.T) {
	t.Parallel()
	request := persistent(box)
	request.Spec.Environment = map[string]string{"A": "2"}
	request.DesiredState = DesiredStopped
	request.CheckpointTrigger = "1"
	prepare := func(t *testing.T) (*place, task) {
		p := newPlace(t)
		made := p.create(p.manager, persistent(box))
		p.shell(p.manager, "echo kept > /workspace/file")
		return p, task{Operation: "update", Request: request, Attachment: made.Attachment}
	}
	clean, work := prepare(t)
	_, passed := clean.finish(work)
	testkit.EachPoint(t, passed, func(t *testing.T, point int) {
		p, work := prepare(t)
		p.kill(work, point)
		view, err := p.manager.Read(t.Context(), box, work.Attachment)
		if err != nil {
			t.Fatal(err)
		}
		if view.Status == StatusMissing || view.Status == StatusDeleting {
			t.Errorf("after the kill it reads %q", view.Status)
		}
		result, err := p.manager.Update(t.Context(), work.Attachment, request)
		if err != nil {
			t.Fatal(err)
		}
		record, object := p.settled()
		if object.Status != backends.StatusStopped || record.Attachment != work.Attachment.Token {
			t.Errorf("record %+v, object %+v", record, object)
		}
		if found := p.shell(p.manager, "cat /workspace/file; echo $A"); found != "kept\n2" {
			t.Errorf("inside is %q", found)
		}
		snapshots, err := p.backend.ListSnapshots(t.Context(), record.ID)
		if err != nil || len(snapshots) != 1 || snapshots[0].ID != result.CurrentSnapshotID {
			t.Errorf("there are the checkpoints %+v (%v), want only %q", snapshots, err, result.CurrentSnapshotID)
		}
		p.delete(p.manager, request, work.Attachment, true, Removed)
		p.empty()
	})
}

func TestKilledPurge(t *testing.T) {
	t.Parallel()
	request := persistent(box)
	prepare := func(t *testing.T) (*place, task) {
		p := newPlace(t)
		made := p.create(p.manager, request)
		request := request
		request.CheckpointTrigger = "1"
		if _, err := p.manager.Update(t.Context(), made.Attachment, request); err != nil {
			t.Fatal(err)
		}
		return p, task{Operation: "purge", Request: request, Attachment: made.Attachment}
	}
	clean, work := prepare(t)
	_, passed := clean.finish(work)
	testkit.EachPoint(t, passed, func(t *testing.T, point int) {
		p, work := prepare(t)
		p.kill(work, point)
		p.delete(p.manager, request, work.Attachment, true, Removed)
		p.empty()
	})
	// Instead of the delete, the next run may be a create: it finishes the delete first.
	t.Run("then create", func(t *testing.T) {
		testkit.EachPoint(t, passed, func(t *testing.T, point int) {
			p, work := prepare(t)
			p.kill(work, point)
			p.create(p.manager, request)
			p.settled()
		})
	})
}

func TestKilledRetain(t *testing.T) {
	t.Parallel()
	request := persistent(box)
	prepare := func(t *testing.T) (*place, task) {
		p := newPlace(t)
		made := p.create(p.manager, request)
		p.shell(p.manager, "echo kept > /workspace/file")
		return p, task{Operation: "retain", Request: request, Attachment: made.Attachment}
	}
	clean, work := prepare(t)
	_, passed := clean.finish(work)
	testkit.EachPoint(t, passed, func(t *testing.T, point int) {
		p, work := prepare(t)
		p.kill(work, point)
		outcome, err := p.manager.Delete(t.Context(), box, backends.Persistent, work.Attachment, false)
		if err != nil || outcome != Retained && outcome != Forgotten {
			t.Fatalf("the second delete: %q, %v", outcome, err)
		}
		if record, object := p.settled(); record.Attachment != "" || object.Status != backends.StatusStopped {
			t.Errorf("record %+v, object %+v", record, object)
		}
		p.create(p.manager, request)
		if found := p.shell(p.manager, "cat /workspace/file"); found != "kept" {
			t.Errorf("the file holds %q", found)
		}
	})
}

// Ten creates of one name in one process, and five processes: one object, one record, and the last
// token wins.
func TestConcurrentCreates(t *testing.T) {
	t.Parallel()
	request := persistent(box)
	request.WorkspaceID = "w1"
	for name, run := range map[string]func(*place) []Attachment{
		"goroutines": func(p *place) []Attachment {
			results := make([]Attachment, 10)
			var group sync.WaitGroup
			begin := make(chan struct{})
			for i := range results {
				group.Go(func() {
					<-begin
					result, err := p.manager.Create(p.t.Context(), request)
					if err != nil {
						p.t.Errorf("create %d: %v", i, err)
					}
					results[i] = result.Attachment
				})
			}
			close(begin)
			group.Wait()
			return results
		},
		"processes": func(p *place) []Attachment {
			results := make([]Attachment, 5)
			var group sync.WaitGroup
			for i := range results {
				group.Go(func() { results[i], _ = p.finish(task{Operation: "create", Request: request}) })
			}
			group.Wait()
			return results
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			results := run(p)
			if t.Failed() {
				return
			}
			record, _ := p.settled()
			tokens := map[string]Attachment{}
			for _, result := range results {
				if result.Record != record.ID || result.Binding != record.Binding {
					t.Errorf("one run got %+v, want the record %s in %s", result, record.ID, record.Binding)
				}
				tokens[result.Token] = result
			}
			winner, known := tokens[record.Attachment]
			if len(tokens) != len(results) || !known {
				t.Fatalf("%d tokens for %d runs, the record's among them: %v", len(tokens), len(results), known)
			}
			for token, result := range tokens {
				if token != winner.Token {
					p.delete(p.manager, request, result, true, Forgotten)
				}
			}
			p.settled()
			p.delete(p.manager, request, winner, true, Removed)
			p.empty()
		})
	}
}

// A create waits for a process that works on the same name, and goes on when that one dies.
func TestKilledHolderFreesTheLock(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	work := task{Operation: "create", Request: persistent(box)}
	_, passed := newPlace(t).finish(work)
	holder := testkit.Task(t, p.here(work), -(len(passed) - 1))
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Process.Kill() }()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(holder.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the holder did not stop in the middle: %v, %v", status, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := p.manager.Create(ctx, persistent(box))
	fails(t, err, context.DeadlineExceeded)

	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.create(p.manager, persistent(box))
	p.settled()
	_ = holder.Wait()
}
