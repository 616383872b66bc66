package cloudhost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/seal"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func newKeyring(t *testing.T) seal.Keyring {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	ring, err := seal.Parse(identity.String())
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// keyLinesOf are the lines of a private key that make it one.
func keyLinesOf(private string) []string {
	var all []string
	for line := range strings.Lines(private) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "-----") {
			all = append(all, line)
		}
	}
	return all
}

// Neither key, nor user data, nor token stands in effects, records, results, or, with a keyring, anywhere in
// the store.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.manager.Keyring = newKeyring(t)
	p.guests.Behave(behaviorOf("rsync", 1))
	host := p.unready(moment{})
	injected, err := p.manager.readPrivate(t.Context(), p.record(), hostSecret)
	p.must(err)
	p.guests.Behave(behaviorOf("", 0))
	host = p.update(host, request())
	access, err := p.manager.Access(t.Context(), host.RecordID)
	p.must(err)
	userData := string(p.api.Inventory().Servers[0].UserData)
	if !strings.Contains(userData, keyLinesOf(injected)[1]) {
		t.Fatal("the user data does not carry the key that this test looks for")
	}
	p.mu.Lock()
	effects := fmt.Sprintf("%+v", p.log)
	p.mu.Unlock()
	record, err := json.Marshal(p.record().Record)
	p.must(err)
	p.must(p.store.Close())
	database := p.database()
	for name, text := range map[string]string{
		"effects": effects, "record": string(record), "host": fmt.Sprintf("%+v", host), "spec": string(p.record().Record.Spec), "database": database,
		"manager": fmt.Sprintf("%v %+v", p.manager.API, p.manager.Keyring),
	} {
		for _, secret := range append(append(keyLinesOf(access.PrivateKey), keyLinesOf(injected)...), p.api.Token(), p.api.Token()[:32], "disable_root", "sandlot-bootstrap") {
			if strings.Contains(text, secret) {
				t.Errorf("%s: it holds a secret", name)
			}
		}
	}
	// What was injected was rotated away and is kept nowhere.
	if left, err := p.manager.readPrivate(t.Context(), p.record(), hostSecret); err == nil && left != "" {
		t.Error("the injected host key is still kept")
	}
}

// database is all that the store has written.
func (p *place) database() string {
	p.t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(p.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.Contains(path, hostsDir) {
			return err
		}
		content, err := os.ReadFile(path)
		all.Write(content)
		return err
	})
	p.must(err)
	return all.String()
}

// An API that quotes half a token, or what it was sent, in a message: none of it comes through.
func TestMessagesAreRedacted(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/ssh_keys", "/primary_ips", "/servers"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			half := p.api.Token()[:32]
			p.inject(simkit.Fault{
				Method: "POST", Path: path, Status: 422, Code: "invalid_input",
				Message: "token " + half + " of nobody: 0123456789abcdefghijklmnopqrstuv is wrong, " + strings.Repeat("long ", 500),
			})
			_, err := p.manager.Create(p.bounded(time.Minute), request(), nil)
			if err == nil {
				t.Fatal("it did not fail")
			}
			for _, secret := range []string{half[:10], half[20:], "0123456789abcdefghijklmnopqrstuv"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("it tells %q: %v", secret, err)
				}
			}
			if len(err.Error()) > 1000 || !strings.Contains(err.Error(), "invalid_input") {
				t.Errorf("it says %v", err)
			}
		})
	}
}

// With a keyring the store is enough: another machine writes the files again, and SSH needs its keys.
func TestKeyring(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ring := newKeyring(t)
	p.manager.Keyring = ring
	host := p.create(request())
	config, err := os.ReadFile(host.SSHConfigPath)
	p.must(err)
	p.must(os.RemoveAll(filepath.Join(p.dir, hostsDir)))

	p.manager = p.open(p.api.Token())
	if seen := p.read(host); seen.Status != StatusRunning || seen.HostKeyFingerprint != host.HostKeyFingerprint {
		t.Errorf("without any key it reads %+v", seen)
	}
	if _, err := os.Stat(host.SSHConfigPath); err == nil {
		t.Error("a read wrote files")
	}
	_, err = p.manager.Access(t.Context(), host.RecordID)
	fails(t, err, seal.ErrNoKey)
	p.manager.Keyring = newKeyring(t)
	_, err = p.manager.Access(t.Context(), host.RecordID)
	fails(t, err, seal.ErrOtherKey)
	p.manager.Keyring = ring
	access, err := p.manager.Access(t.Context(), host.RecordID)
	if err != nil || access.SSHConfig != string(config) || access.Address != host.IPv4 || access.User != "root" || access.HostKeyFingerprint != host.HostKeyFingerprint {
		t.Errorf("access %+v, %v", access.SSHConfig, err)
	}
	p.update(host, request())
	if again, err := os.ReadFile(host.SSHConfigPath); err != nil || string(again) != string(config) {
		t.Errorf("the files were not written again: %v", err)
	}
	p.settled()
}

// Without any keys a host can still be put to sleep and purged, but not logged in to.
func TestKeysLost(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	p.must(os.RemoveAll(filepath.Join(p.dir, hostsDir)))
	for _, err := range []error{second(p.manager.Access(t.Context(), host.RecordID)), second(p.manager.DialEngine(t.Context(), host.RecordID))} {
		fails(t, err, CodeKeysMissing)
	}
	asleep := request()
	asleep.DesiredState = DesiredSleeping
	host = p.update(host, asleep)
	_, err := p.manager.Update(p.bounded(time.Minute), host.Attachment, request(), nil)
	fails(t, err, CodeKeysMissing)
	p.delete(host, true, sandbox.Removed)
	p.empty()
}

// A database beyond this machine takes no key that is not encrypted.
func TestSharedStoreNeedsKeyring(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.manager.SharedStore = true
	_, err := p.manager.Create(t.Context(), request(), nil)
	fails(t, err, CodeKeyringRequired)
	if calls := p.api.Requests(); len(calls) != 0 {
		t.Errorf("%d calls were made", len(calls))
	}
	p.manager.Keyring = newKeyring(t)
	p.create(request())
	p.settled()
}

// A create that is killed anywhere is finished with a keyring, too.
func TestKilledCreateWithKeyring(t *testing.T) {
	t.Parallel()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	ring, err := seal.Parse(identity.String())
	if err != nil {
		t.Fatal(err)
	}
	sealed := func(p *place) task {
		p.manager.Keyring = ring
		work := p.task("create", request(), Host{})
		work.Keys = identity.String()
		return work
	}
	clean := newPlace(t, quick())
	_, passed := testkit.FinishTask[Host](t, sealed(clean))
	testkit.EachPoint(t, passed, func(t *testing.T, point int) {
		p := newPlace(t, quick())
		testkit.KillTask(t, sealed(p), point)
		p.create(request())
		p.settled()
	})
}

// A token that was taken away in the middle: nothing is concluded from it.
func TestTokenRevoked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.create(request())
	p.must(p.api.SetToken(p.api.Token(), simulator.Revoked))
	for name, err := range everyAccess(t, p.open(p.api.Token()), host) {
		var refusal *sandbox.Refusal
		if err == nil || errors.As(err, &refusal) || strings.Contains(err.Error(), p.api.Token()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if k := p.record(); k.destroying() {
		t.Errorf("the record is %+v", k)
	}
}
