package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	request := persistent(box)
	request.WorkspaceID = "w1"
	request.Spec.Labels = map[string]string{"a": "1"}
	request.Setup = []backends.Command{{Argv: []string{"sh", "-c", "echo made > /workspace/made"}}}
	result := p.create(p.manager, request)
	record, object := p.settled()
	if result.Reattached || result.Observed.Status != backends.StatusRunning || object.Status != backends.StatusRunning {
		t.Errorf("a new sandbox is %+v", result)
	}
	if result.Attachment.Record != record.ID || result.Attachment.Token != record.Attachment || result.Attachment.Binding != record.Binding {
		t.Errorf("the attachment %+v is not the record's: %+v", result.Attachment, record)
	}
	if record.WorkspaceID != "w1" || record.Generation != 1 || record.Kind != "persistent" || object.Marks.Workspace != "60c5590f72ee" {
		t.Errorf("record %+v, marks %+v", record, object.Marks)
	}
	if found := p.shell(p.manager, "cat /workspace/made"); found != "made" {
		t.Errorf("the setup left %q", found)
	}
	view, err := p.manager.Read(t.Context(), box, result.Attachment)
	if err != nil || view.Status != backends.StatusRunning || view.TakenOver || view.Replaced || view.Deleted || !view.Recorded {
		t.Errorf("read %+v, %v", view, err)
	}
	if !slices.Equal([]byte(view.Settings), []byte(`{"by":"test"}`)) || view.WorkspaceID != "w1" {
		t.Errorf("the settings are %s, the workspace is %q", view.Settings, view.WorkspaceID)
	}
	p.delete(p.manager, request, result.Attachment, true, Removed)
	p.empty()
}

func TestCreateStopped(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	request := persistent(box)
	request.DesiredState = DesiredStopped
	request.Setup = []backends.Command{{Argv: []string{"sh", "-c", "echo made > /workspace/made"}}}
	if result := p.create(p.manager, request); result.Observed.Status != backends.StatusStopped || p.status() != backends.StatusStopped {
		t.Errorf("it is %q", result.Observed.Status)
	}
	if found := p.shell(p.manager, "cat /workspace/made"); found != "made" {
		t.Errorf("the setup left %q", found)
	}
}

// A file that a command wrote inside survives a destroy that retains, with id and record.
func TestRetainAndReattach(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	request := persistent(box)
	first := p.create(p.manager, request)
	p.shell(p.manager, "head -c 100000 /dev/urandom > /workspace/data")
	sum := p.shell(p.manager, "sha256sum < /workspace/data")

	p.delete(p.manager, request, first.Attachment, false, Retained)
	record, object := p.settled()
	if record.Attachment != "" || object.Status != backends.StatusStopped {
		t.Errorf("retained, it is %q and attached to %q", object.Status, record.Attachment)
	}
	p.delete(p.manager, request, first.Attachment, true, Forgotten)

	// As after a fresh checkout: another process, no state.
	again := openPlace(t, p.dir, nil)
	request.Spec.Environment = map[string]string{"NEW": "1"}
	second := again.create(again.manager, request)
	record, object = again.settled()
	if !second.Reattached || second.Attachment.Record != first.Attachment.Record || second.Attachment.Token == first.Attachment.Token {
		t.Errorf("first %+v, second %+v", first.Attachment, second.Attachment)
	}
	if record.Attachment != second.Attachment.Token || object.Status != backends.StatusRunning {
		t.Errorf("record %+v, object %+v", record, object)
	}
	if found := again.shell(again.manager, "sha256sum < /workspace/data; echo $NEW"); found != sum+"\n1" {
		t.Errorf("inside is %q, want %q and the new variable", found, sum)
	}
	again.delete(again.manager, request, second.Attachment, true, Removed)
	again.empty()
}

