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
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.host != nil {
		if conn, err := m.channel(ctx, kept.host); err == nil {
			return conn, nil
		}
		kept.drop() // it may have been the connection or the engine: a new one tells
	}
	if err := m.awake(ctx, k); err != nil {
		return nil, err
	}
	to, err := m.login(ctx, k)
	if err != nil {
		return nil, err
	}
	host, err := m.dial(ctx, to)
	if err != nil {
		return nil, cannotReach(k.id(), k.IPv4, err, err)
	}
	conn, err := m.channel(ctx, host)
	if err != nil {
		_ = host.Close()
		return nil, notReady(CodeDocker, "Look at `systemctl status docker` on the host; its ssh_config_path leads there.", "The Docker Engine of %s does not answer on its socket.", k.id())
	}
	kept.host = host
	return conn, nil
}

func (m *Manager) channel(ctx context.Context, host *shell) (conn net.Conn, err error) {
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
