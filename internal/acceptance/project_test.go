package acceptance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner/sshguest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

const cloudHost = "sandlot_cloud_host"

// project is a workspace and the simulated Hetzner project of one test, as somebody outside the provider
// uses it. Behind the servers are SSH servers in this process: what is tested with them is what the
// provider makes of the API. Machines are in machines_test.go.
type project struct {
	*acctest.Workspace
	t      *testing.T
	server *hetzner.Server
	guests *sshguest.Guests
}

// onProject runs a parallel subtest under one of the CLIs.
func onProject(t *testing.T, test func(p *project)) {
	t.Helper()
	withGuests(t, sshguest.Config{}, test)
}

// withGuests is onProject with guests that are set up otherwise.
func withGuests(t *testing.T, config sshguest.Config, test func(p *project)) {
	t.Helper()
	t.Parallel()
	clis := acctest.CLIs(t)
	if len(clis) == 0 {
		t.Skip("no CLI is there")
	}
	cli := clis[len(t.Name())%len(clis)]
	t.Run(cli.Name, func(t *testing.T) {
		t.Parallel()
		test(newProject(t, cli, config))
	})
}

func newProject(t *testing.T, cli acctest.CLI, config sshguest.Config) *project {
	t.Helper()
	p := &project{Workspace: acctest.NewWorkspace(t, cli, ""), t: t}
	p.server, p.guests = startProject(t, config)
	p.Setenv("HCLOUD_TOKEN", p.server.Token())
	p.provider()
	return p
}

func startProject(t *testing.T, config sshguest.Config) (*hetzner.Server, *sshguest.Guests) {
	t.Helper()
	err := sshguest.Available()
	testkit.Need(t, "ssh-port", err == nil, fmt.Sprint(err))
	guests := sshguest.New(config)
	t.Cleanup(func() {
		if err := guests.Close(); err != nil {
			t.Error(err)
		}
	})
	return hetzner.Start(t, hetzner.Config{Guests: guests}), guests
}

// provider writes the provider block. Lines go into its `hetzner` attribute.
func (p *project) provider(lines ...string) {
	if !givenBy(lines)("poll_interval") {
		lines = append(lines, `poll_interval = "10ms"`)
	}
	p.Always = fmt.Sprintf("  hetzner = {\n    endpoint = %q\n    %s\n  }", p.server.URL(), strings.Join(lines, "\n    "))
	p.Provider("")
}

// host is a resource. Each line is an attribute.
func (p *project) host(label string, lines ...string) string {
	return fmt.Sprintf("resource %q %q {\n  name = %q\n  %s\n}\n", cloudHost, label, p.Unique(label), strings.Join(lines, "\n  "))
}

// settled applies and wants the next plan to be empty.
func (p *project) settled(options ...acctest.Option) *acctest.Result {
	p.t.Helper()
	result := p.Apply(options...).Succeed()
	p.Plan(options...).Empty()
	return result
}

// only is the one server that there is.
func (p *project) only() hetzner.ServerEntry {
	p.t.Helper()
	found := p.server.Inventory()
	if len(found.Servers) != 1 || len(found.PrimaryIPs) != 1 || len(found.SSHKeys) != 1 {
		p.t.Fatalf("there are %+v", found)
	}
	if found.PrimaryIPs[0].Assignee != found.Servers[0].ID {
		p.t.Fatalf("the address is %+v, and the server %+v", found.PrimaryIPs[0], found.Servers[0])
	}
	return found.Servers[0]
}

// nothing wants the project to be empty.
func (p *project) nothing() {
	p.t.Helper()
	if found := p.server.Inventory(); len(found.Servers)+len(found.PrimaryIPs)+len(found.SSHKeys) > 0 {
		p.t.Errorf("left over: %+v", found)
	}
}

// during returns the requests that came while work was done, as `METHOD path`.
func (p *project) during(work func()) []string {
	p.t.Helper()
	before := len(p.server.Requests())
	work()
	var made []string
	for _, request := range p.server.Requests()[before:] {
		made = append(made, request.Method+" "+request.Path)
	}
	return made
}

// writes keeps those that change something.
func writes(requests []string) []string {
	var kept []string
	for _, request := range requests {
		if !strings.HasPrefix(request, "GET ") {
			kept = append(kept, request)
		}
	}
	return kept
}
