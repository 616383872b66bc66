package vercel_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

// fixture is a backend on a simulator of its own.
type fixture struct {
	*testing.T
	server *simulator.Server
	*vercel.Backend
}

func newFixture(t *testing.T, settings simulator.Settings) fixture {
	t.Helper()
	needExecutor(t)
	server := simulator.Start(t, simulator.Config{Settings: settings})
	return fixture{t, server, vercel.New(config(server))}
}

func marks(name string, kind backends.Kind) backends.Marks {
	return backends.Marks{Owner: "owner", Name: name, Kind: kind, Record: "record-" + name}
}

func (f fixture) create(name string, spec backends.Spec) backends.Observed {
	f.Helper()
	made, err := f.Create(f.Context(), marks(name, backends.Persistent), spec)
	if err != nil {
		f.Fatalf("Create: %v", err)
	}
	return made
}

func (f fixture) inject(faults ...simulator.Fault) {
	f.Helper()
	if err := f.server.Inject(faults...); err != nil {
		f.Fatal(err)
	}
}

func (f fixture) wantKind(what string, err error, kind backends.ErrorKind) {
	f.Helper()
	if !errors.Is(err, kind) {
		f.Errorf("%s: %v, want %q", what, err, kind)
	}
}

// TestReadsMakeNoSession: no read of a stopped sandbox boots a session.
func TestReadsMakeNoSession(t *testing.T) {
	f := newFixture(t, simulator.Settings{})
	f.create("box", backends.Spec{})
	if err := f.Stop(t.Context(), "box"); err != nil {
		t.Fatal(err)
	}
	made := f.server.Inventory().SessionsMade
	ctx := t.Context()
	_, err := f.Get(ctx, "box")
	_, listErr := f.List(ctx)
	_, bindErr := f.Binding(ctx)
	_, snapErr := f.ListSnapshots(ctx, "record-box")
	_, changeErr := f.Reconfigure(ctx, marks("box", backends.Persistent), backends.Spec{Environment: map[string]string{"A": "1"}})
	if err := errors.Join(err, listErr, bindErr, snapErr, changeErr); err != nil {
		t.Error(err)
	}
	_, err = f.StatFile(ctx, "box", "/vercel/sandbox/file")
	f.wantKind("StatFile", err, backends.NotRunning)
	if now := f.server.Inventory().SessionsMade; now != made {
		t.Errorf("%d sessions were made", now-made)
	}
}

// TestLazyStop: a stop returns when the snapshot of this very stop is the current one, and a start while
// a session still ends gets the next one, once.
func TestLazyStop(t *testing.T) {
	for name, settings := range map[string]simulator.Settings{
		"blocking": {LazyStop: 300}, "impatient": {LazyStop: 300, ImpatientResume: true}, "gone": {StopTwiceGone: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, settings)
			f.create("box", backends.Spec{})
			for round := range 2 {
				before, err := f.Get(t.Context(), "box")
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(f.Stop(t.Context(), "box"), f.Stop(t.Context(), "box")); err != nil {
					t.Fatal(err)
				}
				after, err := f.Get(t.Context(), "box")
				if err != nil || after.Status != backends.StatusStopped || after.CurrentSnapshotID == before.CurrentSnapshotID || after.CurrentSnapshotID == "" {
					t.Fatalf("round %d: after the stop it is %+v, %v", round, after, err)
				}
				if err := errors.Join(f.Start(t.Context(), "box"), f.Start(t.Context(), "box")); err != nil {
					t.Fatal(err)
				}
			}
			if made := f.server.Inventory().SessionsMade; made != 3 {
				t.Errorf("%d sessions were made, want 3", made)
			}
		})
	}
}