// The second state adopts and demotes the first.
func TestTakeover(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	request := persistent(box)
	first := p.create(p.manager, request)
	second := p.create(p.manager, request)
	if !second.Reattached || second.Attachment.Record != first.Attachment.Record {
		t.Fatalf("first %+v, second %+v", first, second)
	}
	view, err := p.manager.Read(t.Context(), box, first.Attachment)
	if err != nil || !view.TakenOver || view.Status != backends.StatusRunning {
		t.Errorf("the first state reads %+v, %v", view, err)
	}
	if view, err = p.manager.Read(t.Context(), box, second.Attachment); err != nil || view.TakenOver {
		t.Errorf("the second state reads %+v, %v", view, err)
	}
	_, err = p.manager.Update(t.Context(), first.Attachment, request)
	fails(t, err, CodeTakenOver)
	for _, purge := range []bool{false, true} {
		p.delete(p.manager, request, first.Attachment, purge, Forgotten)
		if record, object := p.settled(); record.Attachment != second.Attachment.Token || object.Status != backends.StatusRunning {
			t.Errorf("a forgetting delete left %+v, %+v", record, object)
		}
	}
	p.delete(p.manager, request, second.Attachment, true, Removed)
	p.empty()
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	request := persistent(box)
	request.Spec.Secrets = map[string]string{"TOKEN": "first-secret"}
	made := p.create(p.manager, request)
	p.shell(p.manager, "echo kept > /workspace/file")

	request.Spec.Environment = map[string]string{"A": "1"}
	request.Spec.Secrets = nil // not handed in again: they stay
	request.Settings = json.RawMessage(`{"by":"update"}`)
	changed, err := p.manager.Update(t.Context(), made.Attachment, request)
	if err != nil {
		t.Fatal(err)
	}
	if changed.Attachment != made.Attachment {
		t.Errorf("an update changed the attachment %+v to %+v", made.Attachment, changed.Attachment)
	}
	// The value is there, but no output shows it.
	if found := p.shell(p.manager, "echo $A ${#TOKEN} $TOKEN; cat /workspace/file"); found != "1 12 (TOKEN redacted)\nkept" {
		t.Errorf("inside is %q", found)
	}
	record, _ := p.settled()
	if strings.Contains(string(record.Spec), "first-secret") || !strings.Contains(string(record.Spec), "TOKEN") {
		t.Errorf("the record is %s", record.Spec)
	}

	for _, step := range []struct {
		desired string
		want    backends.Status
	}{{DesiredStopped, "stopped"}, {"", "stopped"}, {DesiredRunning, "running"}, {"", "running"}} {
		request.DesiredState = step.desired
		if _, err := p.manager.Update(t.Context(), made.Attachment, request); err != nil || p.status() != step.want {
			t.Errorf("desired %q: it is %q (%v), want %q", step.desired, p.status(), err, step.want)
		}
	}

	request.Spec.CPUs = 2
	if _, err := p.manager.Update(t.Context(), made.Attachment, request); backends.KindOf(err) != backends.Unsupported {
		t.Errorf("an unsupported option gives %v", err)
	}
}

func TestCheckpoints(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	request := persistent(box)
	request.CheckpointTrigger = "at creation"
	made := p.create(p.manager, request)
	if made.CurrentSnapshotID != "" {
		t.Errorf("the first trigger took the checkpoint %s", made.CurrentSnapshotID)
	}
	request.Retention = Retention{KeepLast: 2}
	var taken []string
	for _, trigger := range []string{"at creation", "1", "1", "2", "", "3"} {
		request.CheckpointTrigger = trigger
		result, err := p.manager.Update(t.Context(), made.Attachment, request)
		if err != nil {
			t.Fatal(err)
		}
		if id := result.CurrentSnapshotID; id != "" && !slices.Contains(taken, id) {
			taken = append(taken, id)
		}
	}
	if len(taken) != 3 {
		t.Fatalf("the triggers took %q, want three checkpoints", taken)
	}
	snapshots, err := p.backend.ListSnapshots(t.Context(), made.Attachment.Record)
	if err != nil || len(snapshots) != 2 || !slices.ContainsFunc(snapshots, func(s backends.Snapshot) bool { return s.ID == taken[2] }) {
		t.Errorf("kept are %+v (%v), want two with %s", snapshots, err, taken[2])
	}
	p.delete(p.manager, request, made.Attachment, true, Removed)
	p.empty()
}

func TestSessionDelete(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	made := p.create(p.manager, session(box))
	p.delete(p.manager, session(box), made.Attachment, false, Removed)
	p.empty()
}

