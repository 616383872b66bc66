package basesnapshot

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/overlay"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

func TestBake(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	request := asked("1")
	request.Manifest.Files = filesOf(t, map[string]string{"etc/tool.conf": "configured", "/workspace/bin/tool": "#!/bin/sh\necho tool 3.2.1\n"})
	for i := range request.Manifest.Files.Entries {
		if request.Manifest.Files.Entries[i].Path == "/workspace/bin/tool" {
			request.Manifest.Files.Entries[i].Mode = 0o755
		}
	}
	request.Manifest.Commands = append(request.Manifest.Commands,
		[]string{"sh", "-c", "env > seen; pwd > where"},
		[]string{"sh", "-c", "test ! -e etc/tool.conf && test ! -e .sandlot && echo earlier > order"})
	request.Checks = append(request.Checks,
		SmokeCheck{Command: []string{"/workspace/bin/tool"}, Expect: "3.2.1"},
		SmokeCheck{Command: []string{"sh", "-c", "test -z \"$GIVEN\" && cat .sandlot/base-snapshot.json"}, Expect: `"kind":"sandlot-base-snapshot"`})
	request.Environment = Environment{
		Values: map[string]string{"GIVEN": "given-value"}, Allowlist: []string{"PASSED", "UNSET"},
		Inherited: map[string]string{"PASSED": "passed-value", "OTHER": "never-asked-for"},
	}
	result := f.create(request)
	f.tidy()

	hash, err := Hash(request.Manifest, request.Environment.Values, request.Environment.Allowlist)
	if err != nil {
		t.Fatal(err)
	}
	current := result.Current
	if !result.Baked || result.Reattached || current.Status != store.SnapshotReady || !current.Current || current.ManifestHash != hash ||
		current.SizeBytes == 0 || current.ReadyAt.IsZero() || !current.ExpiresAt.IsZero() || !regexp.MustCompile(`^sandlot-bake-[0-9a-f]{12}$`).MatchString(current.Seed) ||
		current.Manifest.TemplateVersion != "1" || result.Previous != nil || len(result.History) != 1 {
		t.Errorf("the result is %+v", result)
	}
	if want := "web-" + time.Now().UTC().Format(time.DateOnly) + "-" + hash[:8]; current.Version != want {
		t.Errorf("the version is %q, want %q", current.Version, want)
	}
	seen := f.inside(current.SnapshotID, "cat /workspace/seen; echo; cat /workspace/where /workspace/order")
	for text, there := range map[string]bool{
		"GIVEN=given-value": true, "PASSED=passed-value": true, "OTHER": false, "never-asked-for": false,
		canary: false, "the canary's value": false, "/workspace": true, "earlier": true,
	} {
		if strings.Contains(seen, text) != there {
			t.Errorf("%q was in the environment of a command: %v, want %v", text, !there, there)
		}
	}
	if got := f.inside(current.SnapshotID, `cat /workspace/etc/tool.conf; echo; echo "given: $GIVEN"; grep -rl -e given-value -e passed-value /workspace "$HOME" /etc /tmp /var 2> /dev/null | tr '\n' ' '`); got != "configured\ngiven: \n/workspace/seen" {
		t.Errorf("inside the snapshot: %q", got)
	}
	var marker markerContent
	if err := json.Unmarshal([]byte(f.inside(current.SnapshotID, "cat /workspace/.sandlot/base-snapshot.json")), &marker); err != nil {
		t.Fatal(err)
	}
	if marker.Kind != MarkerKind || marker.Hash != hash || marker.Version != current.Version || marker.CreatedAt.IsZero() {
		t.Errorf("the marker is %+v", marker)
	}
	view := f.read(result.Attachment)
	if view.Status != store.SnapshotReady || view.TakenOver || view.Missing || view.Current.SnapshotID != current.SnapshotID || string(view.Settings) != `{"by":"test"}` {
		t.Errorf("it reads %+v", view)
	}
	raw := string(f.entries()[0].Manifest)
	if strings.Contains(raw, "given-value") || strings.Contains(raw, "configured") || !strings.Contains(raw, `"GIVEN"`) {
		t.Errorf("the registry keeps %s", raw)
	}
}

