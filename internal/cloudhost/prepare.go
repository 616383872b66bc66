package cloudhost

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
)

// allocation is one resource of a host: how it is asked for, and how it is found again when an answer was
// lost or a run was killed.
type allocation struct {
	step step
	// id is where the record keeps it.
	id *int64
	// find looks for it by labels and exact name; 0 when the platform shows nothing of ours.
	find func(ctx context.Context) (int64, error)
	// create asks for it, and stores its id the moment the answer is there.
	create func(ctx context.Context) error
}

// prepare allocates what a host has, each only when the record has no id of it: key, address, server. An
// id that is recorded is never allocated again.
func (m *Manager) prepare(ctx context.Context, k *known, told func()) error {
	if k.ClientKey == "" {
		if err := m.makeKeys(ctx, k); err != nil {
			return err
		}
	}
	for _, a := range []allocation{m.keyAllocation(k), m.addressAllocation(k), m.serverAllocation(k, told)} {
		if err := m.allocate(ctx, k, a); err != nil {
			return err
		}
		told()
	}
	return m.settleServer(ctx, k)
}

func (m *Manager) allocate(ctx context.Context, k *known, a allocation) error {
	if *a.id != 0 {
		return nil
	}
	if k.pending != nil && k.pending.Step == a.step {
		// An earlier run had announced it, and may have asked.
		if adopted, err := m.adopt(ctx, k, a); adopted || err != nil {
			return err
		}
	}
	k.pending = &intent{Operation: creating, Step: a.step, Since: m.now()}
	if err := m.write(ctx, k); err != nil {
		return err
	}
	err := a.create(ctx)
	if err == nil || *a.id != 0 {
		return err
	}
	if !hetzner.Unsure(err) && !errors.Is(err, hetzner.CodeUniqueness) {
		return err
	}
	// The answer was lost, or the name is taken: perhaps by our own request, which the client repeated.
	adopted, findErr := m.adopt(ctx, k, a)
	if adopted {
		return nil
	}
	return errors.Join(err, findErr)
}

// adopt finds what an earlier request made and stores its id. What does not show at once may show late.
func (m *Manager) adopt(ctx context.Context, k *known, a allocation) (bool, error) {
	found, err := m.API.Settle(ctx, func() (bool, error) {
		id, err := a.find(ctx)
		if err == nil {
			*a.id = id
		}
		return err == nil && id != 0, err
	})
	if err != nil || !found {
		return false, err
	}
	return true, m.write(ctx, k)
}

func (m *Manager) keyAllocation(k *known) allocation {
	return allocation{
		step: allocatingKey, id: &k.KeyID,
		create: func(ctx context.Context) error {
			made, err := m.API.CreateSSHKey(ctx, k.keyName(), k.ClientKey, k.labels())
			if err != nil {
				return err
			}
			k.KeyID = made.ID
			return m.write(ctx, k)
		},
		find: func(ctx context.Context) (int64, error) {
			found, err := only(ctx, k, allocatingKey.kind(), k.keyName(), m.API.SSHKeys)
			if err != nil {
				return 0, err
			}
			if found == nil {
				return 0, m.checkKeyFree(ctx, k)
			}
			if !samePublic(found.PublicKey, k.ClientKey) {
				return 0, unexpected(k.id(), "SSH key", found.ID, "its public key is another one")
			}
			return found.ID, nil
		},
	}
}

// checkKeyFree finds our own public key under a name and labels that are not ours.
func (m *Manager) checkKeyFree(ctx context.Context, k *known) error {
	key, err := parsePublic(k.ClientKey)
	if err != nil {
		return err
	}
	found, err := m.API.SSHKeysByFingerprint(ctx, ssh.FingerprintLegacyMD5(key))
	if err != nil || len(found) == 0 || k.marked(found[0].Labels) {
		return err
	}
	return notOurs(k.id(), "SSH key", found[0].Name, found[0].Labels)
}

func samePublic(a, b string) bool {
	first, errA := parsePublic(a)
	second, errB := parsePublic(b)
	return errA == nil && errB == nil && publicLine(first) == publicLine(second)
}

