package api

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// simulated starts the simulator and makes a client of it.
func simulated(t *testing.T, settings simulator.Settings, change ...func(*Config)) (*simulator.Server, *Client) {
	t.Helper()
	testkit.Bubblewrap(t)
	server := simulator.Start(t, simulator.Config{Settings: settings})
	config := testConfig(server.URL())
	config.Token, config.TeamID, config.ProjectID = simulator.DefaultToken, simulator.DefaultTeam, simulator.DefaultProject.ID
	config.PollInterval = 20 * time.Millisecond
	for _, set := range change {
		set(&config)
	}
	return server, newClient(t, config)
}

func ok[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// run runs a script and returns what it wrote and its exit code.
func run(t *testing.T, c *Client, session, script string) (stdout, stderr string, exit Int) {
	t.Helper()
	var got collector
	command, err := c.RunCommand(t.Context(), session, CommandRequest{Command: "sh", Args: []string{"-c", script}}, got.take)
	if err != nil {
		t.Fatal(err)
	}
	return got.stdout.String(), got.stderr.String(), *command.ExitCode
}

func running(s Session) bool { return s.Status == StatusRunning }

func persistent(name string) CreateRequest {
	return CreateRequest{
		Name: name, Persistent: pointer(true), Timeout: Span(10 * time.Minute), SnapshotExpiration: Span(0),
		KeepLastSnapshots: &Retention{Count: 2}, Tags: map[string]string{"sandlot-record": name},
	}
}

// TestSimulatedLife is the whole life of a sandbox against the simulator: create, run, files, stop,
// resume, snapshot, list, change, copy, delete.
func TestSimulatedLife(t *testing.T) {
	_, c := simulated(t, simulator.Settings{})
	ctx := t.Context()
	request := persistent("life")
	request.Env, request.Ports = map[string]string{"COLOR": "green"}, []int{3000}
	request.NetworkPolicy = &NetworkPolicy{Mode: PolicyCustom, AllowedDomains: []string{"a.example"}, DeniedCIDRs: []string{"10.0.0.0/8"}}
	made := ok[SandboxState](t)(c.CreateSandbox(ctx, request))
	session := ok[Session](t)(c.WaitSession(ctx, made.Session.ID, running))
	if len(made.Routes) != 1 || made.Routes[0].Port != 3000 || made.Sandbox.Tags["sandlot-record"] != "life" || *made.Sandbox.SnapshotExpiration != (Duration{}) {
		t.Errorf("got %+v", made)
	}
	if policy := made.Sandbox.NetworkPolicy; policy.Mode != PolicyCustom || !slices.Equal(policy.AllowedDomains, []string{"a.example"}) || !slices.Equal(policy.DeniedCIDRs, []string{"10.0.0.0/8"}) {
		t.Errorf("got the policy %+v", policy)
	}
	_, err := c.CreateSandbox(ctx, request)
	wantKind(t, err, backends.AlreadyExists)

	stdout, stderr, exit := run(t, c, session.ID, "echo $COLOR; echo oops >&2; exit 3")
	if stdout != "green\n" || stderr != "oops\n" || exit != 3 {
		t.Errorf("got %q, %q and %d", stdout, stderr, exit)
	}
	_, err = c.StartCommand(ctx, session.ID, CommandRequest{Command: "no-such-program"})
	wantKind(t, err, backends.Invalid)
	if CodeOf(err) != CodeExecutableNotFound {
		t.Errorf("got %v", err)
	}
	detached := ok[Command](t)(c.StartCommand(ctx, session.ID, CommandRequest{Command: "sh", Args: []string{"-c", "echo begun; sleep 300"}}))
	for output, err := range c.Logs(ctx, session.ID, detached.ID) {
		if err != nil || output.Data != "begun\n" {
			t.Fatalf("got %+v and %v", output, err)
		}
		break
	}
	ok[Command](t)(c.KillCommand(ctx, session.ID, detached.ID, SIGKILL))
	if over := ok[Command](t)(c.WaitCommand(ctx, session.ID, detached.ID)); *over.ExitCode != 137 {
		t.Errorf("got %+v", over)
	}
	if all := ok[[]Command](t)(c.ListCommands(ctx, session.ID)); len(all) != 2 || all[0].ID != detached.ID {
		t.Errorf("got %+v", all)
	}

	file := session.Cwd + "/deep/er/grüße.txt"
	if err := c.WriteFiles(ctx, session.ID, File{Path: file, Content: []byte("\x00kept"), Mode: 0o750}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.MakeDir(ctx, session.ID, session.Cwd+"/some/where"); err != nil {
			t.Fatal(err)
		}
	}
	if out, _, _ := run(t, c, session.ID, "stat -c %a deep/er/*; test -d some/where && echo dir"); out != "750\ndir\n" {
		t.Errorf("got %q", out)
	}
	wantFile(t, c, session.ID, file, "\x00kept")
	_, err = c.ReadFile(ctx, session.ID, session.Cwd+"/nothing")
	wantKind(t, err, backends.FileNotFound)
	if _, err = c.ReadFile(ctx, session.ID, session.Cwd); err == nil || errors.Is(err, backends.FileNotFound) {
		t.Errorf("a directory is there: %v", err)
	}
	_, err = c.ReadFile(ctx, "sbx_unknown", "/f")
	wantKind(t, err, backends.NotFound)

	ok[StopResult](t)(c.StopSession(ctx, session.ID))
	stopped := ok[SandboxState](t)(c.WaitSandbox(ctx, "life", func(s SandboxState) bool {
		return s.Sandbox.Status == StatusStopped && s.Sandbox.CurrentSnapshotID != ""
	}))
	_, err = c.StartCommand(ctx, session.ID, CommandRequest{Command: "true"})
	if !Ended(err) || CodeOf(err) != CodeStopped {
		t.Errorf("got %v", err)
	}
	if again := ok[SandboxState](t)(c.GetSandbox(ctx, "life")); again.Sandbox.Status != StatusStopped || again.Resumed {
		t.Errorf("a read woke it: %+v", again)
	}
	resumed := ok[SandboxState](t)(c.ResumeSandbox(ctx, "life"))
	if !resumed.Resumed || resumed.Session.ID == session.ID || resumed.Session.SourceSnapshot != stopped.Sandbox.CurrentSnapshotID {
		t.Errorf("got %+v", resumed)
	}
	session = ok[Session](t)(c.WaitSession(ctx, resumed.Session.ID, running))
	wantFile(t, c, session.ID, file, "\x00kept")

	extended := ok[Session](t)(c.ExtendTimeout(ctx, session.ID, time.Minute))
	if extended.Timeout.Duration != 11*time.Minute {
		t.Errorf("got the timeout %s", extended.Timeout)
	}
	if changed := ok[Session](t)(c.SetNetworkPolicy(ctx, session.ID, NetworkPolicy{Mode: PolicyDenyAll})); changed.NetworkPolicy.Mode != PolicyDenyAll {
		t.Errorf("got %+v", changed.NetworkPolicy)
	}
	updated := ok[UpdateResult](t)(c.UpdateSandbox(ctx, "life", UpdateRequest{
		Tags: map[string]string{"sandlot-record": "life", "k": "v"}, Timeout: Span(20 * time.Minute), Ports: []int{3000, 4000}, RemoveKeepLast: true,
	}))
	if updated.Sandbox.Tags["k"] != "v" || updated.Sandbox.Timeout.Duration != 20*time.Minute || len(updated.Routes) != 2 || updated.Sandbox.KeepLastSnapshots != nil || !updated.Sandbox.Persistent {
		t.Errorf("got %+v", updated)
	}

	taken := ok[SnapshotResult](t)(c.TakeSnapshot(ctx, session.ID, Span(0)))
	saved := ok[Snapshot](t)(c.WaitSnapshot(ctx, taken.Snapshot.ID))
	if !saved.ExpiresAt.IsZero() || saved.CreationMethod != "manual" || saved.SizeBytes <= 0 {
		t.Errorf("got %+v", saved)
	}
	ok[Session](t)(c.WaitSession(ctx, session.ID, func(s Session) bool { return s.Status.Terminal() }))
	copied := ok[SandboxState](t)(c.CreateSandbox(ctx, CreateRequest{Name: "from-snapshot", Source: FromSnapshot(saved.ID), Persistent: pointer(false)}))
	wantFile(t, c, copied.Session.ID, file, "\x00kept")
	forked := ok[SandboxState](t)(c.ForkSandbox(ctx, "life", ForkRequest{Name: "fork"}))
	if out, _, _ := run(t, c, forked.Session.ID, "echo $COLOR"); out != "green\n" {
		t.Errorf("a fork has the environment: %q", out)
	}

	var names []string
	for sandbox, err := range c.ListSandboxes(ctx, SandboxFilter{PageSize: 1, SortBy: SortByName, SortOrder: OldestFirst}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, sandbox.Name)
	}
	if !slices.Equal(names, []string{"fork", "from-snapshot", "life"}) {
		t.Errorf("got %q", names)
	}
	if got := count(t, c.ListSandboxes(ctx, SandboxFilter{Tag: "k", TagValue: "v"})); got != 2 { // and the fork
		t.Errorf("%d sandboxes have the tag", got)
	}
	if got := count(t, c.ListSessions(ctx, ListFilter{Sandbox: "life", PageSize: 1})); got != 2 {
		t.Errorf("%d sessions", got)
	}
	if got := count(t, c.ListSnapshots(ctx, ListFilter{Sandbox: "life", PageSize: 1})); got < 2 {
		t.Errorf("%d snapshots", got)
	}
	if tree := ok[TreePage](t)(c.SnapshotTree(ctx, saved.ID, "", 0)); len(tree.Nodes) == 0 {
		t.Errorf("got %+v", tree)
	}

	if deleted := ok[Snapshot](t)(c.DeleteSnapshot(ctx, saved.ID)); deleted.Status != SnapshotDeleted {
		t.Errorf("got %+v", deleted)
	}
	_, err = c.ResumeSandbox(ctx, "life")
	wantKind(t, err, backends.Expired)
	if CodeOf(err) != CodeSnapshotNotFound {
		t.Errorf("got %v", err)
	}
	for _, name := range names {
		ok[Sandbox](t)(c.DeleteSandbox(ctx, name, true))
		_, err = c.GetSandbox(ctx, name)
		wantKind(t, err, backends.NotFound)
		_, err = c.DeleteSandbox(ctx, name, true)
		wantKind(t, err, backends.NotFound)
	}
}