// The seed gets no environment, nothing happens to it after the snapshot, and each step comes in its
// turn.
func TestBakeOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	double := &faulty{whole: f.backend}
	request := asked("1")
	request.Manifest.Files = filesOf(t, map[string]string{"file": "x"})
	request.Environment.Values = map[string]string{"GIVEN": "value"}
	result, err := f.over(double).Create(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	seed, verify, id := result.Current.Seed, strings.Replace(result.Current.Seed, "-bake-", "-verify-", 1), result.Current.SnapshotID
	want := []string{
		"Create " + seed, "Exec " + seed, "WriteFile /workspace/file", "WriteFile /workspace/.sandlot/base-snapshot.json", "Exec " + seed,
		"CreateSnapshot " + seed, "GetSnapshot " + id, "Delete " + seed, "Create " + verify, "Exec " + verify, "Delete " + verify,
	}
	if got := double.noted(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the calls were %q, want %q", got, want)
	}
	for _, spec := range double.seen {
		if len(spec.Environment) > 0 || len(spec.Secrets) > 0 {
			t.Errorf("a sandbox was made with the environment %v", spec.Environment)
		}
	}
}

func TestWithoutVerify(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	double := &faulty{whole: f.backend, fail: func(call, object string) error {
		if call == "Create" && strings.Contains(object, "-verify-") {
			return errInjected
		}
		return nil
	}}
	request := asked("1")
	request.Verify = false
	if _, err := f.over(double).Create(t.Context(), request); err != nil {
		t.Error(err)
	}
	f.tidy()
}

