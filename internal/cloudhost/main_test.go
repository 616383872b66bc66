package cloudhost

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner/sshguest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlite"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

var everything store.Query

// build is the name of the host that most tests are about.
const build = "build"

// place is a project behind the simulated API, guests behind its servers, and a data directory with the
// real store.
type place struct {
	t       *testing.T
	api     *simulator.Server
	guests  *sshguest.Guests
	dir     string
	store   *sqlite.Store
	manager *Manager

	mu  sync.Mutex
	log []effects.Effect
	// end is called at the moment that it stands for.
	end    func()
	moment moment
}

// moment is an effect, before or after it happens, the first time or later.
type moment struct {
	phase  effects.Phase
	action string
	nth    int
}

// until is a context that is canceled at a moment: tests do not depend on how fast a machine is.
func (p *place) until(at moment) context.Context {
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	p.t.Cleanup(cancel)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end, p.moment = cancel, at
	return ctx
}

func newPlace(t *testing.T, settings ...simulator.Settings) *place {
	t.Helper()
	err := sshguest.Available()
	testkit.Need(t, "ssh-port", err == nil, "port 22 of loopback addresses: run as root, or set net.ipv4.ip_unprivileged_port_start=22")
	p := &place{t: t, guests: sshguest.New(sshguest.Config{}), dir: filepath.Join(t.TempDir(), "data")}
	t.Cleanup(func() { _ = p.guests.Close() })
	config := simulator.Config{Guests: p.guests}
	for _, given := range settings {
		config.Settings = given
	}
	p.api = simulator.Start(t, config)
	p.manager = p.open(p.api.Token())
	p.store = p.manager.Store.(*sqlite.Store)
	return p
}

// open makes a manager on the place, as another process would.
func (p *place) open(token string) *Manager {
	p.t.Helper()
	m := newManager(p.dir, p.api.URL(), token, p.note)
	p.t.Cleanup(func() {
		if err := m.Store.Close(); err != nil {
			p.t.Error(err)
		}
	})
	return m
}

// newManager has a client that waits as little as the simulator lets it.
func newManager(dir, endpoint, token string, observer effects.Observer) *Manager {
	return &Manager{
		API: hetzner.New(hetzner.Config{
			Endpoint: endpoint, Token: token, Observer: observer,
			PollInterval: 5 * time.Millisecond, LongestPollInterval: 50 * time.Millisecond,
			RetryWait: time.Millisecond, SettleTime: 100 * time.Millisecond,
		}),
		Store: sqlite.New(sqlite.Config{Dir: dir, Observer: observer}), DataDir: dir, Observer: observer,
	}
}

func (p *place) note(_ context.Context, phase effects.Phase, effect effects.Effect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil && phase == p.moment.phase && effect.Action == p.moment.action {
		if p.moment.nth--; p.moment.nth <= 0 {
			p.end()
			p.end = nil
		}
	}
	if phase == effects.Before {
		p.log = append(p.log, effect)
	}
}

// writes are the calls of the API that changed something, since the last reset.
func (p *place) writes() []string {
	p.t.Helper()
	var calls []string
	for _, request := range p.api.Requests() {
		if request.Method != http.MethodGet {
			calls = append(calls, request.Method+" "+strings.TrimPrefix(request.Path, "/v1"))
		}
	}
	return calls
}

func request() Request {
	return Request{
		Name: build, ServerType: "cx23", Location: "fsn1", Image: "ubuntu-24.04", DockerPackages: PackagesDocker,
		IdleTimeout: 30 * time.Minute, DesiredState: DesiredRunning, Settings: json.RawMessage(`{"by":"test"}`),
	}
}

// bounded is a context for one operation that ends well before the test does.
func (p *place) bounded(patience time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	p.t.Cleanup(cancel)
	return ctx
}

func (p *place) create(request Request) Host {
	p.t.Helper()
	result, err := p.manager.Create(p.bounded(time.Minute), request, nil)
	if err != nil {
		p.t.Fatalf("create: %v", err)
	}
	return result.Host
}

func (p *place) update(host Host, request Request) Host {
	p.t.Helper()
	result, err := p.manager.Update(p.bounded(time.Minute), host.Attachment, request, nil)
	if err != nil {
		p.t.Fatalf("update: %v", err)
	}
	return result.Host
}

