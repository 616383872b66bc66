package cloudhost

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
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
