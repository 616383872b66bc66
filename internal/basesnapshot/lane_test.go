package basesnapshot

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Rotation bakes beside the old one; going back to an earlier manifest uses what is there.
func TestRotateAndRollBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.create(asked("1"))
	second := f.update(first.Attachment, asked("2"))
	if !second.Baked || second.Current.SnapshotID == first.Current.SnapshotID || second.Previous.SnapshotID != first.Current.SnapshotID || len(f.snapshots()) != 2 {
		t.Fatalf("after a change: %+v", second)
	}
	back := f.update(first.Attachment, asked("1"))
	if back.Baked || back.Current.SnapshotID != first.Current.SnapshotID || back.Previous.SnapshotID != second.Current.SnapshotID || back.Current.Version != first.Current.Version {
		t.Errorf("after going back: %+v", back)
	}
	third := f.update(first.Attachment, asked("3"))
	if third.Previous.SnapshotID != first.Current.SnapshotID {
		t.Errorf("one goes back to %s, want what was current last, %s", third.Previous.SnapshotID, first.Current.SnapshotID)
	}
	if len(f.snapshots()) != 3 || len(third.History) != 3 {
		t.Errorf("the history is %+v", third.History)
	}
	f.tidy()
}

// What is not part of the snapshot changes the record alone.
func TestSettingsOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.create(asked("1"))
	request := asked("1")
	request.Settings = []byte(`{"by":"other"}`)
	request.Retention = Retention{MinAge: time.Hour, KeepPrevious: 3}
	request.Verify = false
	request.Expiration = time.Hour
	double := &faulty{whole: f.backend, fail: failing("Create", "CreateSnapshot", "Exec")}
	after, err := f.over(double).Update(t.Context(), first.Attachment, request)
	if err != nil {
		t.Fatal(err)
	}
	if after.Baked || after.Current.SnapshotID != first.Current.SnapshotID || !after.Current.ExpiresAt.Equal(first.Current.ReadyAt.Add(time.Hour)) {
		t.Errorf("after: %+v", after)
	}
	if view := f.read(first.Attachment); string(view.Settings) != `{"by":"other"}` || view.TakenOver {
		t.Errorf("it reads %+v", view)
	}
	request.Expiration = 0
	if after = f.update(first.Attachment, request); !after.Current.ExpiresAt.IsZero() {
		t.Errorf("it still expires at %s", after.Current.ExpiresAt)
	}
}

// A new trigger, other smoke checks and each part of the manifest ask for a new bake.
func TestBakesAnew(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Request){
		"trigger":      func(r *Request) { r.RebakeTrigger = "2026-12" },
		"smoke checks": func(r *Request) { r.Checks = append(r.Checks, SmokeCheck{Command: []string{"true"}}) },
		"environment":  func(r *Request) { r.Environment.Values = map[string]string{"A": "b"} },
		"allowlist":    func(r *Request) { r.Environment.Allowlist = []string{"LANG"} },
		"command":      func(r *Request) { r.Manifest.Commands = append(r.Manifest.Commands, []string{"true"}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			first := f.create(asked("1"))
			request := asked("1")
			change(&request)
			second := f.update(first.Attachment, request)
			if !second.Baked || second.Previous == nil || second.Previous.SnapshotID != first.Current.SnapshotID {
				t.Errorf("after the change: %+v", second)
			}
			if again := f.update(first.Attachment, request); again.Baked || again.Current.ID != second.Current.ID {
				t.Errorf("the same request once more: %+v", again)
			}
			if name == "trigger" {
				request.RebakeTrigger = ""
				if again := f.update(first.Attachment, request); again.Baked {
					t.Errorf("without a trigger it baked again")
				}
			}
			f.tidy()
		})
	}
}

