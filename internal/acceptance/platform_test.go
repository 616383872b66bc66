package acceptance_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// platform is the simulated Vercel of one test, as somebody outside the provider uses it.
type platform struct {
	t      *testing.T
	server *simulator.Server
	client *api.Client
}

// otherProject is a second project of the same team.
var otherProject = simulator.Project{ID: "prj_other", Slug: "other"}

// newPlatform starts a simulator and points a workspace's provider at it: the credentials come by the
// environment. Its sandboxes begin in /workspace, where the tests of every backend write.
func newPlatform(t *testing.T, f *acctest.Workspace) *platform {
	t.Helper()
	testkit.Bubblewrap(t)
	p := &platform{t: t, server: simulator.Start(t, simulator.Config{
		WorkingDirectory: "/workspace", Projects: []simulator.Project{simulator.DefaultProject, otherProject},
	})}
	var err error
	p.client, err = api.New(api.Config{
		BaseURL: p.server.URL(), Token: p.server.Token(), TeamID: simulator.DefaultTeam, ProjectID: simulator.DefaultProject.ID,
		RequestsPerSecond: 1000, PollInterval: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
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
	p.t.Helper()
	found, ok := p.sandbox(name)
	if !ok {
		p.t.Fatalf("there is no sandbox %s", name)
	}
	return found
}

// sessions counts all sessions there ever were.
func (p *platform) sessions() int { return p.server.Inventory().SessionsMade }

func (p *platform) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// remove deletes a sandbox as the platform's own client does: its snapshots stay.
func (p *platform) remove(name string) {
	p.t.Helper()
	_, err := p.client.DeleteSandbox(p.t.Context(), name, false)
	p.check(err)
}

func (p *platform) stop(name string) {
	p.t.Helper()
	_, err := p.client.StopSession(p.t.Context(), p.must(name).Session)
	p.check(err)
}

func (p *platform) resume(name string) {
	p.t.Helper()
	_, err := p.client.ResumeSandbox(p.t.Context(), name)
	p.check(err)
}

// boxes are the names of the sandboxes that there are.
func (p *platform) boxes() []string {
	var names []string
	for _, found := range p.server.Inventory().Sandboxes {
		names = append(names, found.Name)
	}
	return names
}

// snapshots are those that are left of what somebody asked for, without what stops have saved.
func (p *platform) snapshots() []string {
	return p.kept(func(found simulator.SnapshotEntry) bool { return !found.Automatic })
}

// allSnapshots are all that are left.
func (p *platform) allSnapshots() []string {
	return p.kept(func(simulator.SnapshotEntry) bool { return true })
}

func (p *platform) kept(counts func(simulator.SnapshotEntry) bool) []string {
	var ids []string
	for _, found := range p.server.Inventory().Snapshots {
		if !found.Deleted && counts(found) {
			ids = append(ids, found.ID)
		}
	}
	return ids
}

// described tells what there is, with what differs between two runs taken out, and without the snapshots
// that are ignored.
func (p *platform) described(ignored func(simulator.SnapshotEntry) bool) string {
	var lines []string
	there := p.server.Inventory()
	for _, found := range there.Sandboxes {
		lines = append(lines, fmt.Sprintf("sandbox, %s, persistent %t, tags %d, variables %v, from a snapshot %t",
			found.Status, found.Persistent, len(found.Tags), slices.Sorted(maps.Keys(found.Env)), found.Snapshot != ""))
	}
	for _, found := range there.Snapshots {
		if !found.Deleted && !ignored(found) {
			lines = append(lines, fmt.Sprintf("snapshot, automatic %t", found.Automatic))
		}
	}
	slices.Sort(lines)
	return strings.Join(append(lines, ""), "\n")
}

// readFile reads a file of the working directory where the simulator has it, by no request.
func (p *platform) readFile(name, file string) (content []byte, found bool) {
	p.t.Helper()
	content, err := p.server.WorkspaceFile(name, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	p.check(err)
	return content, true
}

// relabel changes one tag.
func (p *platform) relabel(name, tag, value string) {
	p.t.Helper()
	tags := maps.Clone(p.must(name).Tags)
	tags[tag] = value
	_, err := p.client.UpdateSandbox(p.t.Context(), name, api.UpdateRequest{Tags: tags})
	p.check(err)
}
