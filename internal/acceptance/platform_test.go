package acceptance_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

// platform is the simulated Vercel of one test, as somebody outside the provider uses it.
type platform struct {
	f      *fixture
	server *simulator.Server
	client *api.Client
}

// newPlatform starts a simulator and points the fixture's provider at it: the credentials come by the
// environment. Its sandboxes begin in /workspace, where the tests of every backend write.
func newPlatform(f *fixture) *platform {
	f.t.Helper()
	needBubblewrap(f.t)
	p := &platform{f: f, server: simulator.Start(f.t, simulator.Config{WorkingDirectory: "/workspace"})}
	var err error
	p.client, err = api.New(api.Config{
		BaseURL: p.server.URL(), Token: p.server.Token(), TeamID: simulator.DefaultTeam, ProjectID: simulator.DefaultProject.ID,
		RequestsPerSecond: 1000, PollInterval: 10 * time.Millisecond,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.Setenv("VERCEL_TOKEN", p.server.Token())
	f.Setenv("VERCEL_TEAM_ID", simulator.DefaultTeam)
	f.Setenv("VERCEL_PROJECT_ID", simulator.DefaultProject.ID)
	// Nothing may reach the platform itself: loopback addresses need no proxy, and there is none.
	f.Setenv("HTTPS_PROXY", "http://127.0.0.1:9")
	f.Always = p.providerBody()
	f.Provider("")
	return p
}

// providerBody is what the provider block needs.
func (p *platform) providerBody() string {
	return fmt.Sprintf("  vercel = { base_url = %q }", p.server.URL())
}

// sandbox finds a sandbox in the simulator's own books.
func (p *platform) sandbox(name string) (simulator.SandboxEntry, bool) {
	for _, found := range p.server.Inventory().Sandboxes {
		if found.Name == name {
			return found, true
		}
	}
	return simulator.SandboxEntry{}, false
}

func (p *platform) must(name string) simulator.SandboxEntry {
	p.f.t.Helper()
	found, ok := p.sandbox(name)
	if !ok {
		p.f.t.Fatalf("there is no sandbox %s", name)
	}
	return found
}

// sessions counts all sessions there ever were.
func (p *platform) sessions() int { return p.server.Inventory().SessionsMade }

func (p *platform) check(err error) {
	p.f.t.Helper()
	if err != nil {
		p.f.t.Fatal(err)
	}
}

func (p *platform) remove(name string) {
	p.f.t.Helper()
	_, err := p.client.DeleteSandbox(p.f.t.Context(), name, true)
	p.check(err)
}

func (p *platform) stop(name string) {
	p.f.t.Helper()
	_, err := p.client.StopSession(p.f.t.Context(), p.must(name).Session)
	p.check(err)
}

func (p *platform) resume(name string) {
	p.f.t.Helper()
	_, err := p.client.ResumeSandbox(p.f.t.Context(), name)
	p.check(err)
}

// readFile reads a file, of a stopped sandbox in a session of its own.
func (p *platform) readFile(name, file string) ([]byte, bool) {
	p.f.t.Helper()
	if p.must(name).Status != "running" {
		p.resume(name)
		defer p.stop(name)
	}
	body, err := p.client.ReadFile(p.f.t.Context(), p.must(name).Session, file)
	if errors.Is(err, backends.FileNotFound) {
		return nil, false
	}
	p.check(err)
	content, err := io.ReadAll(body)
	p.check(errors.Join(err, body.Close()))
	return content, true
}

// relabel changes one tag.
func (p *platform) relabel(name, tag, value string) {
	p.f.t.Helper()
	tags := maps.Clone(p.must(name).Tags)
	tags[tag] = value
	_, err := p.client.UpdateSandbox(p.f.t.Context(), name, api.UpdateRequest{Tags: tags})
	p.check(err)
}
