package client

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/backendset"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// platformFault is something that goes wrong at the platform in the middle of an operation, and what a user
// sees of it. The acceptance tests have more of them, through the CLIs.
type platformFault struct {
	name     string
	settings simulator.Settings
	// before brings about what the operation finds; by default there is nothing.
	before func(p *place)
	faults []simulator.Fault
	// operation meets the faults; by default it makes the sandbox.
	operation func(p *place) error
	// code is that of the error, "" for success, and says are parts of its text.
	code string
	says []string
	// holds judges what stands right after it.
	holds func(p *place)
	// sessions are those that the operation and its repetition make together.
	sessions int
	// gone: the operation is a purge, after which nothing is left.
	gone bool
}

// TestPlatformFaults: an operation that meets a fault ends in the right error, or in none. The same
// operation without a fault gets there after that, with one sandbox, as many sessions as needed, and no
// snapshot that belongs to nothing.
func TestPlatformFaults(t *testing.T) {
	testkit.Bubblewrap(t)
	for _, fault := range platformFaults() {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, fault.settings)
			if fault.before != nil {
				fault.before(p)
			}
			if fault.operation == nil {
				fault.operation = func(p *place) error { return p.apply() }
			}
			began := p.server.Inventory().SessionsMade
			if err := p.server.Inject(fault.faults...); err != nil {
				t.Fatal(err)
			}
			err := fault.operation(p)
			p.judge(err, fault.code, fault.says)
			for i, left := range p.server.Faults() {
				if left.Count > 0 {
					t.Errorf("fault %d was never met: %+v", i, left)
				}
			}
			p.server.ClearFaults()
			if fault.holds != nil {
				fault.holds(p)
			}
			if err := fault.operation(p); err != nil {
				t.Fatalf("without the fault: %v", err)
			}
			p.settled(fault.gone)
			if made := p.server.Inventory().SessionsMade - began; made != fault.sessions {
				t.Errorf("%d sessions were made, want %d", made, fault.sessions)
			}
		})
	}
}

// place is a state of Terraform with one persistent sandbox, as a provider without a CLI.
type place struct {
	*testing.T
	server   *simulator.Server
	settings Settings
	request  sandbox.Request
	// attachment is what the state holds, nil when it holds nothing. tainted: its create failed.
	attachment *sandbox.Attachment
	tainted    bool
	result     sandbox.Result
	// observer is told of every request; nil for nobody.
	observer effects.Observer
	// outside is somebody else at the platform.
	outside *api.Client
}

const boxName = "box"

func newPlace(t *testing.T, settings simulator.Settings) *place {
	t.Helper()
	server := simulator.Start(t, simulator.Config{Settings: settings})
	config := vercel.Config{
		BaseURL: server.URL(), Token: server.Token(), TeamID: simulator.DefaultTeam, ProjectID: simulator.DefaultProject.ID,
		RequestsPerSecond: 1000, RetryWait: 10 * time.Millisecond, LongestRetryWait: 50 * time.Millisecond,
		PollInterval: 10 * time.Millisecond, SettleTime: 300 * time.Millisecond,
	}
	outside, err := api.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return &place{
		T: t, server: server, outside: outside,
		settings: Settings{
			Owner: types.StringValue("owner"), DataDir: types.StringValue(t.TempDir()), Backends: backendset.Config{Vercel: config},
		},
		request: sandbox.Request{Name: boxName, Kind: backends.Persistent, Generation: 1, Spec: backends.Spec{Timeout: 10 * time.Minute}},
	}
}

// manager is that of a walk of its own, as each command of a CLI is.
func (p *place) manager() *sandbox.Manager {
	p.Helper()
	manager, err := New(p.settings, p.observer).Manager("vercel")
	if err != nil {
		p.Fatal(err)
	}
	return manager
}

// apply makes the sandbox or changes it. What a failed create left is replaced, as Terraform does.
func (p *place) apply() error { return p.applyIn(p.Context()) }

