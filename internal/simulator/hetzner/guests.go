package hetzner

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net/netip"
	"sync"
)

// Guests are the machines behind the servers. All methods but Reserve and Release may take their time:
// the action that called them runs until they return, and fails with their error.
//
// A call that was broken off is made again by the next simulator on the same state folder, so each
// accepts what is done already.
type Guests interface {
	// Reserve hands out an IPv4 address that nobody has. It becomes the address of a primary IP, and so
	// of any server that this is assigned to. It is quick, and fails when there is none left.
	Reserve() (netip.Addr, error)
	// Keep takes an address back into use that was reserved by an earlier simulator on the same state.
	Keep(address netip.Addr) error
	// Release takes back an address whose primary IP was deleted.
	Release(address netip.Addr) error

	// Boot makes the disk of a machine and starts it for the first time. It returns when the machine
	// runs, which is before it can be reached.
	Boot(ctx context.Context, machine Machine) error
	// PowerOn starts a machine on the disk that it has.
	PowerOn(ctx context.Context, machine Machine) error
	// Shutdown sends the ACPI signal and does not wait for what the guest makes of it.
	Shutdown(ctx context.Context, serverID int64) error
	// PowerOff cuts the power. A machine that is off stays off.
	PowerOff(ctx context.Context, serverID int64) error
	// Delete cuts the power and removes the disk. A machine that does not exist is gone already.
	Delete(ctx context.Context, serverID int64) error
	// Adopt finds a machine again that an earlier simulator on the same state booted, and tells whether
	// it runs.
	Adopt(ctx context.Context, machine Machine) (running bool, err error)
}

// Machine is what a guest boots from.
type Machine struct {
	ServerID int64
	Name     string // of the server
	// Address is its public IPv4 address; the zero value for a server without.
	Address netip.Addr
	// Image is the name of the system image, its description for a snapshot.
	Image string
	// UserData are the bytes of the request.
	UserData []byte
	// PublicKeys are those of the API's SSH keys, in authorized_keys form.
	PublicKeys []string
	// Stopped must be called each time that the machine stopped by itself, after a Shutdown, too. It
	// does not wait for anything.
	Stopped func()
}

// absentGuests are what a simulator has that is given none: nothing listens at their addresses. They
// obey the ACPI signal at once.
type absentGuests struct {
	mutex    sync.Mutex
	reserved map[netip.Addr]bool
	running  map[int64]Machine
}

func newAbsentGuests() *absentGuests {
	return &absentGuests{reserved: map[netip.Addr]bool{}, running: map[int64]Machine{}}
}

// Reserve takes addresses from 127.64.0.0/10. They are drawn at random, so that simulators beside each
// other hand out different ones.
func (g *absentGuests) Reserve() (netip.Addr, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for range 1000 {
		address := loopbackAddress(rand.Uint32()) //nolint:gosec // no secret
		if !g.reserved[address] {
			g.reserved[address] = true
			return address, nil
		}
	}
	return netip.Addr{}, errors.New("there is no address left")
}

// loopbackAddress is one of 127.64.0.0/10 whose last number is neither 0 nor 255.
func loopbackAddress(random uint32) netip.Addr {
	var four [4]byte
	binary.BigEndian.PutUint32(four[:], 127<<24|64<<16|random&0x3fff00|(1+random%256%254))
	return netip.AddrFrom4(four)
}

func (g *absentGuests) Keep(address netip.Addr) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.reserved[address] = true
	return nil
}

func (g *absentGuests) Release(address netip.Addr) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	delete(g.reserved, address)
	return nil
}

func (g *absentGuests) Boot(ctx context.Context, machine Machine) error {
	return g.PowerOn(ctx, machine)
}

func (g *absentGuests) PowerOn(_ context.Context, machine Machine) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.running[machine.ServerID] = machine
	return nil
}

func (g *absentGuests) Shutdown(_ context.Context, serverID int64) error {
	g.mutex.Lock()
	machine, running := g.running[serverID]
	delete(g.running, serverID)
	g.mutex.Unlock()
	if running {
		machine.Stopped()
	}
	return nil
}

func (g *absentGuests) PowerOff(_ context.Context, serverID int64) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	delete(g.running, serverID)
	return nil
}

func (g *absentGuests) Delete(ctx context.Context, serverID int64) error {
	return g.PowerOff(ctx, serverID)
}

// Adopt finds what the state says: there is nothing else to ask.
func (g *absentGuests) Adopt(ctx context.Context, machine Machine) (bool, error) {
	return true, g.PowerOn(ctx, machine)
}
