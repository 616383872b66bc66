package sshguest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
)

// port is where a client expects the SSH server of any host.
const port = "22"

// Config says how guests behave. The zero value works.
type Config struct {
	// Dir keeps the disks of the machines, for a simulator that keeps its state. Empty: nothing is kept.
	Dir string
	// Engine is the path of a socket that channels to the Docker socket of a host lead to. Empty: the host
	// has no engine, and they are refused.
	Engine string
}

// Guests implement [hetzner.Guests].
type Guests struct {
	config Config

	mu       sync.Mutex
	behavior Behavior
	reserved map[netip.Addr]bool
	machines map[int64]*machine
	// ran are the commands that clients ran, in order.
	ran []string
}

var _ hetzner.Guests = (*Guests)(nil)

// New makes guests. It does no I/O.
func New(config Config) *Guests {
	return &Guests{config: config, reserved: map[netip.Addr]bool{}, machines: map[int64]*machine{}}
}

// Available tells whether guests can be had here: they listen on port 22 of loopback addresses.
func Available() error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.64.0.1", port)) //nolint:noctx // it does not wait
	if err != nil {
		return errors.New("port 22 of loopback addresses cannot be listened on: run as root, or set the sysctl net.ipv4.ip_unprivileged_port_start to 22 or less")
	}
	return listener.Close()
}

// Reserve draws addresses of 127.64.0.0/10 at random, so that simulators beside each other hand out
// different ones.
func (g *Guests) Reserve() (netip.Addr, error) {
	if err := Available(); err != nil {
		return netip.Addr{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for range 1000 {
		address := netip.AddrFrom4([4]byte{127, 64 + byte(rand.IntN(64)), byte(rand.IntN(256)), 1 + byte(rand.IntN(254))}) //nolint:gosec // no secret
		if !g.reserved[address] {
			g.reserved[address] = true
			return address, nil
		}
	}
	return netip.Addr{}, errors.New("there is no address left")
}

// Keep implements [hetzner.Guests].
func (g *Guests) Keep(address netip.Addr) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reserved[address] = true
	return nil
}

// Release implements [hetzner.Guests].
func (g *Guests) Release(address netip.Addr) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.reserved, address)
	return nil
}

// Boot makes the disk from the user data and starts the machine.
func (g *Guests) Boot(ctx context.Context, from hetzner.Machine) error {
	disk, err := newDisk(from)
	if err != nil {
		return err
	}
	g.mu.Lock()
	found := g.machines[from.ServerID]
	if found == nil {
		found = &machine{guests: g, disk: disk}
		g.machines[from.ServerID] = found
	}
	g.mu.Unlock()
	return errors.Join(g.save(from.ServerID, found), found.start(from))
}

// PowerOn implements [hetzner.Guests].
func (g *Guests) PowerOn(_ context.Context, from hetzner.Machine) error {
	found := g.machine(from.ServerID)
	if found == nil {
		return fmt.Errorf("server %d has no disk", from.ServerID)
	}
	return found.start(from)
}

// Shutdown stops the machine at once: nothing runs that would have to end.
func (g *Guests) Shutdown(_ context.Context, serverID int64) error {
	if found := g.machine(serverID); found != nil {
		if stopped := found.stop(); stopped != nil {
			stopped()
		}
	}
	return nil
}

// PowerOff implements [hetzner.Guests].
func (g *Guests) PowerOff(_ context.Context, serverID int64) error {
	if found := g.machine(serverID); found != nil {
		found.stop()
	}
	return nil
}

// Delete implements [hetzner.Guests].
func (g *Guests) Delete(ctx context.Context, serverID int64) error {
	if err := g.PowerOff(ctx, serverID); err != nil {
		return err
	}
	g.mu.Lock()
	delete(g.machines, serverID)
	g.mu.Unlock()
	return g.forget(serverID)
}

// Adopt starts a machine again on the disk that was kept: it ran when the earlier simulator ended.
func (g *Guests) Adopt(_ context.Context, from hetzner.Machine) (bool, error) {
	kept, err := g.load(from.ServerID)
	if err != nil || kept == nil {
		return false, errors.Join(err, fmt.Errorf("the disk of server %d was not kept", from.ServerID))
	}
	made := &machine{guests: g, disk: *kept}
	g.mu.Lock()
	g.machines[from.ServerID] = made
	g.mu.Unlock()
	return true, made.start(from)
}

// Close stops all machines.
func (g *Guests) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, each := range g.machines {
		each.stop()
	}
	return nil
}

func (g *Guests) machine(serverID int64) *machine {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.machines[serverID]
}

// Ran returns the commands that clients ran on all machines, in order.
func (g *Guests) Ran() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.ran...)
}

func (g *Guests) note(command string) Behavior {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ran = append(g.ran, command)
	return g.behavior
}