// A snapshot that is gone or has expired reads as failed, by reads only, and is baked again.
func TestGoneAndExpired(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*fixture, Entry){
		"gone": func(f *fixture, current Entry) {
			if err := f.backend.DeleteSnapshot(f.t.Context(), backends.Marks{Owner: f.entries()[0].Owner}, current.SnapshotID); err != nil {
				f.t.Fatal(err)
			}
		},
		"expired": func(f *fixture, _ Entry) {
			entry := f.entries()[0]
			entry.ExpiresAt = time.Now().Add(-time.Minute)
			if _, err := f.store.UpdateSnapshot(f.t.Context(), entry); err != nil {
				f.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			first := f.create(asked("0"))
			before := f.update(first.Attachment, asked("1"))
			lose(f, before.Current)
			entries := f.entries()
			view := f.read(first.Attachment)
			if view.Status != store.SnapshotFailed || view.Reason == "" || view.Previous.SnapshotID != first.Current.SnapshotID || view.Missing {
				t.Errorf("it reads %+v", view)
			}
			if after := f.entries(); after[0].Revision != entries[0].Revision {
				t.Errorf("the read wrote: %+v", after[0])
			}
			after := f.update(first.Attachment, asked("1"))
			if !after.Baked || after.Current.SnapshotID == before.Current.SnapshotID {
				t.Errorf("the update: %+v", after)
			}
			if name == "gone" && after.Previous.SnapshotID != first.Current.SnapshotID {
				t.Errorf("one goes back to %+v, want %s", after.Previous, first.Current.SnapshotID)
			}
			if view := f.read(first.Attachment); view.Status != store.SnapshotReady {
				t.Errorf("afterwards it reads %+v", view)
			}
			if _, err := f.manager.Lookup(t.Context(), shop); err != nil {
				t.Error(err)
			}
		})
	}
}

// A backend that does not answer proves nothing.
func TestUnreachableBackend(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.create(asked("1"))
	silent := f.over(&faulty{whole: f.backend, fail: failing("GetSnapshot")})
	_, err := silent.Read(t.Context(), shop, first.Attachment)
	fails(t, err, errInjected)
	_, err = silent.Update(t.Context(), first.Attachment, asked("1"))
	fails(t, err, errInjected)
	if len(f.entries()) != 1 {
		t.Errorf("the registry has %+v", f.entries())
	}
	if view := f.read(first.Attachment); view.Status != store.SnapshotReady {
		t.Errorf("it reads %+v", view)
	}
}

// Lanes whose manifests are equal share the snapshot, until the last of them goes.
func TestSharedSnapshot(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.create(asked("1"))
	request := asked("1")
	request.Lane.Template = "api"
	second := f.create(request)
	if second.Baked || second.Current.SnapshotID != first.Current.SnapshotID || second.Current.ID == first.Current.ID || second.Current.Version != first.Current.Version {
		t.Fatalf("the second lane: %+v", second)
	}
	f.tidy()
	young := Retention{MinAge: time.Hour, KeepPrevious: 1}
	if err := f.manager.CheckDelete(t.Context(), shop, first.Attachment, young); err != nil {
		t.Errorf("nothing is lost, but: %v", err)
	}
	f.delete(first.Attachment, true, young, sandbox.Removed)
	if got := f.snapshots(); !slices.Equal(got, []string{first.Current.SnapshotID}) {
		t.Errorf("after the first purge there are %q", got)
	}
	if outcome, err := f.manager.Delete(t.Context(), request.Lane, second.Attachment, true, Retention{}); err != nil || outcome != sandbox.Removed {
		t.Fatalf("the second purge: %q, %v", outcome, err)
	}
	f.empty()
}

// A lane with other smoke checks does not trust a snapshot that never passed them.
func TestSharedByCheckedOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.create(asked("1"))
	request := asked("1")
	request.Lane.Template = "api"
	request.Checks = append(request.Checks, SmokeCheck{Command: []string{"true"}})
	if second := f.create(request); !second.Baked || second.Current.SnapshotID == first.Current.SnapshotID {
		t.Errorf("the second lane: %+v", second)
	}
}

