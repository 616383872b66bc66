package cloudhost

import (
	"context"
	"net"
	"sync"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
)

// engineSocket is where the Docker Engine of a host listens.
const engineSocket = "/var/run/docker.sock"

// connections are one SSH connection a host, which all channels to its engine share: sshd drops logins that
// come in crowds.
type connections struct {
	mu   sync.Mutex
	open map[string]*connection
}

type connection struct {
	mu   sync.Mutex // held while it is made
	host *shell
}

func (c *connections) of(recordID string) *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[string]*connection{}
	}
	if c.open[recordID] == nil {
		c.open[recordID] = &connection{}
	}
	return c.open[recordID]
}

// hangUp ends the connection to a host that is about to stop.
func (m *Manager) hangUp(recordID string) {
	kept := m.engines.of(recordID)
	kept.mu.Lock()
	defer kept.mu.Unlock()
	kept.drop()
}

// dropOnly drops a connection that failed, unless another one is kept by now.
func (c *connection) dropOnly(host *shell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.host == host {
		c.drop()
	}
}

// drop is called with the mutex held.
func (c *connection) drop() {
	if c.host != nil {
		_ = c.host.Close()
		c.host = nil
	}
}

// DialEngine connects to the Docker socket of a host through an SSH channel, with the key pinned. Channels
// to one host share a connection. The returned connection takes no deadlines. Errors: those of Access,
// [CodeMissing], [CodeSleeping], [CodeIncomplete], [CodeDestroying], [sandbox.CodeOtherBinding], and those of
// readiness about SSH and docker.
func (m *Manager) DialEngine(ctx context.Context, recordID string) (net.Conn, error) {
	k, err := m.byID(ctx, recordID)
	if err != nil {
		return nil, err
	}
	kept := m.engines.of(recordID)
	for {
		host, fresh, err := m.engineHost(ctx, kept, k)
		if err != nil {
			return nil, err
		}
		conn, err := m.channel(ctx, host)
		if err == nil {
			return conn, nil
		}
		kept.dropOnly(host)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if fresh {
			return nil, refuse(CodeDocker, "Look at `systemctl status docker` on the host; its ssh_config_path leads there.", "The Docker Engine of %s does not answer on its socket.", k.id())
		}
		// It may have been the connection: a new one tells.
	}
}

// engineHost is the connection that channels share, and tells whether it was made just now.
func (m *Manager) engineHost(ctx context.Context, kept *connection, k *known) (host *shell, fresh bool, err error) {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.host != nil {
		return kept.host, false, nil
	}
	if err := m.awake(ctx, k); err != nil {
		return nil, false, err
	}
	to, err := m.login(ctx, k)
	if err != nil {
		return nil, false, err
	}
	if host, err = m.dial(ctx, to); err != nil {
		return nil, false, cannotReach(k.id(), k.IPv4, err, err)
	}
	kept.host = host
	return host, true, nil
}

// channel opens one. A host that went away without a word does not answer for ever.
func (m *Manager) channel(ctx context.Context, host *shell) (conn net.Conn, err error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	err = m.Observer.Do(ctx, sshEffect("open channel to "+engineSocket, host.name, false), func() error {
		conn, err = host.DialContext(ctx, "unix", engineSocket)
		return err
	})
	return conn, err
}

// awake refuses a host whose engine cannot be there.
func (m *Manager) awake(ctx context.Context, k *known) error {
	if _, err := m.prove(ctx, k); err != nil {
		return err
	}
	switch {
	case k.destroying():
		return destroying(k.id())
	case !k.Committed:
		return incomplete(k.id())
	}
	server, err := m.glance(ctx, k)
	switch {
	case err != nil:
		return err
	case server == nil:
		return missing(k.id())
	case server.Status == hetzner.ServerOff || server.Status == hetzner.ServerStopping:
		return refuse(CodeSleeping, "Wake it: set its `desired_state = \"running\"` and apply.", "%s is sleeping.", k.id())
	}
	return nil
}