func (p *place) applyIn(ctx context.Context) error {
	manager := p.manager()
	if p.tainted {
		if _, err := manager.Delete(ctx, boxName, backends.Persistent, *p.attachment, false); err != nil {
			return err
		}
		p.attachment, p.tainted = nil, false
	}
	var result sandbox.Result
	var err error
	if p.attachment != nil {
		result, err = manager.Update(ctx, *p.attachment, p.request)
	} else {
		result, err = manager.Create(ctx, p.request)
	}
	var partial *sandbox.PartialError
	if errors.As(err, &partial) {
		p.attachment, p.tainted = &partial.Result.Attachment, true
		return err
	}
	if err == nil {
		p.attachment, p.result = &result.Attachment, result
	}
	return err
}

// refresh reads the sandbox.
func (p *place) refresh() error {
	view, err := p.manager().Read(p.Context(), boxName, *p.attachment)
	if err == nil && view.Status == sandbox.StatusMissing {
		p.Error("it is said to be missing")
	}
	return err
}

func (p *place) purge() error {
	_, err := p.manager().Delete(p.Context(), boxName, backends.Persistent, *p.attachment, true)
	return err
}

// run runs a command inside.
func (p *place) run(script string) (backends.ExecResult, error) {
	return p.manager().Exec(p.Context(), boxName, backends.Command{Argv: []string{"sh", "-c", script}})
}

func (p *place) stop() error {
	p.request.DesiredState = sandbox.DesiredStopped
	return p.apply()
}

func (p *place) start() error {
	p.request.DesiredState = sandbox.DesiredRunning
	return p.apply()
}

func (p *place) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// entry is the sandbox in the simulator's own books.
func (p *place) entry() simulator.SandboxEntry {
	p.Helper()
	there := p.server.Inventory().Sandboxes
	if len(there) != 1 || there[0].Name != boxName {
		p.Fatalf("there are %+v", there)
	}
	return there[0]
}

// nothing checks that nothing was made, and that the state holds nothing.
func (p *place) nothing() {
	p.Helper()
	if there := p.server.Inventory(); len(there.Sandboxes) > 0 || p.attachment != nil {
		p.Errorf("there are %+v, and the state holds %+v", there, p.attachment)
	}
}

// judge holds an error to its code and text, as a user would read them.
func (p *place) judge(err error, code string, says []string) {
	p.Helper()
	if err == nil || code == "" {
		if err != nil || code != "" {
			p.Fatalf("got the error %v, want %q", err, code)
		}
		return
	}
	text := diagnostics.FromError("Unable to Create Sandbox", err).Detail()
	if !strings.HasSuffix(text, "Code: "+code) {
		p.Errorf("the code is not %s:\n%s", code, text)
	}
	for _, part := range says {
		if !strings.Contains(text, part) {
			p.Errorf("%q is not in the text:\n%s", part, text)
		}
	}
	if strings.Contains(text, "<html") || strings.Contains(text, p.server.Token()) {
		p.Errorf("the text shows what it must not:\n%s", text)
	}
}

// settled checks what must hold at the end, in the records and in the simulator's own books.
func (p *place) settled(gone bool) {
	p.Helper()
	records, err := p.manager().Records(p.Context(), store.Query{})
	p.must(err)
	there := p.server.Inventory()
	if gone {
		if len(records)+len(there.Sandboxes) > 0 {
			p.Errorf("there are %+v and the records %+v", there.Sandboxes, records)
		}
	} else {
		p.entry()
		if len(records) != 1 || !records[0].Committed || len(records[0].Intent) > 0 {
			p.Errorf("the records are %+v", records)
		}
		p.must(p.refresh())
	}
	for _, snapshot := range there.Snapshots {
		belongs := slices.ContainsFunc(there.Sessions, func(s simulator.SessionEntry) bool { return s.ID == snapshot.Session })
		if !snapshot.Deleted && !belongs {
			p.Errorf("the snapshot %s belongs to nothing", snapshot.ID)
		}
	}
}

// snapshots counts those that can be used.
func (p *place) snapshots() int {
	count := 0
	for _, snapshot := range p.server.Inventory().Snapshots {
		if !snapshot.Deleted {
			count++
		}
	}
	return count
}

