package conformance

import (
	"errors"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// snapshots returns the backend's Snapshotter.
func (e *env) snapshots(t T) backends.Snapshotter {
	t.Helper()
	snapshotter, ok := e.backend.(backends.Snapshotter)
	if !ok {
		t.Fatalf("the backend is no Snapshotter")
	}
	return snapshotter
}

// saveID is what CreateSnapshot is to be given: an id of our own, or the session to save.
func (b *box) saveID() string {
	b.t.Helper()
	if b.capabilities.AssignedSnapshotIDs {
		return b.get().SessionID
	}
	return b.uniqueName()
}

func (b *box) snapshot(id string) backends.Snapshot {
	b.t.Helper()
	snapshot, err := b.snapshots(b.t).CreateSnapshot(b.ctx(b.t), b.marks, id)
	if err != nil {
		b.cleanupSnapshot(id)
		b.t.Fatalf("CreateSnapshot: %v", err)
	}
	b.cleanupSnapshot(snapshot.ID)
	return snapshot
}

func (b *box) cleanupSnapshot(id string) {
	b.t.Cleanup(func() {
		if err := b.snapshots(b.t).DeleteSnapshot(b.ctxAfter(b.t), b.marks, id); err != nil && !errors.Is(err, backends.Conflict) {
			b.t.Errorf("cleaning up the snapshot %s: %v", id, err)
		}
	})
}

// wantIdentity checks the id and the marks of a snapshot that id was given for.
func (b *box) wantIdentity(made backends.Snapshot, id string) {
	b.t.Helper()
	if assigned := made.ID != id; made.ID == "" || assigned != b.capabilities.AssignedSnapshotIDs {
		b.t.Errorf("the snapshot has the id %q, and %q was given; AssignedSnapshotIDs is %v", made.ID, id, b.capabilities.AssignedSnapshotIDs)
	}
	marked := made.Marks.Owner == b.marks.Owner && made.Marks.Record == b.marks.Record && made.Marks.Name == b.marks.Name
	if b.capabilities.UnmarkedSnapshots && made.Marks != (backends.Marks{}) || !b.capabilities.UnmarkedSnapshots && !marked {
		b.t.Errorf("the snapshot carries the marks %+v, the sandbox %+v; UnmarkedSnapshots is %v", made.Marks, b.marks, b.capabilities.UnmarkedSnapshots)
	}
}

func exerciseSnapshot(t T, e *env) {
	snapshotter, ctx := e.snapshots(t), e.ctx(t)
	b, other := e.create(t), e.create(t)
	b.write("file", []byte("saved"), 0o644)
	id := b.saveID()
	before := time.Now().Add(-time.Minute)
	_, err := snapshotter.GetSnapshot(ctx, e.uniqueName())
	e.wantKind(t, "GetSnapshot of an absent one", err, backends.NotFound)

	session := b.get().SessionID
	made := b.snapshot(id)
	b.wantIdentity(made, id)
	if ended := b.get().SessionID != session; ended != b.capabilities.SnapshotEndsSession {
		t.Errorf("that the snapshot ended the session is %v; SnapshotEndsSession is %v", ended, b.capabilities.SnapshotEndsSession)
	}
	if made.SizeBytes <= 0 || made.CreatedAt.Before(before) || made.CreatedAt.After(time.Now().Add(time.Minute)) || !made.ExpiresAt.IsZero() {
		t.Errorf("the snapshot has %d bytes, was made at %v and expires at %v", made.SizeBytes, made.CreatedAt, made.ExpiresAt)
	}
	b.wantStatus(backends.StatusRunning)
	b.wantFile("file", []byte("saved"))
	got, err := snapshotter.GetSnapshot(ctx, made.ID)
	if err != nil {
		t.Fatalf("GetSnapshot: %v", err)
	}
	wantSame(t, "GetSnapshot", got, made)

	// Asked for again, it is returned as it is, though the sandbox has changed.
	b.write("file", []byte("later"), 0o644)
	again, err := snapshotter.CreateSnapshot(ctx, b.marks, id)
	if err != nil {
		t.Errorf("CreateSnapshot again: %v", err)
	}
	wantSame(t, "CreateSnapshot again", again, made)
	if _, err := snapshotter.CreateSnapshot(ctx, other.marks, id); err == nil {
		t.Errorf("CreateSnapshot took over another sandbox's id")
	}
	_, err = snapshotter.CreateSnapshot(ctx, e.marks(), e.uniqueName())
	e.wantKind(t, "CreateSnapshot of an absent sandbox", err, backends.NotFound)

	second := b.snapshot(b.saveID())
	b.wantSnapshots(made, second)
	other.wantSnapshots()

	foreign := b.marks
	foreign.Owner = otherOwnerName
	e.wantKind(t, "DeleteSnapshot of another's", snapshotter.DeleteSnapshot(ctx, foreign, made.ID), backends.NotOurs)
	if _, err := snapshotter.GetSnapshot(ctx, made.ID); err != nil {
		t.Errorf("after another's DeleteSnapshot: %v", err)
	}
	for range 2 {
		if err := snapshotter.DeleteSnapshot(ctx, b.marks, made.ID); err != nil {
			t.Errorf("DeleteSnapshot: %v", err)
		}
		_, err = snapshotter.GetSnapshot(ctx, made.ID)
		e.wantKind(t, "GetSnapshot of a deleted one", err, backends.NotFound)
	}
	b.wantSnapshots(second)

	// A stopped sandbox can be saved, and stays stopped.
	b.stop()
	third := b.snapshot(b.saveID())
	b.wantStatus(backends.StatusStopped)
	b.wantSnapshots(second, third)

	// Snapshots outlive their sandbox, unless its deletion says otherwise.
	if e.capabilities.UnmarkedSnapshots {
		checkUnmarkedLeft(t, e, b, other, second, third)
		return
	}
	b.delete(backends.DeleteOptions{})
	b.wantSnapshots(second, third)
	b.delete(backends.DeleteOptions{Snapshots: true})
	b.wantSnapshots()
}

// checkUnmarkedLeft: what carries no marks can be deleted with its sandbox, or by its id afterwards.
func checkUnmarkedLeft(t T, e *env, b, other *box, left ...backends.Snapshot) {
	t.Helper()
	snapshotter, ctx := e.snapshots(t), e.ctx(t)
	other.stop()
	purged := other.snapshot(other.saveID())
	b.delete(backends.DeleteOptions{})
	other.delete(backends.DeleteOptions{Snapshots: true})
	_, err := snapshotter.GetSnapshot(ctx, purged.ID)
	e.wantKind(t, "GetSnapshot of one that was deleted with its sandbox", err, backends.NotFound)
	for _, snapshot := range left {
		if _, err := snapshotter.GetSnapshot(ctx, snapshot.ID); err != nil {
			t.Errorf("after Delete of its sandbox: %v", err)
		}
		if err := snapshotter.DeleteSnapshot(ctx, b.marks, snapshot.ID); err != nil {
			t.Errorf("DeleteSnapshot after Delete of its sandbox: %v", err)
		}
		_, err := snapshotter.GetSnapshot(ctx, snapshot.ID)
		e.wantKind(t, "GetSnapshot of a deleted one", err, backends.NotFound)
	}
}

// wantSnapshots checks what the listing has for the box's record.
func (b *box) wantSnapshots(want ...backends.Snapshot) {
	b.t.Helper()
	listed, err := b.snapshots(b.t).ListSnapshots(b.ctx(b.t), b.marks.Record)
	if err != nil {
		b.t.Fatalf("ListSnapshots: %v", err)
	}
	byID := func(list []backends.Snapshot) map[string]backends.Snapshot {
		all := map[string]backends.Snapshot{}
		for _, snapshot := range list {
			all[snapshot.ID] = snapshot
		}
		return all
	}
	if len(listed) != len(want) {
		b.t.Errorf("ListSnapshots has %d, want %d", len(listed), len(want))
	}
	wantSame(b.t, "ListSnapshots", byID(listed), byID(want))
}

func exerciseSnapshotSource(t T, e *env) {
	snapshotter := e.snapshots(t)
	original := e.create(t, func(s *backends.Spec) {
		s.Environment = map[string]string{"FROM_ORIGINAL": "x"}
		s.Secrets, s.SecretNames = map[string]string{"ORIGINAL_SECRET": "secret"}, []string{"ORIGINAL_SECRET"}
	})
	original.sh("printf saved > file; chmod 700 file; mkdir dir; ln -s ../file dir/link; : > 'odd name'")
	// What lies outside the workspace belongs to the snapshot too, where the system can be written.
	system := original.sh("echo system > /conformance-system 2> /dev/null && cat /conformance-system || echo none")
	id := original.snapshot(original.saveID()).ID
	original.sh("printf later > file; : > later")
	original.delete(backends.DeleteOptions{Volumes: true})

	marks := e.marks()
	restored := e.createAs(t, marks, backends.Spec{Source: backends.Source{SnapshotID: id}, Environment: map[string]string{"OWN": "own"}})
	if got := restored.sh("cat dir/link; stat -c %a file; ls -A; printf '%s' \"$OWN$FROM_ORIGINAL$ORIGINAL_SECRET\""); got != "saved700\ndir\nfile\nodd name\nown" {
		t.Errorf("a command in the restored sandbox printed %q", got)
	}
	if got := restored.sh("cat /conformance-system 2> /dev/null || echo none"); got != system {
		t.Errorf("outside the workspace the snapshot holds %q, want %q", got, system)
	}
	restored.sh("printf changed >> file; printf new > new")
	if observed := restored.get(); observed.Marks != marks || observed.Spec.Source.SnapshotID != "" {
		t.Errorf("the restored sandbox is %+v", observed)
	}
	wantSame(t, "the secrets of the restored sandbox", restored.get().Spec.SortedSecretNames(), []string{})

	// The snapshot is unchanged by what was made from it, and either goes away while that lives or
	// is refused and stays.
	second := e.createAs(t, e.marks(), backends.Spec{Source: backends.Source{SnapshotID: id}})
	second.wantFile("file", []byte("saved"))
	err := snapshotter.DeleteSnapshot(e.ctx(t), original.marks, id)
	if err != nil {
		e.wantKind(t, "DeleteSnapshot while sandboxes use it", err, backends.Conflict)
	}
	_, getErr := snapshotter.GetSnapshot(e.ctx(t), id)
	if gone := errors.Is(getErr, backends.NotFound); gone != (err == nil) {
		t.Errorf("DeleteSnapshot: %v, then GetSnapshot: %v", err, getErr)
	}
	restored.reconfigure(change)
	restored.wantChange()
	restored.wantFile("file", []byte("savedchanged"))
	restored.delete(backends.DeleteOptions{Volumes: true, Snapshots: true})
	second.delete(backends.DeleteOptions{Volumes: true, Snapshots: true})
	if err := snapshotter.DeleteSnapshot(e.ctx(t), original.marks, id); err != nil {
		t.Errorf("DeleteSnapshot when nobody uses it: %v", err)
	}
	absent := e.marks()
	e.cleanup(t, absent)
	_, err = e.backend.Create(e.ctx(t), absent, backends.Spec{Source: backends.Source{SnapshotID: id}})
	e.wantKind(t, "Create from an absent snapshot", err, backends.NotFound, backends.Invalid, backends.Expired)
	e.wantAbsent(t, absent.Name)
}

func refuseSnapshot(t T, e *env) {
	snapshotter, ok := e.backend.(backends.Snapshotter)
	if !ok {
		return
	}
	b := e.create(t)
	_, err := snapshotter.CreateSnapshot(e.ctx(t), b.marks, e.uniqueName())
	e.wantKind(t, "CreateSnapshot", err, backends.Unsupported)
}