func wantFile(t *testing.T, c *Client, session, name, want string) {
	t.Helper()
	body := ok[io.ReadCloser](t)(c.ReadFile(t.Context(), session, name))
	defer body.Close()
	if got, err := io.ReadAll(body); err != nil || string(got) != want {
		t.Errorf("%s: got %q and %v", name, got, err)
	}
}

func count[T any](t *testing.T, sequence func(func(T, error) bool)) int {
	t.Helper()
	all := 0
	for _, err := range sequence {
		if err != nil {
			t.Fatal(err)
		}
		all++
	}
	return all
}

// TestSimulatedFaults: what goes wrong on the way, against the simulator's own faults.
func TestSimulatedFaults(t *testing.T) {
	server, c := simulated(t, simulator.Settings{})
	ctx := t.Context()
	inject := func(fault simulator.Fault) {
		t.Helper()
		server.ClearFaults()
		if err := server.Inject(fault); err != nil {
			t.Fatal(err)
		}
	}
	tags := map[string]string{"sandlot-record": "lost"}

	for _, fault := range []simulator.Fault{
		{Method: "POST", Path: "/v3/sandboxes", Cut: simulator.CutAfter},
		{Method: "POST", Path: "/v3/sandboxes", Status: 502, Body: "<html>", Effect: true},
		{Method: "POST", Path: "/v3/sandboxes", Status: 200, Body: "<html>", Effect: true},
	} {
		inject(fault)
		_, err := c.CreateSandbox(ctx, persistent("lost"))
		if !Ambiguous(err) {
			t.Fatalf("%+v: got %v", fault, err)
		}
		found := ok[SandboxState](t)(c.Reconcile(ctx, "lost", tags))
		if _, err := c.Reconcile(ctx, "lost", map[string]string{"sandlot-record": "other"}); !errors.Is(err, backends.NotOurs) {
			t.Errorf("got %v", err)
		}
		if made := server.Inventory(); len(made.Sandboxes) != 1 {
			t.Errorf("%d sandboxes were made", len(made.Sandboxes))
		}
		ok[Sandbox](t)(c.DeleteSandbox(ctx, found.Sandbox.Name, true))
	}
	inject(simulator.Fault{Method: "POST", Path: "/v3/sandboxes", Cut: simulator.CutBefore})
	if _, err := c.CreateSandbox(ctx, persistent("lost")); !Ambiguous(err) {
		t.Errorf("got %v", err)
	}
	_, err := c.Reconcile(ctx, "lost", tags)
	wantKind(t, err, backends.NotFound)

	inject(simulator.Fault{Method: "POST", Path: "/v3/sandboxes", Status: 429, Header: map[string]string{"Retry-After": "1"}})
	state := ok[SandboxState](t)(c.CreateSandbox(ctx, persistent("box")))
	session := ok[Session](t)(c.WaitSession(ctx, state.Session.ID, running))

	server.ClearFaults()
	const script = "for i in 1 2 3 4 5; do echo $i; echo e$i >&2; sleep 0.05; done; exit 7"
	for lines := 1; lines <= 12; lines++ {
		inject(simulator.Fault{Method: "POST", Path: "/v2/sandboxes/sessions/*/cmd", CutAfterLines: lines})
		if err := server.Inject(simulator.Fault{Path: "/v2/sandboxes/sessions/*/cmd/*/logs", CutAfterLines: 2, Count: 2}); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, exit := run(t, c, session.ID, script)
		if stdout != "1\n2\n3\n4\n5\n" || stderr != "e1\ne2\ne3\ne4\ne5\n" || exit != 7 {
			t.Errorf("cut after %d lines: got %q, %q and %d", lines, stdout, stderr, exit)
		}
	}

	inject(simulator.TransitionWindow(1))
	err = c.MakeDir(ctx, session.ID, session.Cwd+"/d")
	if !InTransition(err) {
		t.Errorf("got %v", err)
	}
	inject(simulator.ImageNotReady(1))
	_, err = c.CreateSandbox(ctx, persistent("image"))
	wantKind(t, err, backends.Conflict)
	inject(simulator.Fault{Status: 200, Body: strings.Repeat("x", 1000), Endless: true, Header: map[string]string{"Content-Type": "application/json"}})
	_, err = c.GetSandbox(ctx, "box")
	wantKind(t, err, backends.Failed)
	inject(simulator.TokenRevokedAfter(1))
	ok[SandboxState](t)(c.GetSandbox(ctx, "box"))
	_, err = c.GetSandbox(ctx, "box")
	wantKind(t, err, backends.Unauthorized)
}