// The volumes of a session sandbox outlive a destroy that retains, and the record goes on naming
// them.
func TestSessionWithVolumes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := &double{volumes: true}
	m := p.over(d)
	request := session(box)
	request.Spec.Volumes = map[string]backends.Volume{"cache": {Target: "/cache"}}
	first := p.create(m, request)
	p.delete(m, request, first.Attachment, false, Retained)
	if record := p.record(); record.Attachment != "" || !record.Committed || len(record.Intent) > 0 {
		t.Errorf("the record is %+v", record)
	}
	second := p.create(m, request)
	if second.Reattached || second.Attachment.Record != first.Attachment.Record {
		t.Errorf("the second is %+v, want a new object on the record %s", second, first.Attachment.Record)
	}
	p.settled()

	// A create that fails on kept volumes leaves them, and the record detached.
	p.delete(m, request, second.Attachment, false, Retained)
	broken := request
	broken.Setup = []backends.Command{{Argv: []string{"false"}}}
	_, err := m.Create(t.Context(), broken)
	fails(t, err, CodeSetupFailed)
	if record := p.record(); record.Attachment != "" || !record.Committed || len(record.Intent) > 0 || record.ID != first.Attachment.Record {
		t.Errorf("after a failed create the record is %+v", record)
	}

	third := p.create(m, request)
	p.delete(m, request, third.Attachment, true, Removed)
	want := []backends.DeleteOptions{{Snapshots: true}, {Snapshots: true}, {}, {Volumes: true, Snapshots: true}}
	if !slices.Equal(d.options, want) {
		t.Errorf("deletes were asked with %+v, want %+v", d.options, want)
	}
	p.empty()
}

func TestCreateRefusals(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	roots := []string{t.TempDir(), t.TempDir()}
	request := persistent(box)
	request.WorkspaceID = "w1"
	request.Spec.Source.Rootfs = roots[0]
	made := p.create(p.manager, request)
	stranger := &Manager{Backend: p.backend, Store: p.store, ExplicitOwner: "somebody else"}
	for _, test := range []struct {
		name    string
		manager *Manager
		alter   func(*Request)
		want    error
		says    string
	}{
		{"another owner", stranger, func(*Request) {}, CodeNotOurs, "terraform import <resource address> local/box"},
		{"another kind", p.manager, func(r *Request) { r.Kind = backends.Session }, CodeOtherKind, "persistent"},
		{"another source", p.manager, func(r *Request) { r.Spec.Source.Rootfs = roots[1] }, CodeOtherSource, roots[0]},
		{"another workspace", p.manager, func(r *Request) { r.WorkspaceID = "w2" }, CodeOtherName, `"w1"`},
		{"another name", p.manager, func(r *Request) { r.Name = "renamed" }, CodeOtherName, `name = "box"`},
		{"unsupported", p.manager, func(r *Request) { r.Name, r.WorkspaceID, r.Spec.MemoryMiB = "other", "", 64 }, backends.Unsupported, "memory"},
	} {
		altered := request
		test.alter(&altered)
		_, err := test.manager.Create(t.Context(), altered)
		fails(t, err, test.want)
		if err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: the error does not say %q: %v", test.name, test.says, err)
		}
		if record, object := p.settled(); record.Attachment != made.Attachment.Token || object.Status != backends.StatusRunning {
			t.Errorf("%s: the refusal changed %+v, %+v", test.name, record, object)
		}
	}

	// The next generation of the workspace may live beside it.
	next := request
	next.Name, next.Generation = "box-g2", 2
	p.create(p.manager, next)
}

func TestFailedSetupRemovesEverything(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	request := persistent(box)
	request.Spec.Secrets = map[string]string{"TOKEN": "s3cr3t-value"}
	request.Setup = []backends.Command{
		{Argv: []string{"true"}},
		{Argv: []string{"sh", "-c", "echo the token is $TOKEN >&2; exit 3"}},
		{Argv: []string{"sh", "-c", "echo unreached"}},
	}
	_, err := p.manager.Create(t.Context(), request)
	fails(t, err, CodeSetupFailed)
	if err == nil || !strings.Contains(err.Error(), "step 2 exited with status 3") || !strings.Contains(err.Error(), "the token is") {
		t.Errorf("the error is %v", err)
	}
	if strings.Contains(err.Error(), "s3cr3t-value") {
		t.Errorf("the error tells the secret: %v", err)
	}
	p.empty()

	request.Setup = request.Setup[:1]
	p.create(p.manager, request)
	p.settled()
}

