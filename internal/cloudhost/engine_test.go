package cloudhost

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner/sshguest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// dockerSocket is where the engine of this machine listens.
const dockerSocket = "/var/run/docker.sock"

// The engine of a host is reached through channels of one connection, which is made again when it broke.
func TestEngine(t *testing.T) {
	t.Parallel()
	_, err := os.Stat(dockerSocket)
	testkit.Need(t, "docker", err == nil, "run dockerd")
	p := newPlace(t)
	guests := sshguest.New(sshguest.Config{Engine: dockerSocket})
	t.Cleanup(func() { _ = guests.Close() })
	p.guests, p.api = guests, simulator.Start(t, simulator.Config{Guests: guests})
	p.manager = p.open(p.api.Token())
	host := p.create(request())
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return p.manager.DialEngine(ctx, host.RecordID)
	}}}
	ping := func() error {
		response, err := client.Get("http://engine/_ping")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		said, err := io.ReadAll(response.Body)
		if string(said) != "OK" {
			t.Errorf("the engine said %q", said)
		}
		return err
	}
	p.mu.Lock()
	p.log = nil
	p.mu.Unlock()
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if err := ping(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	p.mu.Lock()
	logins, channels := 0, 0
	for _, effect := range p.log {
		switch {
		case effect.System == "ssh" && effect.Action == "connect":
			logins++
		case effect.System == "ssh" && strings.HasPrefix(effect.Action, "open channel"):
			channels++
		}
	}
	p.mu.Unlock()
	if logins != 1 || channels < 2 {
		t.Errorf("there were %d logins and %d channels", logins, channels)
	}

	asleep := request()
	asleep.DesiredState = DesiredSleeping
	host = p.update(host, asleep)
	client.CloseIdleConnections()
	_, err = p.manager.DialEngine(t.Context(), host.RecordID)
	fails(t, err, CodeSleeping)
	_, err = p.open(p.api.Token()).DialEngine(t.Context(), host.RecordID)
	fails(t, err, CodeSleeping)
	p.update(host, request())
	client.CloseIdleConnections()
	if err := ping(); err != nil {
		t.Error(err)
	}
	p.delete(host, true, sandbox.Removed)
	_, err = p.manager.DialEngine(t.Context(), host.RecordID)
	fails(t, err, CodeRecordMissing)
}

// What somebody else answers at the address is not talked to.
func TestEngineOfAnotherHost(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	p.guests.Behave(sshguest.Behavior{HostKey: mustKeyPair(t).private})
	_, err := p.manager.DialEngine(t.Context(), host.RecordID)
	fails(t, err, CodeHostKeyMismatch)
	p.guests.Behave(sshguest.Behavior{RefuseLogin: true})
	_, err = p.manager.DialEngine(t.Context(), host.RecordID)
	fails(t, err, CodeSSHAuthentication)
	p.guests.Behave(sshguest.Behavior{})
	_, err = p.manager.DialEngine(t.Context(), host.RecordID)
	fails(t, err, CodeDocker) // these guests have no engine
}

// An import reads the record and the server, and writes nothing; of a server that is gone, too.
func TestImport(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	wish := request()
	wish.AuthorizedKeys, wish.Labels = []string{mustKeyPair(t).public}, map[string]string{"a": "b"}
	host := p.create(wish)
	owner, name, err := ParseID(host.ID())
	p.must(err)
	before := p.record().Revision
	p.api.ResetRequests()
	seen, err := p.manager.Import(t.Context(), owner, name)
	p.must(err)
	if seen.Attachment != host.Attachment || seen.DockerPackages != PackagesDocker || !slices.Equal(seen.AuthorizedKeys, wish.AuthorizedKeys) ||
		seen.IdleTimeout != wish.IdleTimeout || seen.Labels["a"] != "b" || string(seen.Settings) != string(wish.Settings) || seen.Status != StatusRunning {
		t.Errorf("imported %+v", seen)
	}
	if byRecord, err := p.manager.ByRecord(t.Context(), host.RecordID); err != nil || byRecord.ServerID != host.ServerID {
		t.Errorf("by its record: %+v, %v", byRecord, err)
	}
	if calls := p.writes(); len(calls) != 0 || p.record().Revision != before {
		t.Errorf("it took %q", calls)
	}
	p.must(p.api.LoseServer(host.ServerID))
	p.manager = p.open(p.api.Token())
	if seen, err := p.manager.Import(t.Context(), owner, name); err != nil || seen.Status != StatusMissing {
		t.Errorf("imported %+v, %v", seen, err)
	}
	_, err = p.manager.Import(t.Context(), "somebody", name)
	fails(t, err, sandbox.CodeNotOurs)
	_, err = p.manager.Import(t.Context(), owner, "other")
	fails(t, err, CodeRecordMissing)
}

func TestIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]string{
		"hetzner/me/build": {"me", "build"}, "me/build": {"me", "build"}, "hetzner/team/me/build": {"team/me", "build"},
	} {
		if owner, name, err := ParseID(id); err != nil || [2]string{owner, name} != want {
			t.Errorf("%s: %q, %q, %v", id, owner, name, err)
		}
	}
	for _, id := range []string{"", "build", "hetzner/build", "hetzner//build", "me/Build", "me/"} {
		if owner, name, err := ParseID(id); err == nil {
			t.Errorf("%q is read as %q, %q", id, owner, name)
		}
	}
}

func TestLabelRules(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{"a": "", "team": "x", "example.com/team": "a.b_c-d", strings.Repeat("k", 63): strings.Repeat("v", 63)} {
		if err := CheckLabels(map[string]string{key: value}); err != nil {
			t.Error(err)
		}
	}
	for key, value := range map[string]string{
		"": "", "-a": "", "a b": "", "sandlot.owner": "me", "hetzner.cloud/x": "", strings.Repeat("k", 64): "", "a": "x y", "b": "a:b", "c": "-", "d": strings.Repeat("v", 64), "e": "a+b=",
	} {
		if err := CheckLabels(map[string]string{key: value}); err == nil {
			t.Errorf("%q=%q is accepted", key, value)
		}
	}
	for _, owner := range []string{"team/a b", strings.Repeat("x", 128), "ä"} {
		if label := ownerLabel(owner); !labelValue.MatchString(label) || label == ownerLabel(owner+"x") {
			t.Errorf("%q becomes %q", owner, label)
		}
	}
	if ownerLabel("me") != "me" {
		t.Error("an owner that can be a label is not its own")
	}
}

// A data directory that an SSH configuration cannot name is refused before anything is made.
func TestDataDirRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, dir := range []string{`/tmp/a"b`, `/tmp/a\b`, "/tmp/${HOME}", "/tmp/a\nb", "/tmp/100%"} {
		m := newManager(filepath.Join(t.TempDir(), "data"), p.api.URL(), p.api.Token(), nil)
		m.DataDir = dir
		if _, err := m.Create(t.Context(), request(), nil); err == nil {
			t.Errorf("%q is accepted", dir)
		}
	}
	if calls := p.api.Requests(); len(calls) != 0 {
		t.Errorf("%d calls were made", len(calls))
	}
}