// Each step that fails leaves nothing, and leaves the lane where it was. The next update bakes again.
func TestFailedSteps(t *testing.T) {
	t.Parallel()
	changed := func(change func(*Request)) func(*Request) {
		return func(r *Request) { *r = asked("2"); change(r) }
	}
	for name, c := range map[string]struct {
		change func(*Request)
		fail   func(call, object string) error
		want   error
		says   []string
	}{
		"seed": {changed(func(*Request) {}), failing("Create"), errInjected, []string{"seed sandbox sandlot-bake-"}},
		"command": {changed(func(r *Request) {
			r.Manifest.Commands = [][]string{{"true"}, {"sh", "-c", "echo said; echo why $V >&2; exit 3"}}
			r.Environment.Values = map[string]string{"V": "the-value"}
		}), nil, CodeBakeFailed, []string{"command 2", "exited with status 3", "why (V redacted)"}},
		"absent program":  {changed(func(r *Request) { r.Manifest.Commands = [][]string{{"no-such-program"}} }), nil, CodeBakeFailed, []string{"command 1 (no-such-program)"}},
		"file":            {changed(func(*Request) {}), failing("WriteFile"), errInjected, []string{"the marker /workspace/.sandlot/base-snapshot.json"}},
		"outside path":    {changed(func(r *Request) { r.Manifest.MarkerPath = "/opt/marker" }), nil, backends.Unsupported, []string{"the marker /opt/marker", "/workspace"}},
		"package manager": {changed(func(r *Request) { r.Manifest.PackageManagers = map[string]string{"cat": "0.0.1"} }), nil, CodeBakeFailed, []string{"the version of cat in the seed", `"0.0.1" is not in what it printed`}},
		"smoke status":    {changed(func(r *Request) { r.Checks = []SmokeCheck{{Command: []string{"false"}}} }), nil, CodeBakeFailed, []string{"smoke check 1 in the seed (false) exited with status 1"}},
		"smoke output":    {changed(func(r *Request) { r.Checks = []SmokeCheck{{Command: []string{"echo", "a"}, Expect: "b"}} }), nil, CodeBakeFailed, []string{"smoke check 1", `"b" is not in what it printed`}},
		"snapshot":        {changed(func(*Request) {}), failing("CreateSnapshot"), errInjected, []string{"the snapshot sandlot-base-"}},
		"no snapshot":     {changed(func(*Request) {}), nil, context.DeadlineExceeded, nil},
		"verify": {changed(func(*Request) {}), func(call, object string) error {
			if call == "Create" && strings.Contains(object, "-verify-") {
				return errInjected
			}
			return nil
		}, errInjected, []string{"a sandbox from the new snapshot"}},
		"verify check": {changed(func(r *Request) {
			r.Checks = []SmokeCheck{{Command: []string{"sh", "-c", "test -e /tmp/here || { touch /tmp/here; test -e /tmp/there; }"}}}
			r.Checks = []SmokeCheck{{Command: []string{"sh", "-c", `case $(hostname) in *verify*) echo broken; exit 1;; esac`}}}
		}), nil, CodeBakeFailed, []string{"smoke check 1 in a sandbox from the new snapshot", "broken"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			before := f.create(asked("1"))
			request := asked("1")
			c.change(&request)
			double := &faulty{whole: f.backend, fail: c.fail}
			ctx := t.Context()
			if name == "no snapshot" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 3*time.Second)
				defer cancel()
				double.fail = func(call, object string) error {
					if call == "GetSnapshot" && object != before.Current.SnapshotID {
						return &backends.Error{Kind: backends.NotFound, Backend: "local", Operation: "read snapshot"}
					}
					return nil
				}
			}
			_, err := f.over(double).Update(ctx, before.Attachment, request)
			fails(t, err, c.want)
			fails(t, err, CodeBakeFailed)
			for _, text := range c.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("the error lacks %q: %v", text, err)
				}
			}
			if err != nil && strings.Contains(err.Error(), "the-value") {
				t.Errorf("the error shows a value: %v", err)
			}
			f.tidy()
			view := f.read(before.Attachment)
			if view.Status != store.SnapshotReady || view.Current.SnapshotID != before.Current.SnapshotID {
				t.Errorf("afterwards it reads %+v", view)
			}
			failed := view.History[0]
			if failed.Status != store.SnapshotFailed || failed.LastError == "" || failed.SnapshotID != "" || strings.Contains(failed.LastError, "the-value") || len(failed.LastError) > reasonShown+4 {
				t.Errorf("the entry is %+v", failed)
			}
			f.inside(before.Current.SnapshotID, "test $(cat /workspace/made) = 1")

			if name == "verify" || name == "snapshot" {
				after := f.update(before.Attachment, request)
				if !after.Baked || after.Previous == nil || after.Previous.SnapshotID != before.Current.SnapshotID || after.Current.PreviousSnapshotID != before.Current.SnapshotID {
					t.Errorf("the next update: %+v", after)
				}
				f.tidy()
			}
		})
	}
}

// The end of a long output is what is shown.
func TestLongOutput(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	request := asked("1")
	request.Manifest.Commands = [][]string{{"sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo the end; exit 1"}}
	_, err := f.manager.Create(t.Context(), request)
	var step *StepError
	if !errors.As(err, &step) || !strings.HasSuffix(step.Output, "the end") || len(step.Output) > sandbox.OutputShown+8 || step.ExitCode != 1 {
		t.Errorf("got %v", err)
	}
}

// A file that changed after it was planned fails the bake.
func TestChangedTemplateFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	request := asked("1")
	request.Manifest.Files = filesOf(t, map[string]string{"file": "x"})
	request.Manifest.Files.Entries[0].SHA256 = strings.Repeat("0", 64)
	_, err := f.manager.Create(t.Context(), request)
	fails(t, err, overlay.ErrChanged)
	f.tidy()
}

func TestCanceledBake(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	before := f.create(asked("1"))
	request := asked("2")
	request.Manifest.Commands = [][]string{{"sleep", "60"}}
	ctx, cancel := context.WithCancel(t.Context())
	double := &faulty{whole: f.backend, fail: func(call, _ string) error {
		if call == "Exec" {
			time.AfterFunc(200*time.Millisecond, cancel)
		}
		return nil
	}}
	_, err := f.over(double).Update(ctx, before.Attachment, request)
	fails(t, err, context.Canceled)
	f.tidy()
	if view := f.read(before.Attachment); view.Status != store.SnapshotReady || view.Current.SnapshotID != before.Current.SnapshotID {
		t.Errorf("it reads %+v", view)
	}
}

