package cloudhost

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func TestLife(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	k := p.settled()
	if host.Status != StatusRunning || !host.Committed || host.ServerID != k.ServerID || host.IPv4 != k.IPv4 || host.RecordID != k.ID {
		t.Errorf("created %+v", host)
	}
	want := []string{"POST /ssh_keys", "POST /primary_ips", "POST /servers"}
	if calls := p.writes(); !slices.Equal(calls, want) {
		t.Errorf("the calls were %q, want %q", calls, want)
	}
	p.announced(want)
	if seen := p.read(host); seen.Status != StatusRunning || seen.TakenOver || seen.Image != "ubuntu-24.04" || string(seen.Settings) != `{"by":"test"}` {
		t.Errorf("read %+v", seen)
	}
	for name, mode := range map[string]os.FileMode{fileClientKey: 0o600, fileConfig: 0o600, fileKnownHosts: 0o600, fileClientPub: 0o600, "": 0o700 | os.ModeDir} {
		info, err := os.Stat(filepath.Join(p.dir, hostsDir, k.ID, name))
		if err != nil || info.Mode() != mode {
			t.Errorf("%q has mode %v (%v), want %v", name, info.Mode(), err, mode)
		}
	}
	if _, err := os.Stat(p.manager.path(k.ID, fileHostKey)); !os.IsNotExist(err) {
		t.Errorf("the injected host key is still there: %v", err)
	}
	p.delete(host, true, sandbox.Removed)
	p.empty()
	if seen := p.read(host); !seen.Deleted {
		t.Errorf("after the purge it reads %+v", seen)
	}
}

// announced checks that the record is written right before each allocation and right after it.
func (p *place) announced(calls []string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, call := range calls {
		at := slices.IndexFunc(p.log, func(effect effects.Effect) bool { return effect.Action == call })
		for _, beside := range []int{at - 1, at + 1} {
			if effect := p.log[beside]; effect.System != "store" || effect.Action != "update record" {
				p.t.Errorf("beside %s is %+v, not the record", call, effect)
			}
		}
	}
}

// Retained, slept and woken, a host keeps its server, disk, address and keys.
func TestKept(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	made := p.settled()
	same := func(when string) {
		t.Helper()
		if k := p.settled(); k.ID != made.ID || k.ServerID != made.ServerID || k.IPv4 != made.IPv4 || k.ClientKey != made.ClientKey || !slices.Equal(k.HostKeys, made.HostKeys) {
			t.Errorf("%s it was %+v and is %+v", when, made.contents, k.contents)
		}
	}
	p.api.ResetRequests()
	asleep := request()
	asleep.DesiredState = DesiredSleeping
	if host = p.update(host, asleep); host.Status != StatusSleeping {
		t.Errorf("asleep it reads %q", host.Status)
	}
	server := fmt.Sprintf("/servers/%d/actions/", made.ServerID)
	if calls := p.writes(); !slices.Equal(calls, []string{"POST " + server + "shutdown"}) {
		t.Errorf("to sleep took %q", calls)
	}
	same("asleep")
	if seen := p.read(host); seen.Status != StatusSleeping || seen.IPv4 != made.IPv4 {
		t.Errorf("asleep it reads %+v", seen)
	}
	p.api.ResetRequests()
	if host = p.update(host, request()); host.Status != StatusRunning {
		t.Errorf("awake it reads %q", host.Status)
	}
	if calls := p.writes(); !slices.Equal(calls, []string{"POST " + server + "poweron"}) {
		t.Errorf("to wake took %q", calls)
	}
	same("awake")

	p.api.ResetRequests()
	p.delete(host, false, sandbox.Retained)
	if calls := p.writes(); !slices.Equal(calls, []string{"POST " + server + "shutdown"}) {
		t.Errorf("to retain took %q", calls)
	}
	same("retained")
	if seen, err := p.manager.Foresee(t.Context(), request()); err != nil || !seen.Exists || seen.Attached || seen.Different != "" || seen.OtherPlace {
		t.Errorf("a plan foresees %+v, %v", seen, err)
	}
	result, err := p.manager.Create(p.bounded(time.Minute), request(), nil)
	if err != nil || !result.Reattached || result.Host.Status != StatusRunning || result.Host.Attachment.Token == host.Attachment.Token {
		t.Errorf("re-attached %+v, %v", result, err)
	}
	same("re-attached")
}

