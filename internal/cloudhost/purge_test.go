package cloudhost

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// vendor calls the API as somebody else in the same project does.
func (p *place) vendor() *hetzner.Client {
	return hetzner.New(hetzner.Config{Endpoint: p.api.URL(), Token: p.api.Token(), PollInterval: 5 * time.Millisecond, RetryWait: time.Millisecond})
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// foreignServer makes a server of somebody else.
func (p *place) foreignServer(name string, labels map[string]string) int64 {
	p.t.Helper()
	id, err := p.api.AddForeignServer(simulator.Foreign{Name: name, Labels: labels})
	p.must(err)
	return id
}

// Everything is verified before the first deletion, and each thing that is not as it has to be is an error
// of its own.
func TestPurgeRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(p *place, k *known)
		mend  func(p *place, k *known)
		want  sandbox.Code
	}{
		"foreign label on the server": {
			func(p *place, k *known) {
				p.must(p.vendor().SetServerLabels(p.t.Context(), k.ServerID, map[string]string{"sandlot.owner": "somebody"}))
			},
			func(p *place, k *known) {
				p.must(p.vendor().SetServerLabels(p.t.Context(), k.ServerID, k.labels()))
			},
			CodeForeignLabels,
		},
		"foreign label on the last resource": {
			func(p *place, k *known) {
				p.must(p.vendor().SetSSHKeyLabels(p.t.Context(), k.KeyID, map[string]string{}))
			},
			func(p *place, k *known) { p.must(p.vendor().SetSSHKeyLabels(p.t.Context(), k.KeyID, k.labels())) },
			CodeForeignLabels,
		},
		"address attached elsewhere": {
			func(p *place, k *known) {
				p.must(p.api.AttachPrimaryIP(k.PrimaryIPID, p.foreignServer("other", nil)))
			},
			func(p *place, k *known) { p.must(p.api.AttachPrimaryIP(k.PrimaryIPID, k.ServerID)) },
			CodeForeignAssignment,
		},
		"untracked IPv6": {
			func(p *place, k *known) { p.addIPv6(k.ServerID) },
			func(p *place, k *known) { p.removeIPv6() },
			CodeUntrackedIPv6,
		},
		"two matches": {
			func(p *place, k *known) { p.foreignServer("twin", k.labels()) },
			func(p *place, k *known) { p.removeServer("twin") },
			CodeAmbiguous,
		},
		"changed id": {
			func(p *place, k *known) {
				p.must(p.api.LoseServer(k.ServerID))
				p.foreignServer("twin", k.labels())
			},
			func(p *place, k *known) { p.removeServer("twin") },
			CodeConflictingID,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			host := p.create(request())
			k := p.record()
			test.spoil(p, k)
			p.api.ResetRequests()
			_, err := p.manager.Delete(p.bounded(20*time.Second), host.Owner, host.Name, host.Attachment, true)
			fails(t, err, test.want)
			if calls := p.writes(); len(calls) != 0 {
				t.Errorf("it took %q", calls)
			}
			if after := p.record(); after.pending != nil || after.ID != k.ID {
				t.Errorf("the record is %+v", after)
			}
			test.mend(p, k)
			p.delete(host, true, sandbox.Removed)
			p.emptyBut("other")
		})
	}
}