// What a failed bake could not remove is named, and removed by the next bake, also of another manifest.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]string{"same manifest": "2", "another manifest": "3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			before := f.create(asked("1"))
			double := &faulty{whole: f.backend, fail: failing("CreateSnapshot", "Delete")}
			_, err := f.over(double).Update(t.Context(), before.Attachment, asked("2"))
			fails(t, err, CodeBakeFailed)
			if seed := f.entries()[0].Seed; err == nil || !strings.Contains(err.Error(), "Left behind: ") || !strings.Contains(err.Error(), seed) {
				t.Errorf("got %v", err)
			}
			if boxes, err := f.backend.List(t.Context()); err != nil || len(boxes) != 1 {
				t.Errorf("the backend holds %v (%v)", boxes, err)
			}
			after := f.update(before.Attachment, asked(next))
			if len(after.Warnings) > 0 {
				t.Errorf("warnings: %q", after.Warnings)
			}
			f.tidy()
		})
	}
	t.Run("first bake", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		double := &faulty{whole: f.backend, fail: failing("CreateSnapshot", "Delete")}
		_, err := f.over(double).Create(t.Context(), asked("1"))
		var partial *PartialError
		if !errors.As(err, &partial) {
			t.Fatalf("got %v", err)
		}
		f.delete(partial.Result.Attachment, false, Retention{MinAge: time.Hour, KeepPrevious: 1}, "removed")
		f.empty()
	})
}

// A first bake that fails leaves a lane that tells why, held by nobody, and the next create uses it.
func TestFailedFirstBake(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	request := asked("1")
	request.Checks = []SmokeCheck{{Command: []string{"false"}}}
	_, err := f.manager.Create(t.Context(), request)
	fails(t, err, CodeBakeFailed)
	f.tidy()
	view, err := f.manager.Lookup(t.Context(), shop)
	if err != nil || view.Status != store.SnapshotFailed || !strings.Contains(view.Reason, "smoke check 1") || view.Current != nil || view.Attachment.Token != "" {
		t.Errorf("it reads %+v, %v", view, err)
	}
	result := f.create(asked("1"))
	if result.Reattached || result.Attachment.Record != view.Attachment.Record || len(result.History) != 2 {
		t.Errorf("the next create: %+v", result)
	}
}

// A sandbox of the seed's name that no bake made is left alone.
func TestForeignSeed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hash, err := Hash(asked("1").Manifest, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	owner, err := f.manager.Sandboxes.EnsureOwner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	marks := backends.Marks{Owner: "somebody", Name: f.manager.seedName(owner, hash), Kind: backends.Session, Record: "theirs"}
	if _, err := f.backend.Create(t.Context(), marks, backends.Spec{}); err != nil {
		t.Fatal(err)
	}
	_, err = f.manager.Create(t.Context(), asked("1"))
	fails(t, err, backends.AlreadyExists)
	var partial *PartialError
	if errors.As(err, &partial) || err == nil || !strings.Contains(err.Error(), "no bake that this store knows of made it") {
		t.Errorf("got %v", err)
	}
	if found, err := f.backend.Get(t.Context(), marks.Name); err != nil || found.Marks != marks {
		t.Errorf("the sandbox is %+v, %v", found, err)
	}
}

// Two owners who share a backend bake the same manifest, neither in the way of the other.
func TestSeedOfAnotherOwner(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	hash, err := Hash(asked("1").Manifest, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	theirs := backends.Marks{Owner: "somebody", Name: f.manager.seedName("somebody", hash), Kind: backends.Session, Record: "theirs"}
	if _, err := f.backend.Create(t.Context(), theirs, backends.Spec{}); err != nil {
		t.Fatal(err)
	}
	if result := f.create(asked("1")); !result.Baked || result.Current.Seed == theirs.Name {
		t.Errorf("the result is %+v", result)
	}
	if found, err := f.backend.Get(t.Context(), theirs.Name); err != nil || found.Marks != theirs {
		t.Errorf("their seed is %+v, %v", found, err)
	}
}