func TestRetireAndRevive(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.create(asked("1"))
	f.delete(first.Attachment, false, Retention{}, sandbox.Retained)
	view, err := f.manager.Lookup(t.Context(), shop)
	if err != nil || view.Status != store.SnapshotRetired || view.Current != nil || view.Attachment.Token != "" || view.History[0].RetiredAt.IsZero() {
		t.Errorf("the retired lane reads %+v, %v", view, err)
	}
	if got := f.snapshots(); len(got) != 1 {
		t.Errorf("the snapshots are %q", got)
	}
	second := f.create(asked("1"))
	if second.Baked || !second.Reattached || second.Current.SnapshotID != first.Current.SnapshotID || second.Current.Status != store.SnapshotReady || !second.Current.RetiredAt.IsZero() || second.Attachment.Record != first.Attachment.Record || second.Attachment.Token == first.Attachment.Token {
		t.Errorf("revived: %+v", second)
	}
	f.delete(second.Attachment, false, Retention{}, sandbox.Retained)
	third := f.create(asked("2"))
	if !third.Baked || third.Previous == nil || third.Previous.SnapshotID != first.Current.SnapshotID || third.Previous.Status != store.SnapshotRetired {
		t.Errorf("revived by another manifest: %+v", third)
	}
	if back := f.update(third.Attachment, asked("1")); back.Baked || back.Current.SnapshotID != first.Current.SnapshotID {
		t.Errorf("back to the retired one: %+v", back)
	}
	f.tidy()
}

// A second state takes the lane over; the first one is told, and deletes nothing any more.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.create(asked("1"))
	second := f.create(asked("1"))
	if second.Baked || !second.Reattached || second.Attachment.Record != first.Attachment.Record || second.Attachment.Token == first.Attachment.Token {
		t.Fatalf("the second create: %+v", second)
	}
	if view := f.read(first.Attachment); !view.TakenOver || view.Status != store.SnapshotReady {
		t.Errorf("the first state reads %+v", view)
	}
	if view := f.read(second.Attachment); view.TakenOver {
		t.Errorf("the second state reads %+v", view)
	}
	_, err := f.manager.Update(t.Context(), first.Attachment, asked("2"))
	fails(t, err, sandbox.CodeTakenOver)
	f.delete(first.Attachment, true, Retention{}, sandbox.Forgotten)
	f.delete(first.Attachment, false, Retention{}, sandbox.Forgotten)
	if view := f.read(second.Attachment); view.Status != store.SnapshotReady || view.Current == nil {
		t.Errorf("afterwards the second state reads %+v", view)
	}
	// A takeover that fails leaves the lane with whoever holds it.
	broken := asked("2")
	broken.Checks = []SmokeCheck{{Command: []string{"false"}}}
	_, err = f.manager.Create(t.Context(), broken)
	fails(t, err, CodeBakeFailed)
	if view := f.read(second.Attachment); view.TakenOver || view.Current.SnapshotID != first.Current.SnapshotID {
		t.Errorf("after a failed takeover the second state reads %+v", view)
	}
}

func TestMissingLane(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if view, err := f.manager.Lookup(t.Context(), shop); err != nil || !view.Missing {
		t.Errorf("before anything: %+v, %v", view, err)
	}
	_, err := f.manager.Import(t.Context(), shop)
	fails(t, err, CodeLaneMissing)
	if files := f.files("."); len(files) > 0 {
		t.Errorf("looking left %q", files)
	}
	first := f.create(asked("1"))
	view, err := f.manager.Import(t.Context(), shop)
	if err != nil || view.Attachment != first.Attachment || view.Current.SnapshotID != first.Current.SnapshotID || view.Lane != shop {
		t.Errorf("imported %+v, %v", view, err)
	}
	f.delete(first.Attachment, true, Retention{}, sandbox.Removed)
	f.empty()
	if view := f.read(first.Attachment); !view.Missing || !view.Deleted || view.Status != store.SnapshotFailed {
		t.Errorf("what this state deleted reads %+v", view)
	}
	other := first.Attachment
	other.Token = "another"
	if view := f.read(other); !view.Missing || view.Deleted {
		t.Errorf("what another state deleted reads %+v", view)
	}
	again := f.update(other, asked("1"))
	if !again.Baked || again.Attachment != other {
		t.Errorf("an update of a lost lane: %+v", again)
	}
	f.delete(again.Attachment, true, Retention{}, sandbox.Removed)
}