// post sends a request of its own, and returns the id of what was made.
func (p *place) post(path, body string) int64 {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.api.URL()+path, strings.NewReader(body))
	p.must(err)
	request.Header.Set("Authorization", "Bearer "+p.api.Token())
	response, err := http.DefaultClient.Do(request)
	p.must(err)
	defer response.Body.Close()
	var answer map[string]struct {
		ID int64 `json:"id"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusCreated {
		p.t.Fatalf("POST %s: status %d, %v", path, response.StatusCode, err)
	}
	return answer["primary_ip"].ID
}

// addIPv6 gives a server a primary IPv6, as somebody does in the console.
func (p *place) addIPv6(serverID int64) {
	p.t.Helper()
	p.must(p.api.AttachPrimaryIP(p.post("/primary_ips", `{"name":"six","type":"ipv6","location":"fsn1"}`), serverID))
}

func (p *place) removeIPv6() {
	p.t.Helper()
	for _, address := range p.api.Inventory().PrimaryIPs {
		if address.Name == "six" {
			p.must(p.api.AttachPrimaryIP(address.ID, 0))
			p.must(p.vendor().DeletePrimaryIP(p.t.Context(), address.ID))
		}
	}
}

func (p *place) removeServer(name string) {
	p.t.Helper()
	for _, server := range p.api.Inventory().Servers {
		if server.Name == name {
			p.must(p.vendor().DeleteServer(p.t.Context(), server.ID))
		}
	}
}

// emptyBut is empty where others have servers of their own.
func (p *place) emptyBut(others ...string) {
	p.t.Helper()
	for _, name := range others {
		p.removeServer(name)
	}
	p.empty()
}

// A purge that fails half-way keeps record and keys, and repeating it finishes.
func TestPurgeFailsHalfway(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]simkit.Fault{
		"server refused":   {Method: "DELETE", Path: "/servers/*", Status: 500, Code: "server_error"},
		"server lost":      {Method: "DELETE", Path: "/servers/*", Cut: simkit.CutAfter},
		"address refused":  {Method: "DELETE", Path: "/primary_ips/*", Status: 403, Code: "forbidden"},
		"address lost":     {Method: "DELETE", Path: "/primary_ips/*", Cut: simkit.CutAfter},
		"key refused":      {Method: "DELETE", Path: "/ssh_keys/*", Status: 503, Code: "unavailable"},
		"key lost":         {Method: "DELETE", Path: "/ssh_keys/*", Cut: simkit.CutAfter},
		"last look failed": {Method: "GET", Path: "/ssh_keys", Query: nil, Skip: 1, Count: 20, Status: 500, Code: "server_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			host := p.create(request())
			p.inject(fault)
			if _, err := p.manager.Delete(p.bounded(20*time.Second), host.Owner, host.Name, host.Attachment, true); err == nil {
				t.Fatal("it did not fail")
			}
			p.api.ClearFaults()
			k := p.record()
			if !k.destroying() || k.ID != host.RecordID {
				t.Errorf("the record is %+v", k)
			}
			if seen := p.read(host); seen.Status != StatusDestroying || !seen.Destroying {
				t.Errorf("it reads %+v", seen)
			}
			if _, err := p.manager.Access(t.Context(), host.RecordID); err != nil {
				t.Errorf("the keys are gone: %v", err)
			}
			_, err := p.manager.Update(t.Context(), host.Attachment, request(), nil)
			fails(t, err, CodeDestroying)
			p.delete(host, true, sandbox.Removed)
			p.empty()
		})
	}
}

// Another action of the platform is waited for, and a name that a deleted server still holds, too.
func TestPurgeWaits(t *testing.T) {
	t.Parallel()
	p := newPlace(t, simulator.Settings{LockWindow: 300, DeleteLag: 200, DeletingGone: true})
	host := p.create(request())
	p.delete(host, true, sandbox.Removed)
	p.empty()
	p.create(request())
	p.settled()
}

// Protection is never lifted silently.
func TestPurgeProtected(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	p.post(fmt.Sprintf("/servers/%d/actions/change_protection", host.ServerID), `{"delete":true,"rebuild":true}`)
	p.api.ResetRequests()
	_, err := p.manager.Delete(p.bounded(20*time.Second), host.Owner, host.Name, host.Attachment, true)
	fails(t, err, CodeProtected)
	if calls := p.writes(); len(calls) != 0 {
		t.Errorf("it took %q", calls)
	}
}

// What was never committed goes under either policy.
func TestDispose(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.guests.Behave(behaviorOf("docker version", 1))
	host := p.unready(moment{effects.After, "docker version", 1})
	if disposed, err := p.manager.Dispose(p.bounded(time.Minute), host.Owner, host.Name, host.Attachment); err != nil || !disposed {
		t.Errorf("disposed %v, %v", disposed, err)
	}
	p.empty()
	p.guests.Behave(behaviorOf("docker version", 1))
	host = p.unready(moment{effects.After, "docker version", 1})
	p.delete(host, false, sandbox.Removed)
	p.empty()
	p.guests.Behave(behaviorOf("", 0))
	host = p.create(request())
	if disposed, err := p.manager.Dispose(p.bounded(time.Minute), host.Owner, host.Name, host.Attachment); err != nil || disposed {
		t.Errorf("a committed host: disposed %v, %v", disposed, err)
	}
	p.settled()
}

// Orphans are what carries our owner's label and is on no record.
func TestOrphans(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	k := p.record()
	p.foreignServer("not-ours", map[string]string{"sandlot.owner": "somebody"})
	if found, err := p.manager.Orphans(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("there are the orphans %+v, %v", found, err)
	}
	// Another data directory of the same owner knows nothing of it.
	p.dir = filepath.Join(t.TempDir(), "other")
	p.manager = p.open(p.api.Token())
	p.manager.ExplicitOwner = host.Owner
	found, err := p.manager.Orphans(t.Context())
	if err != nil || len(found) != 3 {
		t.Fatalf("there are the orphans %+v, %v", found, err)
	}
	for i, want := range []struct {
		kind string
		id   int64
	}{{"server", k.ServerID}, {"primary_ip", k.PrimaryIPID}, {"ssh_key", k.KeyID}} {
		if found[i].Kind != want.kind || found[i].ID != want.id || found[i].Record != k.ID || found[i].Name == "" || found[i].CreatedAt.IsZero() {
			t.Errorf("an orphan is %+v, want %+v", found[i], want)
		}
	}
	// Without the record nothing is purged, and nothing is made in its place.
	if seen := p.read(host); seen.Recorded || seen.Status != StatusRunning || seen.ServerID != k.ServerID {
		t.Errorf("it reads %+v", seen)
	}
	p.api.ResetRequests()
	_, err = p.manager.Delete(t.Context(), host.Owner, host.Name, host.Attachment, true)
	fails(t, err, CodeRecordMissing)
	_, err = p.manager.Create(t.Context(), request(), nil)
	fails(t, err, CodeRecordMissing)
	for _, call := range []error{
		second(p.manager.Update(t.Context(), host.Attachment, request(), nil)),
		second(p.manager.Access(t.Context(), k.ID)), second(p.manager.Import(t.Context(), host.Owner, host.Name)),
	} {
		fails(t, call, CodeRecordMissing)
	}
	if calls := p.writes(); len(calls) != 0 {
		t.Errorf("it took %q", calls)
	}
}

func second[T any](_ T, err error) error { return err }
