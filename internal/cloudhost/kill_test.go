package cloudhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/seal"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// The tests below kill a process right before and right after every call of the API, every step over SSH
// and every write to the store and to files that a clean run was seen to make, and run the operation again.

// task is what a child process does.
type task struct {
	Operation       string // create, update, purge or retain
	Dir             string
	Endpoint, Token string
	Keys            string // of the keyring
	Request         Request
	Host            Host
}

func TestMain(m *testing.M) {
	if testkit.IsTask() {
		os.Exit(testkit.RunTask(newSteps(), runTask))
	}
	os.Exit(m.Run())
}

// newSteps counts all that changes something, and each look the first time in a row: how often something is
// polled depends on the machine.
func newSteps() func(effects.Effect) bool {
	var mu sync.Mutex
	looked := map[effects.Effect]bool{}
	return func(effect effects.Effect) bool {
		mu.Lock()
		defer mu.Unlock()
		if effect.Write {
			clear(looked)
			return true
		}
		if effect.System == "store" {
			return false
		}
		// The observer asks before and after the look.
		before := !looked[effect]
		after := effect
		after.Write = true
		if before {
			looked[effect] = true
			return true
		}
		again := looked[after]
		looked[after] = true
		return !again
	}
}

func runTask(work task, observer effects.Observer) (Host, error) {
	m := newManager(work.Dir, work.Endpoint, work.Token, observer)
	ring, err := seal.Parse(work.Keys)
	if err != nil {
		return Host{}, err
	}
	m.Keyring = ring
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var result Result
	switch work.Operation {
	case "create":
		result, err = m.Create(ctx, work.Request, nil)
	case "update":
		result, err = m.Update(ctx, work.Host.Attachment, work.Request, nil)
	default:
		_, err = m.Delete(ctx, work.Host.Owner, work.Host.Name, work.Host.Attachment, work.Operation == "purge")
	}
	return result.Host, errors.Join(err, m.Store.Close())
}

func (p *place) task(operation string, request Request, host Host) task {
	return task{Operation: operation, Dir: p.dir, Endpoint: p.api.URL(), Token: p.api.Token(), Request: request, Host: host}
}

func quick() simulator.Settings {
	return simulator.Settings{Latency: map[string]int64{"create_server": 1, "start_server": 1, "shutdown_server": 1, "delete_server": 1}}
}

func TestKilledCreate(t *testing.T) {
	t.Parallel()
	clean := newPlace(t, quick())
	_, passed := testkit.FinishTask[Host](t, clean.task("create", request(), Host{}))
	testkit.EachPoint(t, passed, func(t *testing.T, point int) {
		p := newPlace(t, quick())
		testkit.KillTask(t, p.task("create", request(), Host{}), point)
		host := p.create(request())
		k := p.settled()
		if k.Attachment != host.Attachment.Token {
			t.Errorf("the record is attached to %s, the result to %s", k.Attachment, host.Attachment.Token)
		}
		p.delete(host, true, sandbox.Removed)
		p.empty()
	})
}

// A create that was killed may be followed by one that wants something else: nothing of the first stays.
func TestKilledCreateOfAnother(t *testing.T) {
	t.Parallel()
	clean := newPlace(t, quick())
	_, passed := testkit.FinishTask[Host](t, clean.task("create", request(), Host{}))
	testkit.EachPoint(t, passed[:len(passed)-1], func(t *testing.T, point int) {
		p := newPlace(t, quick())
		testkit.KillTask(t, p.task("create", request(), Host{}), point)
		if records, err := p.store.Find(t.Context(), everything); err == nil && len(records) == 1 && records[0].Committed {
			return // then it is a host, and a host of another type is not taken over
		}
		other := request()
		other.ServerType, other.Location = "cx33", "nbg1"
		p.create(other)
		p.settled()
		if server := p.api.Inventory().Servers[0]; server.ServerType != "cx33" || server.Location != "nbg1" {
			t.Errorf("there is %+v", server)
		}
	})
}

func TestKilledSleepAndWake(t *testing.T) {
	t.Parallel()
	for _, step := range []struct{ name, from, to, status string }{
		{"sleep", DesiredRunning, DesiredSleeping, "off"},
		{"wake", DesiredSleeping, DesiredRunning, "running"},
	} {
		t.Run(step.name, func(t *testing.T) {
			t.Parallel()
			before, after := request(), request()
			before.DesiredState, after.DesiredState = step.from, step.to
			clean := newPlace(t, quick())
			host := clean.create(before)
			_, passed := testkit.FinishTask[Host](t, clean.task("update", after, host))
			testkit.EachPoint(t, passed, func(t *testing.T, point int) {
				p := newPlace(t, quick())
				host := p.create(before)
				made := p.settled()
				testkit.KillTask(t, p.task("update", after, host), point)
				if seen := p.read(host); seen.Status == StatusMissing || seen.Status == StatusIncomplete {
					t.Errorf("after the kill it reads %q", seen.Status)
				}
				p.update(host, after)
				k := p.settled()
				if k.ServerID != made.ServerID || k.IPv4 != made.IPv4 || k.HostKeys[0] != made.HostKeys[0] || k.ClientKey != made.ClientKey {
					t.Errorf("it was %+v and is %+v", made.contents, k.contents)
				}
				if status := p.api.Inventory().Servers[0].Status; status != step.status {
					t.Errorf("the server is %s, want %s", status, step.status)
				}
			})
		})
	}
}

