package cloudhost

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// sleep shuts the server down gracefully and waits until it is off. It never cuts the power: a system that
// does not heed the signal goes on running, and is reported.
func (m *Manager) sleep(ctx context.Context, k *known, server *hetzner.Server) (*hetzner.Server, error) {
	if server.Status != hetzner.ServerOff && server.Status != hetzner.ServerRunning {
		var err error
		if server, err = m.settled(ctx, k); err != nil {
			return server, err
		}
	}
	if server == nil {
		return nil, missing(k.id())
	}
	if server.Status == hetzner.ServerOff {
		return server, nil
	}
	m.hangUp(k.ID)
	if err := m.API.ShutDown(ctx, k.ServerID); err != nil {
		return server, stillRunning(ctx, k.id(), err)
	}
	err := m.API.Poll(ctx, func() (bool, error) {
		seen, err := m.API.Server(ctx, k.ServerID)
		if err != nil {
			return false, err
		}
		if seen == nil {
			return false, missing(k.id())
		}
		server = seen
		return seen.Status == hetzner.ServerOff, nil
	})
	return server, stillRunning(ctx, k.id(), err)
}

// stillRunning explains a wait that the deadline ended.
func stillRunning(ctx context.Context, id string, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	refusal := refuse(CodeStillRunning,
		"Apply again, with a longer timeout where what runs inside needs more time to stop. It was not forced: that could lose data.",
		"%s was told to shut down and is still running.", id)
	refusal.Err = ctx.Err()
	return refusal
}

// wake powers the server on and waits until the host is ready again. Address and keys are unchanged.
func (m *Manager) wake(ctx context.Context, k *known, server *hetzner.Server) (*hetzner.Server, error) {
	if server.Status != hetzner.ServerRunning {
		if err := m.checkExpiry(k.id(), k.ExpiresAt); err != nil {
			return server, err
		}
	}
	var err error
	if server.Status != hetzner.ServerOff && server.Status != hetzner.ServerRunning {
		if server, err = m.settled(ctx, k); err != nil {
			return server, err
		}
	}
	if server != nil && server.Status != hetzner.ServerRunning {
		if err := m.API.PowerOn(ctx, k.ServerID); err != nil {
			return server, err
		}
		if server, err = m.settled(ctx, k); err != nil {
			return server, err
		}
	}
	if server == nil {
		return nil, missing(k.id())
	}
	return server, m.finishReadiness(ctx, k)
}

// authorize replaces the further keys that may log in.
func (m *Manager) authorize(ctx context.Context, k *known, host *shell) error {
	result, err := host.run(ctx, "authorize keys", commandAuthorize, lines(k.AuthorizedKeys), true)
	if err != nil || result.status != 0 {
		return refuse(CodeAuthorizedKeys, "Apply again.", "The authorized keys of %s could not be replaced.", k.id())
	}
	k.KeysPending = false
	return m.write(ctx, k)
}

// underIntent announces a change of the run state, makes it and settles the record.
func (m *Manager) underIntent(ctx context.Context, k *known, change func() (*hetzner.Server, error)) (*hetzner.Server, error) {
	k.pending = &intent{Operation: changing, Since: m.now()}
	if err := m.write(ctx, k); err != nil {
		return nil, err
	}
	server, err := change()
	if err != nil {
		return server, err
	}
	k.pending = nil
	return server, m.write(ctx, k)
}

// converge brings a committed host to a request, whose values the record has taken already, and leaves its
// run state alone when none is asked for. before are the labels that the record had.
func (m *Manager) converge(ctx context.Context, k *known, desired string, server *hetzner.Server) (*hetzner.Server, error) {
	if err := m.writeSSHFiles(ctx, k); err != nil {
		return server, err
	}
	if err := m.relabel(ctx, k, server); err != nil {
		return server, fmt.Errorf("label %s: %w", k.id(), err)
	}
	switch {
	case desired == DesiredSleeping:
		return m.sleep(ctx, k, server)
	case desired == DesiredRunning && (server.Status != hetzner.ServerRunning || k.interrupted || k.InjectedKey != ""):
		return m.wake(ctx, k, server)
	case k.KeysPending && server.Status == hetzner.ServerRunning:
		host, err := m.ready(ctx, k)
		if err != nil {
			return server, err
		}
		return server, errors.Join(m.authorize(ctx, k, host), ignoreClosed(host.Close()))
	}
	return server, nil
}

// relabel sets the labels on all three resources. It does not touch the running server.
func (m *Manager) relabel(ctx context.Context, k *known, server *hetzner.Server) error {
	if !k.LabelsPending {
		return nil
	}
	labels := k.labels()
	if err := m.API.SetServerLabels(ctx, server.ID, labels); err != nil {
		return err
	}
	if err := m.API.SetPrimaryIPLabels(ctx, k.PrimaryIPID, labels); err != nil {
		return err
	}
	if err := m.API.SetSSHKeyLabels(ctx, k.KeyID, labels); err != nil {
		return err
	}
	k.LabelsPending = false
	return m.write(ctx, k)
}

func destroying(id string) *sandbox.Refusal {
	return refuse(CodeDestroying, "Destroy it again: that finishes the purge. It cannot be kept any more.", "A purge of %s was begun and has not finished.", id)
}