// TestLostReplies: what took effect is found again, and not made twice.
func TestLostReplies(t *testing.T) {
	f := newFixture(t, simulator.Settings{})
	f.inject(simulator.Fault{Method: http.MethodPost, Path: "/v3/sandboxes", Cut: simulator.CutAfter})
	f.create("box", backends.Spec{})
	f.inject(simulator.Fault{Method: http.MethodPost, Path: "/v3/sandboxes", Cut: simulator.CutAfter})
	_, err := f.Create(t.Context(), backends.Marks{Owner: "other", Name: "box", Kind: backends.Persistent, Record: "x"}, backends.Spec{})
	f.wantKind("Create of a taken name whose reply was lost", err, backends.AlreadyExists)

	observed, err := f.Get(t.Context(), "box")
	if err != nil {
		t.Fatal(err)
	}
	f.inject(simulator.Fault{Method: http.MethodPost, Path: "/v2/sandboxes/sessions/*/snapshot", Cut: simulator.CutAfter})
	made, err := f.CreateSnapshot(t.Context(), marks("box", backends.Persistent), observed.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	f.inject(simulator.Fault{Method: http.MethodPost, Path: "/v2/sandboxes/sessions/*/stop", Cut: simulator.CutAfter})
	if err := f.Stop(t.Context(), "box"); err != nil {
		t.Fatal(err)
	}
	there := f.server.Inventory()
	if len(there.Sandboxes) != 1 || len(there.Snapshots) != 2 || there.Snapshots[0].ID != made.ID || there.SessionsMade != 2 {
		t.Errorf("there are %+v", there)
	}
}

// TestImageNotReady: a create waits for the platform to prepare an image.
func TestImageNotReady(t *testing.T) {
	f := newFixture(t, simulator.Settings{})
	f.inject(simulator.ImageNotReady(1))
	made := f.create("box", backends.Spec{Source: backends.Source{Image: "team/project/image:1"}})
	if made.ResolvedImage == "" || made.Spec.Source.Image != "" {
		t.Errorf("it is made from %q, and tells %q", made.ResolvedImage, made.Spec.Source.Image)
	}
}

// TestSecretsAreHidden: output does not show secrets, whether or not they passed through this backend.
func TestSecretsAreHidden(t *testing.T) {
	f := newFixture(t, simulator.Settings{})
	f.create("box", backends.Spec{Secrets: map[string]string{"TOKEN": "very-secret-value"}, SecretNames: []string{"TOKEN"}})
	for what, backend := range map[string]*vercel.Backend{"the same": f.Backend, "another": vercel.New(config(f.server))} {
		result, err := backend.Exec(t.Context(), "box", backends.Command{
			Argv: []string{"sh", "-c", `echo "token $TOKEN"; echo "$TOKEN" >&2; exit 3`}, SecretNames: []string{"TOKEN"},
		})
		if err != nil || result.ExitCode != 3 || strings.Contains(string(result.Stdout)+string(result.Stderr), "secret-value") || !strings.HasPrefix(string(result.Stdout), "token (") {
			t.Errorf("%s backend tells %+v, %v", what, result, err)
		}
	}
}

// TestSnapshotsInUse: what a sandbox would be resumed from is not deleted, neither alone nor with the
// sandbox it was taken of.
func TestSnapshotsInUse(t *testing.T) {
	f := newFixture(t, simulator.Settings{})
	f.create("original", backends.Spec{})
	if err := f.Stop(t.Context(), "original"); err != nil {
		t.Fatal(err)
	}
	f.create("clone", backends.Spec{Source: backends.Source{CloneOf: "original"}})
	original, err := f.Get(t.Context(), "original")
	if err != nil {
		t.Fatal(err)
	}
	of := marks("original", backends.Persistent)
	f.wantKind("DeleteSnapshot", f.DeleteSnapshot(t.Context(), of, original.CurrentSnapshotID), backends.Conflict)
	f.wantKind("Delete", f.Delete(t.Context(), of, backends.DeleteOptions{Snapshots: true}), backends.Conflict)
	if there := f.server.Inventory(); len(there.Sandboxes) != 2 || there.Snapshots[0].Deleted {
		t.Fatalf("there are %+v", there)
	}
	err = errors.Join(f.Delete(t.Context(), marks("clone", backends.Persistent), backends.DeleteOptions{Snapshots: true}),
		f.Delete(t.Context(), of, backends.DeleteOptions{Snapshots: true}))
	there := f.server.Inventory()
	if err != nil || len(there.Sandboxes) != 0 || !there.Snapshots[0].Deleted {
		t.Errorf("there are %+v, %v", there, err)
	}
}

// TestPredecessorsSnapshotsStay: the snapshots of an earlier sandbox of the same name are not deleted
// with it, although the API lists them by its name.
func TestPredecessorsSnapshotsStay(t *testing.T) {
	f := newFixture(t, simulator.Settings{})
	of := marks("box", backends.Persistent)
	for _, options := range []backends.DeleteOptions{{}, {Snapshots: true}} {
		f.create("box", backends.Spec{})
		if err := errors.Join(f.Stop(t.Context(), "box"), f.Delete(t.Context(), of, options)); err != nil {
			t.Fatal(err)
		}
	}
	var left []bool
	for _, snapshot := range f.server.Inventory().Snapshots {
		left = append(left, !snapshot.Deleted)
	}
	if !slices.Equal(left, []bool{true, false}) {
		t.Errorf("the snapshots that are left are %v", left)
	}
}

// TestExpiredSnapshot: the name exists, the data does not, and nothing is made in its place.
func TestExpiredSnapshot(t *testing.T) {
	f := newFixture(t, simulator.Settings{})
	f.create("box", backends.Spec{})
	if err := f.Stop(t.Context(), "box"); err != nil {
		t.Fatal(err)
	}
	observed, err := f.Get(t.Context(), "box")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.server.ExpireSnapshot(observed.CurrentSnapshotID); err != nil {
		t.Fatal(err)
	}
	f.wantKind("Start", f.Start(t.Context(), "box"), backends.Expired)
	for what, read := range map[string]func() (backends.Observed, error){
		"Get":    func() (backends.Observed, error) { return f.Get(t.Context(), "box") },
		"Glance": func() (backends.Observed, error) { return f.Glance(t.Context(), "box", backends.Spec{}) },
	} {
		if after, err := read(); err != nil || !after.Unresumable || observed.Unresumable {
			t.Errorf("%s tells %+v, %v", what, after, err)
		}
	}
	if made := f.server.Inventory().SessionsMade; made != 1 {
		t.Errorf("%d sessions were made", made)
	}
}

// TestCutStream: a log that is cut on the way is no failed command.
func TestCutStream(t *testing.T) {
	f := newFixture(t, simulator.Settings{})
	f.create("box", backends.Spec{})
	f.inject(simulator.Fault{Method: http.MethodGet, Path: "/v2/sandboxes/sessions/*/cmd/*/logs", CutAfterLines: 1, Count: 2})
	result, err := f.Exec(t.Context(), "box", backends.Command{Argv: []string{"sh", "-c", "for i in 1 2 3; do echo $i; sleep 0.1; done; exit 4"}})
	if err != nil || result.ExitCode != 4 || string(result.Stdout) != "1\n2\n3\n" {
		t.Errorf("the command ended with %+v, %v", result, err)
	}
}

// TestRefusedToken: a token that does not open the project is told apart from absence.
func TestRefusedToken(t *testing.T) {
	server := simulator.Start(t, simulator.Config{})
	wrong := config(server)
	wrong.Token = "another"
	f := fixture{t, server, vercel.New(wrong)}
	_, err := f.Get(t.Context(), "box")
	f.wantKind("Get", err, backends.Unauthorized)
	_, err = f.Binding(t.Context())
	f.wantKind("Binding", err, backends.Unauthorized)
	_, err = vercel.New(vercel.Config{Token: "only"}).Get(t.Context(), "box")
	f.wantKind("Get without a team", err, backends.Unauthorized)
	if probe := f.Probe(t.Context()); probe.Available || probe.Reason == "" {
		t.Errorf("Probe tells %+v", probe)
	}
}

// TestLocation: where objects live is known without asking, and is what a place that answers is bound to.
func TestLocation(t *testing.T) {
	f := newFixture(t, simulator.Settings{})
	here, err := f.Location()
	if err != nil || len(f.server.Requests()) > 0 {
		t.Errorf("got %v after %d requests", err, len(f.server.Requests()))
	}
	if bound, err := f.Binding(t.Context()); err != nil || bound != here || bound.ID == "" {
		t.Errorf("it is bound to %+v (%v), and located at %+v", bound, err, here)
	}
}

// TestCheckSpec: what the API would refuse is known before it is asked.
func TestCheckSpec(t *testing.T) {
	backend := vercel.New(vercel.Config{})
	for want, spec := range map[string]backends.Spec{
		"cpus":                          {CPUs: 3},
		"memory_mib":                    {MemoryMiB: 3000},
		"environment":                   {Environment: map[string]string{"A": strings.Repeat("x", 3000)}, Secrets: map[string]string{"B": strings.Repeat("x", 1100)}},
		"labels":                        {Labels: map[string]string{"a": "", "b": "", "c": ""}},
		"ports":                         {Ports: []backends.Port{{Port: 80, Public: true}}},
		"timeout":                       {Timeout: 25 * 60 * 60 * 1e9},
		"vercel.failover_regions":       {Vercel: &backends.VercelOptions{FailoverRegions: []string{"fra1"}}},
		"snapshot_retention.keep_last":  {Retention: &backends.SnapshotRetention{KeepLast: 11}},
		"snapshot_retention.expiration": {Retention: &backends.SnapshotRetention{Expiration: 60 * 1e9}},
		"":                              {CPUs: 4, MemoryMiB: 8192, Labels: map[string]string{"a": "", "b": ""}, Ports: []backends.Port{{Port: 1024, Public: true}}},
	} {
		var got []string
		for _, gap := range backends.CheckSpec(backend, backends.Persistent, spec) {
			got = append(got, gap.Attribute)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%+v has the gaps %q, want %q", spec, got, want)
		}
	}
}

// TestSlowStartIsKilled: a command whose start is answered later than its caller waits does not run on.
func TestSlowStartIsKilled(t *testing.T) {
	f := newFixture(t, simulator.Settings{})
	f.create("box", backends.Spec{})
	for what, exec := range map[string]func(backends.Command) error{
		"its own time": func(command backends.Command) error {
			command.Timeout = 300 * time.Millisecond
			_, err := f.Exec(t.Context(), "box", command)
			return err
		},
		"its caller's time": func(command backends.Command) error {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := f.Exec(ctx, "box", command)
			return err
		},
	} {
		f.inject(simulator.Fault{Method: http.MethodPost, Path: "/v2/sandboxes/sessions/*/cmd", Latency: 600})
		f.wantKind(what, exec(backends.Command{Argv: []string{"sleep", "300"}}), backends.TimedOut)
	}
	client, err := api.New(config(f.server))
	if err != nil {
		t.Fatal(err)
	}
	commands, err := client.ListCommands(t.Context(), f.server.Inventory().Sandboxes[0].Session)
	if err != nil || len(commands) != 2 {
		t.Fatalf("there are %+v, %v", commands, err)
	}
	for _, command := range commands {
		if command.ExitCode == nil || *command.ExitCode != 137 {
			t.Errorf("it was not killed: %+v", command)
		}
	}
}
