package vercel_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

// liveVariable opts in to the tests that use a real account.
const liveVariable = "SANDLOT_LIVE_VERCEL"

// TestLive runs the live suite on the platform itself, for some cents. It needs VERCEL_TOKEN,
// VERCEL_TEAM_ID and VERCEL_PROJECT_ID, and removes all it made, also after a failure.
func TestLive(t *testing.T) {
	if os.Getenv(liveVariable) != "1" {
		t.Skipf("NOT RUN: the live suite of Vercel Sandbox uses a real account; set %s=1, VERCEL_TOKEN, VERCEL_TEAM_ID and VERCEL_PROJECT_ID", liveVariable)
	}
	for _, name := range []string{"VERCEL_TOKEN", "VERCEL_TEAM_ID", "VERCEL_PROJECT_ID"} {
		if os.Getenv(name) == "" {
			t.Fatalf("%s=1 is set, and %s is not", liveVariable, name)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	if err := runLive(ctx, t.Logf, vercel.Config{}.WithEnvironment(os.Getenv)); err != nil {
		t.Error(err)
	}
}

// TestLiveSuite runs the live suite on the simulator, whole and failing at each of its requests: nothing is
// left behind.
func TestLiveSuite(t *testing.T) {
	needExecutor(t)
	run := func(t *testing.T, faults ...simulator.Fault) (*simulator.Server, error) {
		server := simulator.Start(t, simulator.Config{})
		if err := server.Inject(faults...); err != nil {
			t.Fatal(err)
		}
		err := runLive(t.Context(), t.Logf, config(server))
		for _, snapshot := range server.Inventory().Snapshots {
			if !snapshot.Deleted {
				t.Errorf("the snapshot %s is left", snapshot.ID)
			}
		}
		if left := server.Inventory().Sandboxes; len(left) > 0 {
			t.Errorf("there are %+v", left)
		}
		return server, err
	}
	whole, err := run(t)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, request := range whole.Requests() {
		if request.Method == http.MethodDelete {
			break // from here on it cleans up
		}
		failed++
	}
	if failed < 12 {
		t.Fatalf("only %d requests were found", failed)
	}
	for i := range failed {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			if _, err := run(t, simulator.Fault{Skip: i, Status: http.StatusTeapot, Code: "refused"}); err == nil {
				t.Error("it does not notice a failure")
			}
		})
	}
}

// liveSuite is one run of the suite.
type liveSuite struct {
	client *api.Client
	log    func(format string, values ...any)
	// name and copied are names that nobody else has.
	name, copied string
	// snapshots are those that are not deleted with a sandbox for certain.
	snapshots map[string]bool
}

// runLive goes through the life of a named sandbox, and removes all of it, whatever happens.
func runLive(ctx context.Context, log func(string, ...any), config vercel.Config) (err error) {
	client, err := api.New(config)
	if err != nil {
		return err
	}
	unique := strings.ToLower(rand.Text()[:12])
	s := liveSuite{client: client, log: log, name: "sandlot-live-" + unique, copied: "sandlot-live-" + unique + "-copy", snapshots: map[string]bool{}}
	log("the sandboxes are %s and %s", s.name, s.copied)
	defer func() { err = errors.Join(err, s.clean(ctx)) }()
	return s.run(ctx)
}