func (p *place) read(host Host) Host {
	p.t.Helper()
	seen, err := p.manager.Read(p.bounded(time.Minute), host.Owner, host.Name, host.Attachment)
	if err != nil {
		p.t.Fatalf("read: %v", err)
	}
	return seen
}

func (p *place) delete(host Host, purge bool, want sandbox.Outcome) {
	p.t.Helper()
	outcome, err := p.manager.Delete(p.bounded(time.Minute), host.Owner, host.Name, host.Attachment, purge)
	if err != nil || outcome != want {
		p.t.Fatalf("delete with purge %v: %q, %v, want %q", purge, outcome, err, want)
	}
}

// inject adds a fault, which has to be met before the test ends.
func (p *place) inject(fault simkit.Fault) {
	p.t.Helper()
	if err := p.api.Inject(fault); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if waiting := p.api.Faults(); len(waiting) > 0 && fault.Count >= 0 {
			p.t.Errorf("these faults were never met: %+v", waiting)
		}
	})
}

// record returns the only record.
func (p *place) record() *known {
	p.t.Helper()
	records, err := p.store.Find(p.t.Context(), store.Query{})
	if err != nil || len(records) != 1 {
		p.t.Fatalf("the store holds %d records (%v), want 1: %+v", len(records), err, records)
	}
	k, err := open(records[0])
	if err != nil {
		p.t.Fatal(err)
	}
	return k
}

// settled checks that there are one committed record, one server, one address and one key that belong
// together, with nothing under way, and that the host can be logged in to with nothing but the record.
func (p *place) settled() *known {
	p.t.Helper()
	k := p.record()
	if !k.Committed || k.pending != nil || k.InjectedKey != "" || len(k.HostKeys) != 1 {
		p.t.Errorf("the record is not settled: committed %v, intent %+v, %d host keys", k.Committed, k.pending, len(k.HostKeys))
	}
	all := p.api.Inventory()
	if len(all.Servers) != 1 || len(all.PrimaryIPs) != 1 || len(all.SSHKeys) != 1 {
		p.t.Fatalf("there are %d servers, %d addresses and %d keys, want one of each", len(all.Servers), len(all.PrimaryIPs), len(all.SSHKeys))
	}
	if all.Servers[0].ID != k.ServerID || all.PrimaryIPs[0].ID != k.PrimaryIPID || all.SSHKeys[0].ID != k.KeyID {
		p.t.Errorf("the record names %d, %d and %d, there are %d, %d and %d",
			k.ServerID, k.PrimaryIPID, k.KeyID, all.Servers[0].ID, all.PrimaryIPs[0].ID, all.SSHKeys[0].ID)
	}
	if all.PrimaryIPs[0].Assignee != k.ServerID {
		p.t.Errorf("the address is attached to %d, want %d", all.PrimaryIPs[0].Assignee, k.ServerID)
	}
	if all.Servers[0].Status == "running" {
		p.loginWorks(k)
	}
	return k
}

// loginWorks logs in with what the store and the files hold.
func (p *place) loginWorks(k *known) {
	p.t.Helper()
	to, err := p.manager.login(p.t.Context(), k)
	if err != nil {
		p.t.Fatal(err)
	}
	host, err := p.manager.dial(p.bounded(10*time.Second), to)
	if err != nil {
		p.t.Errorf("the host is locked: %v", err)
		return
	}
	_ = host.Close()
}

// empty checks that nothing of any host is left, anywhere.
func (p *place) empty() {
	p.t.Helper()
	records, err := p.store.Find(p.t.Context(), store.Query{})
	if err != nil || len(records) != 0 {
		p.t.Errorf("the store still holds %d records (%v)", len(records), err)
	}
	all := p.api.Inventory()
	if len(all.Servers) != 0 || len(all.PrimaryIPs) != 0 || len(all.SSHKeys) != 0 {
		p.t.Errorf("there are still %d servers, %d addresses and %d keys", len(all.Servers), len(all.PrimaryIPs), len(all.SSHKeys))
	}
	entries, err := os.ReadDir(filepath.Join(p.dir, hostsDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) || len(entries) != 0 {
		p.t.Errorf("there are still files: %v (%v)", entries, err)
	}
}

// fails checks for a code or a kind of error.
func fails(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got the error %v, want %q", err, want)
	}
}
