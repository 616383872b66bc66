package cloudhost

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
)

const otherToken = "another-token-of-sixty-four-characters-as-the-service-has-them--"

// everyAccess calls everything that is about one host, and returns the errors by name.
func everyAccess(t *testing.T, m *Manager, host Host) map[string]error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return map[string]error{
		"create": second(m.Create(ctx, request(), nil)),
		"update": second(m.Update(ctx, host.Attachment, request(), nil)),
		"read":   second(m.Read(ctx, host.Owner, host.Name, host.Attachment)),
		"import": second(m.Import(ctx, host.Owner, host.Name)),
		"record": second(m.ByRecord(ctx, host.RecordID)),
		"purge":  second(m.Delete(ctx, host.Owner, host.Name, host.Attachment, true)),
		"retain": second(m.Delete(ctx, host.Owner, host.Name, host.Attachment, false)),
		"engine": second(m.DialEngine(ctx, host.RecordID)),
	}
}

// Another token or endpoint than the record's: no call at all, and an error that names which differs, but
// neither value.
func TestOtherBinding(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	other := simulator.Start(t, simulator.Config{})
	for name, test := range map[string]struct {
		endpoint, token, says string
		rebind                bool
	}{
		"token":    {p.api.URL(), otherToken, "another token", false},
		"endpoint": {other.URL(), p.api.Token(), "another endpoint", false},
		// Only a token can be rotated.
		"rebind of an endpoint": {other.URL(), p.api.Token(), "another endpoint", true},
	} {
		p.api.ResetRequests()
		m := newManager(p.dir, test.endpoint, test.token, nil)
		m.Rebind = test.rebind
		for access, err := range everyAccess(t, m, host) {
			fails(t, err, sandbox.CodeOtherBinding)
			if err == nil {
				continue
			}
			said := err.Error()
			if !strings.Contains(said, test.says) {
				t.Errorf("%s, %s: it does not name what differs: %s", name, access, said)
			}
			for _, value := range []string{p.api.Token(), otherToken, p.api.URL(), other.URL(), host.Attachment.Binding, m.API.Binding().Credential} {
				if strings.Contains(said, value) {
					t.Errorf("%s, %s: it tells a value: %s", name, access, said)
				}
			}
		}
		if calls := len(p.api.Requests()) + len(other.Requests()); calls != 0 {
			t.Errorf("%s: %d calls were made", name, calls)
		}
		if err := m.Store.Close(); err != nil {
			t.Error(err)
		}
	}
	p.settled()
}

// A record without a binding is never bound to what happens to be configured.
func TestNoBinding(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	k := p.record()
	k.Binding = "unknown"
	p.must(p.manager.write(t.Context(), k))
	p.api.ResetRequests()
	p.manager.Rebind = true
	for _, err := range everyAccess(t, p.manager, host) {
		fails(t, err, sandbox.CodeOtherBinding)
	}
	if calls := p.api.Requests(); len(calls) != 0 {
		t.Errorf("%d calls were made", len(calls))
	}
}

// A rotated token is accepted once, by the label on the server, and only when that is asked for.
func TestRebind(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	p.must(p.api.SetToken(otherToken, simulator.ReadWrite))
	p.must(p.api.SetToken(p.api.Token(), simulator.Revoked))
	rotated := p.open(otherToken)
	rotated.Rebind = true
	p.manager = rotated
	before := p.record().Binding
	seen := p.read(host)
	if seen.Status != StatusRunning || !seen.RebindPending || p.record().Binding != before {
		t.Errorf("a read with the rotated token: %+v", seen)
	}
	p.api.ResetRequests()
	after := p.update(host, request())
	if first := p.api.Requests()[0]; first.Method != http.MethodGet || !strings.HasPrefix(first.Path, "/v1/servers/") {
		t.Errorf("the first call was %s %s", first.Method, first.Path)
	}
	if p.record().Binding == before || after.RebindPending || after.Attachment.Binding == before {
		t.Errorf("it was not accepted: %+v", after)
	}
	// From now on it needs no permission.
	p.manager = p.open(otherToken)
	if seen := p.read(after); seen.Status != StatusRunning || seen.RebindPending {
		t.Errorf("it reads %+v", seen)
	}
	p.delete(host, true, sandbox.Removed)
	p.empty()
}

// A token of another project shows no such server, or one that carries other labels.
func TestRebindRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(p *place, host Host){
		"no server": func(p *place, host Host) { p.must(p.api.LoseServer(host.ServerID)) },
		"other labels": func(p *place, host Host) {
			p.must(p.vendor().SetServerLabels(p.t.Context(), host.ServerID, map[string]string{"a": "b"}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			host := p.create(request())
			spoil(p, host)
			p.must(p.api.SetToken(otherToken, simulator.ReadWrite))
			p.manager = p.open(otherToken)
			p.manager.Rebind = true
			before := p.record()
			p.api.ResetRequests()
			for _, err := range everyAccess(t, p.manager, host) {
				fails(t, err, sandbox.CodeOtherBinding)
			}
			if calls := p.writes(); len(calls) != 0 {
				t.Errorf("it took %q", calls)
			}
			if after := p.record(); after.Binding != before.Binding || after.Revision != before.Revision {
				t.Errorf("the record is %+v", after.Record)
			}
		})
	}
}