func TestKilledRetain(t *testing.T) {
	t.Parallel()
	clean := newPlace(t, quick())
	_, passed := testkit.FinishTask[Host](t, clean.task("retain", Request{}, clean.create(request())))
	testkit.EachPoint(t, passed, func(t *testing.T, point int) {
		p := newPlace(t, quick())
		host := p.create(request())
		made := p.settled()
		testkit.KillTask(t, p.task("retain", Request{}, host), point)
		outcome, err := p.manager.Delete(p.bounded(time.Minute), host.Owner, host.Name, host.Attachment, false)
		if err != nil || outcome != sandbox.Retained && outcome != sandbox.Forgotten {
			t.Fatalf("the second delete: %q, %v", outcome, err)
		}
		if k := p.settled(); k.Attachment != "" || p.api.Inventory().Servers[0].Status != "off" {
			t.Errorf("it is still attached to %q, or runs", k.Attachment)
		}
		p.create(request())
		if k := p.settled(); k.ServerID != made.ServerID || k.HostKeys[0] != made.HostKeys[0] {
			t.Errorf("it was %+v and is %+v", made.contents, k.contents)
		}
	})
}

func TestKilledPurge(t *testing.T) {
	t.Parallel()
	clean := newPlace(t, quick())
	_, passed := testkit.FinishTask[Host](t, clean.task("purge", Request{}, clean.create(request())))
	testkit.EachPoint(t, passed, func(t *testing.T, point int) {
		p := newPlace(t, quick())
		host := p.create(request())
		testkit.KillTask(t, p.task("purge", Request{}, host), point)
		p.delete(host, true, sandbox.Removed)
		p.empty()
	})
	// Instead of the delete, the next run may be a create: it finishes the purge first.
	t.Run("then create", func(t *testing.T) {
		testkit.EachPoint(t, passed, func(t *testing.T, point int) {
			p := newPlace(t, quick())
			host := p.create(request())
			testkit.KillTask(t, p.task("purge", Request{}, host), point)
			p.create(request())
			p.settled()
		})
	})
}

// killedBefore is a place where a create was killed right before an effect.
func killedBefore(t *testing.T, effect string) *place {
	t.Helper()
	_, passed := testkit.FinishTask[Host](t, newPlace(t, quick()).task("create", request(), Host{}))
	at := slices.IndexFunc(passed, func(point string) bool { return strings.HasPrefix(point, "before "+effect) })
	if at < 0 {
		t.Fatalf("a clean run was not seen to %s: %q", effect, passed)
	}
	p := newPlace(t, quick())
	testkit.KillTask(t, p.task("create", request(), Host{}), at+1)
	return p
}

// What carries the labels of a host whose create was killed is adopted only when it is what was asked for.
func TestAdoptionRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		servers int
		want    sandbox.Code
	}{
		"two matches":     {2, CodeAmbiguous},
		"another address": {1, CodeUnexpected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := killedBefore(t, "hetzner POST /servers")
			k := p.record()
			for i := range row.servers {
				p.foreignServer(fmt.Sprintf("twin%d", i), k.labels())
			}
			p.api.ResetRequests()
			_, err := p.manager.Create(p.bounded(time.Minute), request(), nil)
			fails(t, err, row.want)
			var partial *PartialError
			if !errors.As(err, &partial) || partial.Host.RecordID != k.ID {
				t.Errorf("it is no partial error: %v", err)
			}
			if calls := p.writes(); len(calls) != 0 {
				t.Errorf("it took %q", calls)
			}
			for i := range row.servers {
				p.removeServer(fmt.Sprintf("twin%d", i))
			}
			p.create(request())
			p.settled()
		})
	}
}

// An id that is recorded and gone is missing, also in the middle of a create: it is never made again under
// that record.
func TestRecordedIDGone(t *testing.T) {
	t.Parallel()
	p := killedBefore(t, "ssh connect")
	k := p.record()
	if err := p.api.LoseServer(k.ServerID); err != nil {
		t.Fatal(err)
	}
	host := p.manager.described(k, nil)
	_, err := p.manager.Update(p.bounded(time.Minute), host.Attachment, request(), nil)
	fails(t, err, CodeMissing)
	if after := p.record(); after.ServerID != k.ServerID {
		t.Errorf("the record names %d, was %d", after.ServerID, k.ServerID)
	}
	p.delete(host, false, sandbox.Removed)
	p.empty()
}