// someoneElse makes a sandbox that is not ours.
func (p *place) someoneElse(name string) {
	p.Helper()
	_, err := p.outside.CreateSandbox(p.Context(), api.CreateRequest{Name: name, Ports: []int{}})
	p.must(err)
}

func (p *place) removeElse(name string) {
	p.Helper()
	_, err := p.outside.DeleteSandbox(p.Context(), name, true)
	p.must(err)
}

func (p *place) stopOutside() {
	p.Helper()
	_, err := p.outside.StopSession(p.Context(), p.entry().Session)
	p.must(err)
}

// stoppedBeforeCommand runs a command whose session is stopped right before the command arrives.
func (p *place) stoppedBeforeCommand(script string) error {
	var once sync.Once
	p.observer = func(_ context.Context, phase effects.Phase, effect effects.Effect) {
		if phase == effects.Before && effect.Write && strings.HasSuffix(effect.Action, "/cmd") {
			once.Do(p.stopOutside)
		}
	}
	defer func() { p.observer = nil }()
	_, err := p.run(script)
	return err
}

// stoppedInMidCommand runs a command that the first time does not live to see its end.
func (p *place) stoppedInMidCommand() error {
	if p.entry().Status == "stopped" {
		_, err := p.run("test -e begun")
		return err
	}
	failed := make(chan error, 1)
	go func() {
		_, err := p.run("touch begun; echo begun; sleep 300")
		failed <- err
	}()
	session := p.entry().Session
	for begun := false; !begun; {
		commands, err := p.outside.ListCommands(p.Context(), session)
		p.must(err)
		for _, command := range commands {
			for output, err := range p.outside.Logs(p.Context(), session, command.ID) {
				p.must(err)
				begun = output.Data != ""
				break
			}
		}
	}
	p.stopOutside()
	return <-failed
}

// TestEnvironmentIsSentWhenItChanged: an update leaves the environment alone, unless it changed, or one that
// may have changed it was cut short.
func TestEnvironmentIsSentWhenItChanged(t *testing.T) {
	testkit.Bubblewrap(t)
	p := newPlace(t, simulator.Settings{})
	p.request.Spec.Environment = map[string]string{"A": "1"}
	p.must(p.apply())
	sent := func() int {
		count := 0
		for _, request := range p.server.Requests() {
			if request.Method == http.MethodPatch && strings.Contains(string(request.Body), `"env"`) {
				count++
			}
		}
		p.server.ResetRequests()
		return count
	}
	for _, step := range []struct {
		what   string
		change func()
		sends  int
	}{
		{"another label", func() { p.request.Spec.Labels = map[string]string{"team": "a"} }, 0},
		{"another variable", func() { p.request.Spec.Environment = map[string]string{"A": "2"} }, 1},
		{"nothing", func() {}, 0},
		{"a secret", func() {
			p.request.Spec.Secrets, p.request.Spec.SecretNames = map[string]string{"TOKEN": "x"}, []string{"TOKEN"}
		}, 1},
		{"nothing beside a secret", func() { p.request.Spec.Secrets = nil }, 0},
		{"no variable and no secret", func() {
			p.request.Spec.Environment, p.request.Spec.Secrets, p.request.Spec.SecretNames = nil, map[string]string{}, nil
		}, 1},
	} {
		step.change()
		p.must(p.apply())
		if count := sent(); count != step.sends {
			t.Errorf("%s: the environment was sent %d times, want %d", step.what, count, step.sends)
		}
		p.request.Spec.Secrets = nil
	}
	// A change that was cut short is taken back: nobody knows which environment there is.
	p.must(p.server.Inject(simulator.Fault{Method: http.MethodPatch, Status: 500, Effect: true, Count: 2}))
	p.request.Spec.Environment = map[string]string{"A": "3"}
	if err := p.apply(); err == nil {
		t.Error("it did not fail")
	}
	p.request.Spec.Environment = nil
	p.must(p.apply())
	if env := p.entry().Env; len(env) > 0 {
		t.Errorf("the environment is %v", env)
	}
}