// Expiry and idle timeout are metadata, and labels do not touch the running server.
func TestMetadata(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	made := p.settled()
	p.api.ResetRequests()
	wish := request()
	wish.IdleTimeout, wish.ExpiresAt = 0, time.Now().Add(time.Hour).Truncate(time.Second)
	host = p.update(host, wish)
	if calls := p.writes(); len(calls) != 0 {
		t.Errorf("idle timeout and expiry took %q", calls)
	}
	if seen := p.read(host); seen.IdleTimeout != 0 || !seen.ExpiresAt.Equal(wish.ExpiresAt) {
		t.Errorf("read %+v", seen)
	}
	wish.Labels = map[string]string{"team": "a"}
	host = p.update(host, wish)
	want := []string{
		fmt.Sprintf("PUT /servers/%d", made.ServerID), fmt.Sprintf("PUT /primary_ips/%d", made.PrimaryIPID), fmt.Sprintf("PUT /ssh_keys/%d", made.KeyID),
	}
	if calls := p.writes(); !slices.Equal(calls, want) {
		t.Errorf("labels took %q, want %q", calls, want)
	}
	all := p.api.Inventory()
	for _, labels := range []map[string]string{all.Servers[0].Labels, all.PrimaryIPs[0].Labels, all.SSHKeys[0].Labels} {
		if labels["team"] != "a" || labels["sandlot.record"] != made.ID || labels["sandlot.kind"] != "cloud_host" || labels["sandlot.name"] != build {
			t.Errorf("the labels are %v", labels)
		}
	}
	if seen := p.read(host); !maps.Equal(seen.Labels, wish.Labels) {
		t.Errorf("read %+v", seen.Labels)
	}
	wish.Labels = nil
	p.update(host, wish)
	if labels := p.api.Inventory().Servers[0].Labels; labels["team"] != "" || labels["sandlot.record"] != made.ID {
		t.Errorf("the labels are %v", labels)
	}
}

// Further keys are replaced on a running host, and on a sleeping one when it wakes.
func TestAuthorizedKeys(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first, second := mustKeyPair(t).public, mustKeyPair(t).public
	wish := request()
	wish.AuthorizedKeys = []string{first}
	host := p.create(wish)
	own := p.settled().ClientKey
	check := func(further string) {
		t.Helper()
		allowed := p.guests.Authorized(host.ServerID)
		if !slices.Contains(allowed, own) || slices.Contains(allowed, first) != (further == first) || slices.Contains(allowed, second) != (further == second) {
			t.Errorf("allowed are %q", allowed)
		}
	}
	check(first)
	wish.AuthorizedKeys = []string{second}
	host = p.update(host, wish)
	check(second)
	wish.DesiredState = DesiredSleeping
	host = p.update(host, wish)
	wish.AuthorizedKeys = []string{first}
	host = p.update(host, wish)
	check(second)
	wish.DesiredState = DesiredRunning
	host = p.update(host, wish)
	check(first)
	wish.AuthorizedKeys = nil
	p.update(host, wish)
	check("")
}

// A second state of the same owner adopts a host and demotes the first.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.create(request())
	second := p.create(request())
	p.settled()
	if seen := p.read(first); !seen.TakenOver {
		t.Errorf("the first reads %+v", seen)
	}
	_, err := p.manager.Update(t.Context(), first.Attachment, request(), nil)
	fails(t, err, sandbox.CodeTakenOver)
	p.delete(first, true, sandbox.Forgotten)
	p.settled()
	other := request()
	other.Location = "nbg1"
	_, err = p.manager.Create(t.Context(), other, nil)
	fails(t, err, CodeOtherOptions)
	p.delete(second, true, sandbox.Removed)
	p.empty()
}

// A recorded server that is gone is missing: it is never made again by itself.
func TestMissing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	if err := p.api.LoseServer(host.ServerID); err != nil {
		t.Fatal(err)
	}
	p.manager = p.open(p.api.Token())
	if seen := p.read(host); seen.Status != StatusMissing || !seen.Recorded || seen.ServerID != host.ServerID || seen.IPv4 != host.IPv4 {
		t.Errorf("it reads %+v", seen)
	}
	p.api.ResetRequests()
	_, err := p.manager.Update(t.Context(), host.Attachment, request(), nil)
	fails(t, err, CodeMissing)
	_, err = p.manager.Create(t.Context(), request(), nil)
	fails(t, err, CodeMissing)
	if calls := p.writes(); len(calls) != 0 {
		t.Errorf("it took %q", calls)
	}
	_, err = p.manager.DialEngine(t.Context(), host.RecordID)
	fails(t, err, CodeMissing)
	p.delete(host, true, sandbox.Removed)
	p.empty()
}