func (m *Manager) addressAllocation(k *known) allocation {
	return allocation{
		step: allocatingIP, id: &k.PrimaryIPID,
		create: func(ctx context.Context) error {
			made, err := m.API.CreatePrimaryIP(ctx, k.primaryIPName(), k.Location, k.labels())
			if err != nil {
				return err
			}
			k.PrimaryIPID, k.IPv4 = made.ID, made.IP
			return m.write(ctx, k)
		},
		find: func(ctx context.Context) (int64, error) {
			found, err := only(ctx, k, allocatingIP.kind(), k.primaryIPName(), m.API.PrimaryIPs)
			if err != nil || found == nil {
				return 0, err
			}
			switch {
			case found.Type != "ipv4":
				return 0, unexpected(k.id(), "primary IP", found.ID, "it is no IPv4 address")
			case found.Location != k.Location:
				return 0, unexpected(k.id(), "primary IP", found.ID, "it is in another location")
			case found.AssigneeID != 0:
				return 0, unexpected(k.id(), "primary IP", found.ID, "it is attached already")
			}
			k.IPv4 = found.IP
			return found.ID, nil
		},
	}
}

func (m *Manager) serverAllocation(k *known, told func()) allocation {
	return allocation{
		step: allocatingServer, id: &k.ServerID,
		create: func(ctx context.Context) error {
			request, err := m.serverRequest(ctx, k)
			if err != nil {
				return err
			}
			return m.API.CreateServer(ctx, request, func(made hetzner.Server) error {
				k.ServerID = made.ID
				defer told()
				return m.write(ctx, k)
			})
		},
		find: func(ctx context.Context) (int64, error) {
			found, err := only(ctx, k, allocatingServer.kind(), k.serverName(), m.API.Servers)
			if err != nil || found == nil {
				return 0, err
			}
			return found.ID, k.checkServer(found)
		},
	}
}

func (m *Manager) serverRequest(ctx context.Context, k *known) (hetzner.ServerRequest, error) {
	private, _, err := m.private(ctx, k, hostSecret, k.InjectedKey)
	if err != nil {
		return hetzner.ServerRequest{}, err
	}
	data, err := userData(k, keyPair{private: private, public: k.InjectedKey})
	if err != nil {
		return hetzner.ServerRequest{}, err
	}
	return hetzner.ServerRequest{
		Name: k.serverName(), ServerType: k.ServerType, Location: k.Location, Image: k.Image,
		KeyID: k.KeyID, PrimaryIPID: k.PrimaryIPID, UserData: data, Secrets: strings.Fields(private), Labels: k.labels(),
	}, nil
}

// settleServer waits until a new server runs and checks that it is what was asked for. After a lost answer
// there is no action to wait for, so its status is looked at.
func (m *Manager) settleServer(ctx context.Context, k *known) error {
	server, err := m.settled(ctx, k)
	if err != nil {
		return err
	}
	if server == nil {
		return missing(k.id())
	}
	if server.Status == hetzner.ServerOff {
		if err := m.API.PowerOn(ctx, k.ServerID); err != nil {
			return err
		}
		if server, err = m.settled(ctx, k); err != nil {
			return err
		}
		if server == nil {
			return missing(k.id())
		}
	}
	return k.checkServer(server)
}

// settled waits while the platform itself does something to the server; nil when it is gone.
func (m *Manager) settled(ctx context.Context, k *known) (server *hetzner.Server, err error) {
	err = m.API.Poll(ctx, func() (bool, error) {
		server, err = m.API.Server(ctx, k.ServerID)
		if err != nil || server == nil {
			return true, err
		}
		switch server.Status {
		case hetzner.ServerRunning, hetzner.ServerOff, hetzner.ServerUnknown:
			return true, nil
		}
		return false, nil
	})
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("wait for the server of %s: %w", k.id(), err)
	}
	return server, err
}

// checkServer verifies that a server is the one that the record asked for.
func (k *known) checkServer(server *hetzner.Server) error {
	if err := k.checkMarks("server", server.ID, server.Labels); err != nil {
		return err
	}
	switch {
	case server.ServerType != k.ServerType:
		return unexpected(k.id(), "server", server.ID, "it is of another type")
	case server.Location != k.Location:
		return unexpected(k.id(), "server", server.ID, "it is in another location")
	case server.IPv4ID != k.PrimaryIPID:
		return unexpected(k.id(), "server", server.ID, "its address is another one")
	case server.IPv6ID != 0:
		return untrackedIPv6(k.id(), server.ID)
	}
	return nil
}