// A create that cannot even clean up says what it left, and a later delete removes that under
// either policy.
func TestFailedCleanup(t *testing.T) {
	t.Parallel()
	for _, purge := range []bool{false, true} {
		p := newPlace(t)
		request := persistent(box)
		request.Setup = []backends.Command{{Argv: []string{"false"}}}
		_, err := p.over(&double{fail: failing("Delete")}).Create(t.Context(), request)
		var partial *PartialError
		if !errors.As(err, &partial) {
			t.Fatalf("the error is %v, want one that tells what is left", err)
		}
		fails(t, err, CodeSetupFailed)
		fails(t, err, errInjected)
		record := p.record()
		if record.Committed || partial.Result.Attachment.Record != record.ID || partial.Result.Attachment.Binding != record.Binding {
			t.Errorf("record %+v, attachment %+v", record, partial.Result.Attachment)
		}
		// Core hands a tainted object over without its private state.
		p.delete(p.manager, request, Attachment{Record: record.ID}, purge, Removed)
		p.empty()
	}
}

// The next create takes over where the clean-up failed, without a state.
func TestCreateAfterFailedCleanup(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	request := persistent(box)
	request.Setup = []backends.Command{{Argv: []string{"sh", "-c", "echo old > /workspace/old; false"}}}
	if _, err := p.over(&double{fail: failing("Delete")}).Create(t.Context(), request); err == nil {
		t.Fatal("the setup did not fail")
	}
	request.Setup = nil
	if result := p.create(p.manager, request); result.Reattached {
		t.Error("something half made was re-attached")
	}
	p.settled()
	if found := p.shell(p.manager, "ls /workspace"); found != "" {
		t.Errorf("the new sandbox holds %q of the old one", found)
	}
}

func TestFailedCreateCall(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"Prepare", "Get", "Create"} {
		p := newPlace(t)
		_, err := p.over(&double{fail: failing(call)}).Create(t.Context(), persistent(box))
		fails(t, err, errInjected)
		p.empty()
	}
}

// A re-attach that fails leaves whoever held the sandbox before in place, and the data.
func TestFailedReattach(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"Get", "Reconfigure", "Start"} {
		p := newPlace(t)
		made := p.create(p.manager, persistent(box))
		p.shell(p.manager, "echo kept > /workspace/file")
		_, err := p.over(&double{fail: failing(call)}).Create(t.Context(), persistent(box))
		fails(t, err, errInjected)
		var partial *PartialError
		if errors.As(err, &partial) {
			t.Errorf("%s: a failed re-attach would stand in the state: %v", call, err)
		}
		if record, _ := p.settled(); record.Attachment != made.Attachment.Token {
			t.Errorf("%s: the attachment is %q, want %q", call, record.Attachment, made.Attachment.Token)
		}
		if found := p.shell(p.manager, "cat /workspace/file"); found != "kept" {
			t.Errorf("%s: the file holds %q", call, found)
		}
	}
}

// A canceled create cleans up all the same.
func TestCanceledCreate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request := persistent(box)
	request.Setup = []backends.Command{{Argv: []string{"true"}}, {Argv: []string{"sleep", "60"}}}
	d := &double{}
	m := p.over(d)
	m.Backend = &canceler{double: d, cancel: cancel}
	_, err := m.Create(ctx, request)
	fails(t, err, CodeSetupFailed)
	p.empty()
}

// canceler cancels the context once the second command was begun.
type canceler struct {
	*double
	cancel context.CancelFunc
	begun  int
}

func (c *canceler) Exec(ctx context.Context, name string, command backends.Command) (backends.ExecResult, error) {
	if c.begun++; c.begun == 2 {
		c.cancel()
	}
	return c.double.Exec(ctx, name, command)
}