func (s *liveSuite) run(ctx context.Context) error {
	persistent, brief := true, false
	const content = "kept by Sandlot's live suite\n"
	made, err := s.client.CreateSandbox(ctx, api.CreateRequest{
		Name: s.name, Persistent: &persistent, Timeout: api.Span(5 * time.Minute), SnapshotExpiration: api.Span(0),
		Tags: map[string]string{"sandlot-live": s.name}, NetworkPolicy: &api.NetworkPolicy{Mode: api.PolicyDenyAll},
	})
	if err != nil {
		return fmt.Errorf("create named: %w", err)
	}
	session, err := s.client.WaitSession(ctx, made.Session.ID, func(session api.Session) bool { return session.Status == api.StatusRunning })
	if err != nil {
		return fmt.Errorf("wait for the session: %w", err)
	}
	file := session.Cwd + "/live/kept.txt"
	if err := s.client.WriteFiles(ctx, session.ID, api.File{Path: file, Content: []byte(content), Mode: 0o644}); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if _, err := s.client.StopSession(ctx, session.ID); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	stopped, err := s.client.WaitSandbox(ctx, s.name, func(state api.SandboxState) bool {
		return state.Session.Status.Terminal() && state.Sandbox.CurrentSnapshotID != ""
	})
	if err != nil {
		return fmt.Errorf("wait for the stop: %w", err)
	}
	automatic := stopped.Sandbox.CurrentSnapshotID
	if err := s.neverExpires(ctx, automatic); err != nil {
		return fmt.Errorf("the snapshot of the stop: %w", err)
	}
	resumed, err := s.client.ResumeSandbox(ctx, s.name)
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	if resumed.Session.ID == session.ID {
		return errors.New("the sandbox was resumed by the session that had ended")
	}
	if err := s.holds(ctx, resumed.Session.ID, file, content); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if err := s.sessions(ctx, session.ID, resumed.Session.ID); err != nil {
		return fmt.Errorf("list sessions: %w", err)
	}
	taken, err := s.client.TakeSnapshot(ctx, resumed.Session.ID, api.Span(0))
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	s.snapshots[taken.Snapshot.ID] = true
	if err := s.neverExpires(ctx, taken.Snapshot.ID); err != nil {
		return fmt.Errorf("the snapshot with expiration 0: %w", err)
	}
	copied, err := s.client.CreateSandbox(ctx, api.CreateRequest{
		Name: s.copied, Source: api.FromSnapshot(taken.Snapshot.ID), Persistent: &brief, Timeout: api.Span(5 * time.Minute),
		NetworkPolicy: &api.NetworkPolicy{Mode: api.PolicyDenyAll},
	})
	if err != nil {
		return fmt.Errorf("create by name and snapshot: %w", err)
	}
	if copied.Sandbox.Name != s.copied {
		return fmt.Errorf("the sandbox that was made from a snapshot is %s, not %s", copied.Sandbox.Name, s.copied)
	}
	if _, err := s.client.WaitSession(ctx, copied.Session.ID, func(session api.Session) bool { return session.Status == api.StatusRunning }); err != nil {
		return fmt.Errorf("wait for the session of the copy: %w", err)
	}
	if err := s.holds(ctx, copied.Session.ID, file, content); err != nil {
		return fmt.Errorf("read in the copy: %w", err)
	}
	return nil
}

// neverExpires waits for a snapshot and checks that it stays for ever.
func (s *liveSuite) neverExpires(ctx context.Context, id string) error {
	s.snapshots[id] = true
	found, err := s.client.WaitSnapshot(ctx, id)
	if err == nil && !found.ExpiresAt.IsZero() {
		err = fmt.Errorf("%s expires at %s, and was asked never to", id, found.ExpiresAt)
	}
	return err
}

func (s *liveSuite) holds(ctx context.Context, session, file, want string) error {
	body, err := s.client.ReadFile(ctx, session, file)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(io.LimitReader(body, 1<<20))
	if err = errors.Join(err, body.Close()); err == nil && string(content) != want {
		err = fmt.Errorf("%s holds %q, not %q", file, content, want)
	}
	return err
}

// sessions checks that both are listed.
func (s *liveSuite) sessions(ctx context.Context, ids ...string) error {
	listed := map[string]bool{}
	for session, err := range s.client.ListSessions(ctx, api.ListFilter{Sandbox: s.name}) {
		if err != nil {
			return err
		}
		listed[session.ID] = true
	}
	for _, id := range ids {
		if !listed[id] {
			return fmt.Errorf("%s is not among the %d that are listed", id, len(listed))
		}
	}
	return nil
}

// clean deletes both sandboxes, then their snapshots, and looks whether they are gone. A sandbox of which
// nobody knows whether it was made is looked for, too.
func (s *liveSuite) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Minute)
	defer cancel()
	var failed error
	left := func(what string, err error) {
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("LEFT BEHIND, and billed: %s: %w", what, err))
		}
	}
	for snapshot, err := range s.client.ListSnapshots(ctx, api.ListFilter{Sandbox: s.name}) {
		if err != nil {
			left("perhaps snapshots of "+s.name, err)
			break
		}
		s.snapshots[snapshot.ID] = true
	}
	for _, name := range []string{s.copied, s.name} {
		_, err := s.client.DeleteSandbox(ctx, name, true)
		if err == nil || errors.Is(err, backends.NotFound) {
			_, err = s.client.WaitSandbox(ctx, name, func(api.SandboxState) bool { return false })
		}
		if !errors.Is(err, backends.NotFound) {
			left("the sandbox "+name, err)
		}
	}
	for id := range s.snapshots {
		_, err := s.client.DeleteSnapshot(ctx, id)
		if errors.Is(err, backends.NotFound) || errors.Is(err, backends.Expired) {
			continue
		}
		if err == nil {
			var found api.Snapshot
			if found, err = s.client.GetSnapshot(ctx, id); err == nil && found.Status == api.SnapshotCreated {
				err = errors.New("it is still there after its deletion")
			} else if errors.Is(err, backends.NotFound) || errors.Is(err, backends.Expired) {
				err = nil
			}
		}
		left("the snapshot "+id, err)
	}
	if failed == nil {
		s.log("all of it was removed")
	}
	return failed
}