// TestSimulatedLazyStop: a stop that is answered before it is done, as the service was seen to do.
func TestSimulatedLazyStop(t *testing.T) {
	_, c := simulated(t, simulator.Settings{LazyStop: 300, StopTwiceGone: true, PolicyForm: simulator.PolicyFormCustom}, func(c *Config) { c.NetworkPolicyForm = CustomForm })
	ctx := t.Context()
	request := persistent("lazy")
	request.NetworkPolicy = &NetworkPolicy{Mode: PolicyCustom, AllowedDomains: []string{"a.example"}}
	state := ok[SandboxState](t)(c.CreateSandbox(ctx, request))
	session := ok[Session](t)(c.WaitSession(ctx, state.Session.ID, running))
	if stop := ok[StopResult](t)(c.StopSession(ctx, session.ID)); stop.Session.Status != StatusStopping {
		t.Errorf("got %+v", stop.Session)
	}
	_, err := c.StartCommand(ctx, session.ID, CommandRequest{Command: "true"})
	if !InTransition(err) {
		t.Errorf("got %v", err)
	}
	_, err = c.WaitSession(ctx, session.ID, running)
	wantKind(t, err, backends.NotRunning)
	stopped := ok[SandboxState](t)(c.WaitSandbox(ctx, "lazy", func(s SandboxState) bool {
		return s.Sandbox.Status == StatusStopped && s.Sandbox.CurrentSnapshotID != ""
	}))
	if _, err := c.StopSession(ctx, session.ID); !Ended(err) {
		t.Errorf("got %v", err)
	}
	resumed := ok[SandboxState](t)(c.ResumeSandbox(ctx, "lazy"))
	ok[StopResult](t)(c.StopSession(ctx, resumed.Session.ID))
	again := ok[SandboxState](t)(c.ResumeSandbox(ctx, "lazy")) // waits for the end of the stop
	if again.Session.ID == resumed.Session.ID || again.Sandbox.CurrentSnapshotID == stopped.Sandbox.CurrentSnapshotID {
		t.Errorf("got %+v", again)
	}
}