// A lost record is rebuilt from state and marks.
func TestLostRecord(t *testing.T) {
	t.Parallel()
	lose := func(p *place) {
		if err := p.store.Delete(p.t.Context(), p.record()); err != nil {
			p.t.Fatal(err)
		}
	}
	prepare := func(t *testing.T) (*place, Result) {
		p := newPlace(t)
		made := p.create(p.manager, persistent(box))
		p.shell(p.manager, "echo kept > /workspace/file")
		lose(p)
		return p, made
	}
	check := func(p *place, made Result) {
		p.t.Helper()
		if record, _ := p.settled(); record.ID != made.Attachment.Record {
			p.t.Errorf("the rebuilt record is %s, want %s", record.ID, made.Attachment.Record)
		}
		if found := p.shell(p.manager, "cat /workspace/file"); found != "kept" {
			p.t.Errorf("the file holds %q", found)
		}
	}
	t.Run("read", func(t *testing.T) {
		t.Parallel()
		p, made := prepare(t)
		view, err := p.manager.Read(t.Context(), box, made.Attachment)
		if err != nil || view.Status != backends.StatusRunning || view.Recorded || view.TakenOver || view.Deleted {
			t.Errorf("read %+v, %v", view, err)
		}
	})
	t.Run("update", func(t *testing.T) {
		t.Parallel()
		p, made := prepare(t)
		result, err := p.manager.Update(t.Context(), made.Attachment, persistent(box))
		if err != nil || result.Attachment != made.Attachment {
			t.Fatalf("the attachment became %+v (%v), want %+v", result.Attachment, err, made.Attachment)
		}
		check(p, made)
		p.delete(p.manager, persistent(box), result.Attachment, true, Removed)
		p.empty()
	})
	t.Run("create", func(t *testing.T) {
		t.Parallel()
		p, made := prepare(t)
		if result := p.create(p.manager, persistent(box)); !result.Reattached || result.Attachment.Token == made.Attachment.Token {
			t.Errorf("created %+v", result)
		}
		check(p, made)
	})
	t.Run("import", func(t *testing.T) {
		t.Parallel()
		p, made := prepare(t)
		view, err := p.manager.Import(t.Context(), box)
		if err != nil || view.Attachment.Record != made.Attachment.Record || view.Recorded {
			t.Errorf("imported %+v, %v", view, err)
		}
	})
	for _, test := range []struct {
		name    string
		alter   func(*Attachment)
		purge   bool
		outcome Outcome
		err     error
		left    backends.Status
	}{
		{"purge", func(*Attachment) {}, true, Removed, nil, ""},
		{"retain", func(*Attachment) {}, false, Retained, nil, "stopped"},
		{"purge without private state", func(a *Attachment) { *a = Attachment{Record: a.Record} }, true, "", CodeUnproven, "running"},
		{"purge without anything", func(a *Attachment) { *a = Attachment{} }, true, "", CodeUnproven, "running"},
		{"retain without anything", func(a *Attachment) { *a = Attachment{} }, false, Forgotten, nil, "running"},
		{"purge of another object of that name", func(a *Attachment) { a.Record = "other" }, true, Forgotten, nil, "running"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, made := prepare(t)
			test.alter(&made.Attachment)
			outcome, err := p.manager.Delete(t.Context(), box, backends.Persistent, made.Attachment, test.purge)
			if outcome != test.outcome || !errors.Is(err, test.err) {
				t.Errorf("%q, %v, want %q, %v", outcome, err, test.outcome, test.err)
			}
			if test.left == "" {
				p.empty()
			} else if found := p.status(); found != test.left {
				t.Errorf("it is %q, want %q", found, test.left)
			}
		})
	}
}

// What vanished outside is missing, and stays so until somebody decides.
func TestMissing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	made := p.create(p.manager, persistent(box))
	if err := os.Rename(filepath.Join(p.dir, "local", "sandboxes", box), filepath.Join(p.dir, "aside")); err != nil {
		t.Fatal(err)
	}
	view, err := p.manager.Read(t.Context(), box, made.Attachment)
	if err != nil || view.Status != StatusMissing || !view.Recorded || view.Deleted {
		t.Errorf("read %+v, %v", view, err)
	}
	_, err = p.manager.Update(t.Context(), made.Attachment, persistent(box))
	fails(t, err, CodeMissing)
	_, err = p.manager.Import(t.Context(), box)
	fails(t, err, CodeMissing)
	if known, err := p.manager.Remembers(t.Context(), box); err != nil || !known {
		t.Errorf("the store remembers it: %v, %v", known, err)
	}
	if err := os.Rename(filepath.Join(p.dir, "aside"), filepath.Join(p.dir, "local", "sandboxes", box)); err != nil {
		t.Fatal(err)
	}
	if view, err = p.manager.Read(t.Context(), box, made.Attachment); err != nil || view.Status == StatusMissing {
		t.Errorf("come back, it reads %+v, %v", view, err)
	}
}

