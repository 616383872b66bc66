package cloudhost

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/postgres"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// With a database for the records, any runner with the key has the host: none of them needs the files of
// another.
func TestSharedStore(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	url, ring := testkit.Postgres(t).URL(), newKeyring(t)
	runner := func() *Manager {
		m := newManager(filepath.Join(t.TempDir(), "data"), p.api.URL(), p.api.Token(), nil)
		m.Store, m.SharedStore, m.Keyring = postgres.New(postgres.Config{URL: url}), true, ring
		t.Cleanup(func() { _ = m.Store.Close() })
		return m
	}
	p.manager = runner()
	host := p.create(request())
	p.manager = runner()
	if seen := p.read(host); seen.Status != StatusRunning || seen.RecordID != host.RecordID {
		t.Errorf("another runner reads %+v", seen)
	}
	asleep := request()
	asleep.DesiredState = DesiredSleeping
	host = p.update(host, asleep)
	p.manager = runner()
	host = p.update(host, request())
	if _, err := os.Stat(host.SSHConfigPath); err != nil {
		t.Error(err)
	}
	access, err := runner().Access(t.Context(), host.RecordID)
	if err != nil || access.PrivateKey == "" || access.HostKeyFingerprint != host.HostKeyFingerprint {
		t.Errorf("access: %v", err)
	}
	p.manager = runner()
	outcome, err := p.manager.Delete(p.bounded(time.Minute), host.Owner, host.Name, host.Attachment, true)
	if err != nil || outcome != sandbox.Removed {
		t.Errorf("%q, %v", outcome, err)
	}
	if all := p.api.Inventory(); len(all.Servers)+len(all.PrimaryIPs)+len(all.SSHKeys) != 0 {
		t.Errorf("%d servers, %d addresses and %d keys are left", len(all.Servers), len(all.PrimaryIPs), len(all.SSHKeys))
	}
}
