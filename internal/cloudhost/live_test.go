package cloudhost

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store/sqlite"
)

const (
	// liveVariable opts in to the test that uses a real account.
	liveVariable = "SANDLOT_LIVE_HETZNER"
	// projectVariable names the project that HCLOUD_TOKEN is of. The API does not tell, so whoever runs the
	// suite says it.
	projectVariable = "SANDLOT_LIVE_HETZNER_PROJECT"
)

// TestLive runs the live suite on the platform itself, for the price of a started hour. It removes all it
// made, also after a failure.
func TestLive(t *testing.T) {
	if os.Getenv(liveVariable) != "1" {
		t.Skipf("NOT RUN: the live suite of cloud hosts uses a real account; set %s=1, HCLOUD_TOKEN and %s", liveVariable, projectVariable)
	}
	for _, name := range []string{"HCLOUD_TOKEN", projectVariable} {
		if os.Getenv(name) == "" {
			t.Fatalf("%s=1 is set, and %s is not", liveVariable, name)
		}
	}
	t.Logf("the token is taken for one of the project %q", os.Getenv(projectVariable))
	dir := filepath.Join(t.TempDir(), "data")
	m := &Manager{API: hetzner.New(hetzner.Config{}.WithEnvironment(os.Getenv)), Store: sqlite.New(sqlite.Config{Dir: dir}), DataDir: dir}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	if err := errors.Join(runLive(ctx, t.Logf, m), m.Store.Close()); err != nil {
		t.Error(err)
	}
}

// TestLiveSuite runs the live suite on the simulator, whole and failing at each of its requests: nothing is
// left behind.
func TestLiveSuite(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, faults ...simkit.Fault) (*place, error) {
		p := newPlace(t)
		if err := p.api.Inject(faults...); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := runLive(ctx, t.Logf, p.manager)
		p.empty()
		return p, err
	}
	whole, err := run(t)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, request := range whole.api.Requests() {
		if request.Method == http.MethodDelete {
			break // from here on it cleans up
		}
		failed++
	}
	if failed < 12 {
		t.Fatalf("only %d requests were found", failed)
	}
	for i := range failed {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			if _, err := run(t, simkit.Fault{Skip: i, Status: http.StatusTeapot, Code: "refused"}); err == nil {
				t.Error("it does not notice a failure")
			}
		})
	}
}

// runLive carries one host through its life and purges it, whatever happens.
func runLive(ctx context.Context, log func(string, ...any), m *Manager) (err error) {
	asked := request()
	asked.Name = "sandlot-live-" + strings.ToLower(rand.Text()[:12])
	asked.ExpiresAt = time.Now().Add(time.Hour)
	log("the host is %s", asked.Name)
	var last Host
	saved := func(host Host) { last = host }
	defer func() {
		if last.RecordID == "" {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Minute)
		defer cancel()
		cleaning := purgeLive(ctx, m, last)
		if cleaning != nil {
			err = errors.Join(err, cleaning)
			cleaning = purgeLive(ctx, m, last) // whatever it was may be over
		}
		if cleaning != nil {
			log("LEFT BEHIND: what carries the label %s=%s", labelRecord, last.RecordID)
		}
	}()
	made, err := m.Create(ctx, asked, saved)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	last = made.Host
	for _, state := range []string{DesiredSleeping, DesiredRunning} {
		asked.DesiredState = state
		changed, err := m.Update(ctx, last.Attachment, asked, saved)
		if err != nil {
			return fmt.Errorf("make it %s: %w", state, err)
		}
		seen, err := m.Read(ctx, last.Owner, last.Name, changed.Host.Attachment)
		switch {
		case err != nil:
			return fmt.Errorf("read the host that is %s: %w", state, err)
		case string(seen.Status) != state, seen.ServerID != last.ServerID, seen.IPv4 != last.IPv4, seen.HostKeyFingerprint != last.HostKeyFingerprint:
			return fmt.Errorf("made %s, the host is %+v", state, seen)
		}
	}
	return nil
}

func purgeLive(ctx context.Context, m *Manager, host Host) error {
	outcome, err := m.Delete(ctx, host.Owner, host.Name, host.Attachment, true)
	if err == nil && outcome != sandbox.Removed {
		err = fmt.Errorf("the host is %s, not removed", outcome)
	}
	return err
}