// Another object of the same name is not the one in the state.
func TestReplacedOutside(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.create(p.manager, persistent(box))
	p.delete(p.manager, persistent(box), first.Attachment, true, Removed)
	p.create(p.manager, persistent(box))
	view, err := p.manager.Read(t.Context(), box, first.Attachment)
	if err != nil || view.Status != StatusMissing || !view.Replaced {
		t.Errorf("read %+v, %v", view, err)
	}
	_, err = p.manager.Update(t.Context(), first.Attachment, persistent(box))
	fails(t, err, CodeMissing)
	p.delete(p.manager, persistent(box), first.Attachment, true, Forgotten)
	p.settled()
}

// A failing backend or store is an error, never absence.
func TestFailureIsNotAbsence(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	made := p.create(p.manager, persistent(box))
	for _, call := range []string{"Get", "Binding"} {
		m := p.over(&double{fail: failing(call)})
		if view, err := m.Read(t.Context(), box, made.Attachment); !errors.Is(err, errInjected) {
			t.Errorf("%s: read %+v, %v", call, view, err)
		}
		if _, err := m.Delete(t.Context(), box, backends.Persistent, made.Attachment, true); !errors.Is(err, errInjected) {
			t.Errorf("%s: delete gives %v", call, err)
		}
		if _, err := m.Import(t.Context(), box); !errors.Is(err, errInjected) {
			t.Errorf("%s: import gives %v", call, err)
		}
	}
	p.settled()
}

// Another place is refused before any access, whether or not it was ever used.
func TestOtherBinding(t *testing.T) {
	t.Parallel()
	here := newPlace(t)
	made := here.create(here.manager, persistent(box))
	used := newPlace(t)
	other := used.create(used.manager, persistent(box))
	unused := openPlace(t, filepath.Join(tempDir(t), "data"), nil)
	for name, elsewhere := range map[string]*place{"used": used, "never used": unused} {
		for _, operation := range []struct {
			name string
			run  func(*Manager) error
		}{
			{"read", func(m *Manager) error { _, err := m.Read(t.Context(), box, made.Attachment); return err }},
			{"describe", func(m *Manager) error {
				_, _, err := m.Describe(t.Context(), box, made.Attachment.Binding)
				return err
			}},
			{"update", func(m *Manager) error {
				_, err := m.Update(t.Context(), made.Attachment, persistent(box))
				return err
			}},
			{"purge", func(m *Manager) error {
				_, err := m.Delete(t.Context(), box, backends.Persistent, made.Attachment, true)
				return err
			}},
			{"retain", func(m *Manager) error {
				_, err := m.Delete(t.Context(), box, backends.Persistent, made.Attachment, false)
				return err
			}},
		} {
			d := &double{}
			err := operation.run(elsewhere.over(d))
			fails(t, err, CodeOtherBinding)
			if err == nil || !strings.Contains(err.Error(), made.Attachment.Binding) || !strings.Contains(err.Error(), elsewhere.dir) && name == "used" {
				t.Errorf("%s, %s: the error does not name both places: %v", name, operation.name, err)
			}
			if calls := d.noted(); !slices.Equal(calls, []string{"Binding"}) {
				t.Errorf("%s, %s: the backend was asked for %q", name, operation.name, calls)
			}
		}
	}
	if record, _ := used.settled(); record.Attachment != other.Attachment.Token {
		t.Error("the other place was changed")
	}
	// The record tells the place too, where core passes no private state.
	moved := &Manager{Backend: used.backend, Store: here.store}
	_, err := moved.Delete(t.Context(), box, backends.Persistent, Attachment{Record: made.Attachment.Record}, true)
	fails(t, err, CodeOtherBinding)
	here.settled()
}