// Snapshots that the registry has lost carry the lane's id, and go with the lane.
func TestPurgeOfALostRecord(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.create(asked("1"))
	entry := f.entries()[0]
	record, err := f.store.Get(t.Context(), first.Attachment.Record)
	if err := errors.Join(err, f.store.DeleteSnapshot(t.Context(), entry), f.store.Delete(t.Context(), record)); err != nil {
		t.Fatal(err)
	}
	_, err = f.manager.Delete(t.Context(), shop, sandbox.Attachment{}, true, Retention{})
	fails(t, err, sandbox.CodeUnproven)
	_, err = f.manager.Delete(t.Context(), shop, first.Attachment, true, Retention{MinAge: time.Hour})
	fails(t, err, CodeTooYoung)
	f.delete(first.Attachment, true, Retention{}, sandbox.Removed)
	f.empty()
}

func TestOtherBinding(t *testing.T) {
	t.Parallel()
	f, other := newFixture(t), newFixture(t)
	first := f.create(asked("1"))
	other.create(asked("1"))
	for what, call := range map[string]func() error{
		"read":   func() error { _, err := other.manager.Read(t.Context(), shop, first.Attachment); return err },
		"update": func() error { _, err := other.manager.Update(t.Context(), first.Attachment, asked("2")); return err },
		"delete": func() error {
			_, err := other.manager.Delete(t.Context(), shop, first.Attachment, true, Retention{})
			return err
		},
	} {
		if err := call(); !errors.Is(err, sandbox.CodeOtherBinding) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// A state that names the record of another lane touches neither.
func TestRecordOfAnotherLane(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.create(asked("1"))
	other := asked("1")
	other.Lane.App = "other"
	if _, err := f.manager.Update(t.Context(), first.Attachment, other); err == nil {
		t.Error("the update went through")
	}
	if _, err := f.manager.Delete(t.Context(), other.Lane, first.Attachment, true, Retention{}); err == nil {
		t.Error("the delete went through")
	}
	if view := f.read(first.Attachment); view.Status != store.SnapshotReady {
		t.Errorf("it reads %+v", view)
	}
}

// workspaceOf notes a workspace that was made from a snapshot.
func (f *fixture) workspaceOf(snapshot string) store.Record {
	f.t.Helper()
	entry := f.entries()[0]
	record, err := f.store.Insert(f.t.Context(), store.Record{
		ID: sandbox.NewToken(), Kind: "persistent", Backend: entry.Backend, Binding: entry.Binding, Owner: entry.Owner,
		Name: "box", WorkspaceID: "team/alpha", Generation: 1, BaseSnapshot: snapshot, Committed: true,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return record
}

// Each refusal of a purge names what forbids it, and nothing is deleted.
func TestPurgeRefusals(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		retention Retention
		prepare   func(*fixture, Result)
		want      []sandbox.Code
		says      []string
		planned   bool
	}{
		"young":             {Retention{MinAge: day}, nil, []sandbox.Code{CodeTooYoung}, []string{"shop/web", "24h0m0s", "may be deleted from", time.Now().UTC().Add(day).Format("2006-01-02T")}, true},
		"to go back to":     {Retention{MinAge: time.Nanosecond, KeepPrevious: 1}, nil, []sandbox.Code{CodeRollbackCandidate}, []string{"keep_previous", "min_age"}, true},
		"young and former":  {Retention{MinAge: day, KeepPrevious: 1}, nil, []sandbox.Code{CodeTooYoung, CodeRollbackCandidate}, nil, true},
		"referenced":        {Retention{}, func(f *fixture, r Result) { f.workspaceOf(r.Current.SnapshotID) }, []sandbox.Code{CodeReferenced}, []string{"team/alpha (local/box)"}, false},
		"former referenced": {Retention{}, func(f *fixture, r Result) { f.workspaceOf(r.Previous.SnapshotID) }, []sandbox.Code{CodeReferenced}, []string{"team/alpha"}, false},
		"old and disposed":  {Retention{MinAge: time.Nanosecond}, nil, nil, nil, false},
		"disposable":        {Retention{KeepPrevious: 5}, nil, nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			first := f.create(asked("1"))
			second := f.update(first.Attachment, asked("2"))
			if c.prepare != nil {
				c.prepare(f, second)
			}
			planned := f.manager.CheckDelete(t.Context(), shop, first.Attachment, c.retention)
			if (planned != nil) != c.planned {
				t.Errorf("the plan says %v", planned)
			}
			outcome, err := f.manager.Delete(t.Context(), shop, first.Attachment, true, c.retention)
			if len(c.want) == 0 {
				if err != nil || outcome != sandbox.Removed {
					t.Errorf("got %q, %v", outcome, err)
				}
				f.empty()
				return
			}
			for _, code := range c.want {
				fails(t, err, code)
				if c.planned {
					fails(t, planned, code)
				}
			}
			for _, text := range c.says {
				if err == nil || !strings.Contains(err.Error(), text) {
					t.Errorf("the error lacks %q: %v", text, err)
				}
			}
			if len(f.snapshots()) != 2 || len(f.entries()) != 2 {
				t.Errorf("something was deleted")
			}
			if view := f.read(first.Attachment); view.Status != store.SnapshotReady || view.Current.ID != second.Current.ID {
				t.Errorf("it reads %+v", view)
			}
		})
	}
}

// The current snapshot is refused by itself too.
func TestPurgeOfOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.create(asked("1"))
	f.update(first.Attachment, asked("2"))
	guard, err := f.manager.guardOf(shop, f.entries(), Retention{KeepPrevious: 1})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, guard.one(t.Context(), f.entries()[0]), CodeCurrent)
	fails(t, guard.one(t.Context(), f.entries()[1]), CodeRollbackCandidate)
	guard.retention.KeepPrevious = 0
	if err := guard.one(t.Context(), f.entries()[1]); err != nil {
		t.Errorf("nothing forbids it: %v", err)
	}
}