// A failure to look is never absence.
func TestLookingFails(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	for _, status := range []int{401, 403, 404, 429, 500, 502, 503} {
		p.manager = p.open(p.api.Token())
		fault := simkit.Fault{Method: "GET", Status: status, Count: -1, Body: "<html>no</html>"}
		if err := p.api.Inject(fault); err != nil {
			t.Fatal(err)
		}
		seen, err := p.manager.Read(p.bounded(20*time.Second), host.Owner, host.Name, host.Attachment)
		if err == nil {
			t.Errorf("status %d: it reads %+v", status, seen)
		}
		p.api.ClearFaults()
	}
}

// An expiry that has passed refuses create and wake, and nothing else.
func TestExpiry(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	past := request()
	past.ExpiresAt = time.Now().Add(-time.Minute)
	_, err := p.manager.Create(t.Context(), past, nil)
	fails(t, err, CodeExpired)
	if calls := p.api.Requests(); len(calls) != 0 {
		t.Errorf("a refused create made %d calls", len(calls))
	}
	soon := request()
	soon.ExpiresAt = time.Now().Add(time.Hour)
	host := p.create(soon)
	p.manager.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if seen := p.read(host); seen.Status != StatusRunning {
		t.Errorf("it reads %+v", seen)
	}
	host = p.update(host, soon) // it runs on
	soon.DesiredState = DesiredSleeping
	host = p.update(host, soon)
	soon.DesiredState = DesiredRunning
	_, err = p.manager.Update(t.Context(), host.Attachment, soon, nil)
	fails(t, err, CodeExpired)
	if status := p.api.Inventory().Servers[0].Status; status != "off" {
		t.Errorf("the server is %s", status)
	}
	soon.ExpiresAt = time.Now().Add(3 * time.Hour)
	host = p.update(host, soon)
	p.settled()
	p.manager.Now = func() time.Time { return time.Now().Add(4 * time.Hour) }
	p.delete(host, true, sandbox.Removed)
	p.empty()
}

// A system that does not heed the signal is reported, and its power is never cut.
func TestStillRunning(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	if err := p.api.SetGuest(host.ServerID, simulator.Guest{IgnoreShutdown: true}); err != nil {
		t.Fatal(err)
	}
	asleep := request()
	asleep.DesiredState = DesiredSleeping
	p.api.ResetRequests()
	_, err := p.manager.Update(p.until(moment{effects.After, "GET /servers/{id}", 4}), host.Attachment, asleep, nil)
	fails(t, err, CodeStillRunning)
	fails(t, err, context.Canceled)
	if calls := p.writes(); !slices.Equal(calls, []string{fmt.Sprintf("POST /servers/%d/actions/shutdown", host.ServerID)}) {
		t.Errorf("it took %q", calls)
	}
	if seen := p.read(host); seen.Status != StatusInterrupted {
		t.Errorf("it reads %q", seen.Status)
	}
	if err := p.api.SetGuest(host.ServerID, simulator.Guest{}); err != nil {
		t.Fatal(err)
	}
	if host = p.update(host, asleep); host.Status != StatusSleeping {
		t.Errorf("then it is %q", host.Status)
	}
}

// Ten creates of one name at once: one host.
func TestConcurrentCreates(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	hosts := make([]Host, 5)
	var group sync.WaitGroup
	for i := range hosts {
		group.Go(func() { hosts[i], _ = testkit.FinishTask[Host](t, p.task("create", request(), Host{})) })
	}
	group.Wait()
	k := p.settled()
	holders := 0
	for _, host := range hosts {
		if host.RecordID != k.ID {
			t.Errorf("one got the record %s, want %s", host.RecordID, k.ID)
		}
		if host.Attachment.Token == k.Attachment {
			holders++
		}
	}
	if holders != 1 {
		t.Errorf("%d of them hold it", holders)
	}
}

// The state learns what there is while the create goes on, the record's id before anything is allocated.
func TestSavedEarly(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var saved []Host
	_, err := p.manager.Create(p.bounded(time.Minute), request(), func(host Host) {
		all := p.api.Inventory()
		if len(saved) == 0 && len(all.SSHKeys)+len(all.PrimaryIPs)+len(all.Servers) != 0 {
			t.Errorf("there was already %+v", all)
		}
		saved = append(saved, host)
	})
	if err != nil {
		t.Fatal(err)
	}
	first, last := saved[0], saved[len(saved)-1]
	if first.RecordID == "" || first.Attachment.Token == "" || first.Committed || !first.CreatedForStart() || first.ServerID != 0 {
		t.Errorf("first saved was %+v", first)
	}
	if !slices.ContainsFunc(saved, func(h Host) bool { return h.KeyID != 0 && h.PrimaryIPID == 0 }) ||
		!slices.ContainsFunc(saved, func(h Host) bool { return h.ServerID != 0 && !h.Committed }) || !last.Committed || last.CreatedForStart() {
		t.Errorf("saved were %+v", saved)
	}
}