// A place that was never used is only looked at.
func TestLookingMakesNoFile(t *testing.T) {
	t.Parallel()
	p := openPlace(t, filepath.Join(tempDir(t), "data"), nil)
	_, err := p.manager.Import(t.Context(), box)
	fails(t, err, CodeMissing)
	if seen, err := p.manager.Foresee(t.Context(), box, backends.Persistent, false, backends.Source{}); err != nil || seen != (Foresight{}) {
		t.Errorf("foresees %+v, %v", seen, err)
	}
	if known, err := p.manager.Remembers(t.Context(), box); err != nil || known {
		t.Errorf("remembers %v, %v", known, err)
	}
	if _, err := p.manager.Read(t.Context(), box, Attachment{Binding: "elsewhere"}); !errors.Is(err, CodeOtherBinding) {
		t.Errorf("read gives %v", err)
	}
	if _, err := os.Stat(p.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s was made: %v", p.dir, p.entries())
	}
}

func TestForesee(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	roots := []string{t.TempDir(), t.TempDir()}
	request := persistent(box)
	request.Spec.Source.Rootfs = roots[0]
	made := p.create(p.manager, request)
	foresee := func(kind backends.Kind, root string) Foresight {
		t.Helper()
		seen, err := p.manager.Foresee(t.Context(), box, kind, false, backends.Source{Rootfs: root})
		if err != nil {
			t.Fatal(err)
		}
		return seen
	}
	if seen := foresee(backends.Persistent, roots[0]); seen != (Foresight{Exists: true, Attached: true}) {
		t.Errorf("attached: %+v", seen)
	}
	if seen := foresee(backends.Session, roots[0]); seen.Kind != "persistent sandbox" {
		t.Errorf("another kind: %+v", seen)
	}
	if seen := foresee(backends.Persistent, roots[1]); !strings.Contains(seen.Source, roots[0]) {
		t.Errorf("another source: %+v", seen)
	}
	p.delete(p.manager, request, made.Attachment, false, Retained)
	if seen := foresee(backends.Persistent, roots[0]); seen != (Foresight{Exists: true}) {
		t.Errorf("retained: %+v", seen)
	}
	stranger := &Manager{Backend: p.backend, Store: p.store, ExplicitOwner: "somebody else"}
	if seen, err := stranger.Foresee(t.Context(), box, backends.Session, false, backends.Source{}); err != nil || seen != (Foresight{}) {
		t.Errorf("somebody else's: %+v, %v", seen, err)
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	request := persistent(box)
	request.WorkspaceID = "w1"
	made := p.create(p.manager, request)
	before := p.record()
	view, err := p.manager.Import(t.Context(), box)
	if err != nil || view.Attachment != made.Attachment || view.WorkspaceID != "w1" || view.Generation != 1 {
		t.Errorf("imported %+v, %v, want the attachment %+v", view, err, made.Attachment)
	}
	if after := p.record(); after.Revision != before.Revision {
		t.Error("an import wrote to the record")
	}
	_, err = p.manager.Import(t.Context(), "absent")
	fails(t, err, CodeMissing)
	stranger := &Manager{Backend: p.backend, Store: p.store, ExplicitOwner: "somebody else"}
	_, err = stranger.Import(t.Context(), box)
	fails(t, err, CodeNotOurs)
	for name, look := range map[string]func() error{
		"describe": func() error { _, _, err := stranger.Describe(t.Context(), box, ""); return err },
		"exec": func() error {
			_, err := stranger.Exec(t.Context(), box, backends.Command{Argv: []string{"true"}})
			return err
		},
	} {
		if err := look(); !errors.Is(err, CodeNotOurs) {
			t.Errorf("%s of somebody else's sandbox gives %v", name, err)
		}
	}
}

// The intents of the record show in a read.
func TestReadShowsIntents(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	made := p.create(p.manager, persistent(box))
	for _, test := range []struct {
		intent operation
		want   backends.Status
	}{{changing, StatusInterrupted}, {deleting, StatusDeleting}, {creating, StatusInterrupted}} {
		record := p.record()
		var err error
		if record.Intent, err = store.Encode(intent{Operation: test.intent}); err != nil {
			t.Fatal(err)
		}
		var written store.Record
		if written, err = p.store.Update(t.Context(), record); err != nil {
			t.Fatal(err)
		}
		if view, err := p.manager.Read(t.Context(), box, made.Attachment); err != nil || view.Status != test.want {
			t.Errorf("%s under way reads %q, %v, want %q", test.intent, view.Status, err, test.want)
		}
		written.Intent = nil
		if _, err = p.store.Update(t.Context(), written); err != nil {
			t.Fatal(err)
		}
	}
}