// After a rotation what retention lets go is deleted, and nothing else.
func TestPrune(t *testing.T) {
	t.Parallel()
	rotate := func(t *testing.T, retention Retention, prepare func(*fixture, Result)) (*fixture, []string, Result) {
		f := newFixture(t)
		first := f.create(asked("1"))
		if prepare != nil {
			prepare(f, first)
		}
		made := []string{first.Current.SnapshotID}
		var last Result
		for i := 2; i <= 4; i++ {
			request := asked(fmt.Sprint(i))
			request.Retention = retention
			last = f.update(first.Attachment, request)
			made = append(made, last.Current.SnapshotID)
			if len(last.Warnings) > 0 {
				t.Errorf("warnings: %q", last.Warnings)
			}
		}
		f.tidy()
		slices.Sort(made)
		return f, made, last
	}
	for name, c := range map[string]struct {
		retention Retention
		prepare   func(*fixture, Result)
		left      int
	}{
		"not asked for":  {Retention{}, nil, 4},
		"young":          {Retention{Purge: true, MinAge: time.Hour}, nil, 4},
		"one to go back": {Retention{Purge: true, KeepPrevious: 1}, nil, 2},
		"two to go back": {Retention{Purge: true, KeepPrevious: 2}, nil, 3},
		"none":           {Retention{Purge: true}, nil, 1},
		"referenced":     {Retention{Purge: true}, func(f *fixture, r Result) { f.workspaceOf(r.Current.SnapshotID) }, 2},
		"shared":         {Retention{Purge: true}, func(f *fixture, _ Result) { other := asked("1"); other.Lane.App = "bar"; f.create(other) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _, last := rotate(t, c.retention, c.prepare)
			if got := f.snapshots(); len(got) != c.left || !slices.Contains(got, last.Current.SnapshotID) {
				t.Errorf("left are %q, want %d with %s", got, c.left, last.Current.SnapshotID)
			}
			if c.retention.KeepPrevious > 0 && !slices.Contains(f.snapshots(), last.Previous.SnapshotID) {
				t.Errorf("the one to go back to is gone")
			}
		})
	}
}

// What cannot be deleted is told, and does not undo the rotation.
func TestPruneThatFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.create(asked("1"))
	request := asked("2")
	request.Retention.Purge = true
	result, err := f.over(&faulty{whole: f.backend, fail: failing("DeleteSnapshot")}).Update(t.Context(), first.Attachment, request)
	if err != nil || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "injected") {
		t.Fatalf("got %+v, %v", result, err)
	}
	if result = f.update(first.Attachment, request); len(result.Warnings) > 0 || len(f.snapshots()) != 1 {
		t.Errorf("the next update: %+v", result)
	}
	f.tidy()
}
