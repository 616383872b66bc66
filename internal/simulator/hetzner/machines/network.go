package machines

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
)

func (m *Machines) networkName() string { return "sandlot-" + m.id }

// ensureNetwork makes a network of this simulator's own, or finds that of an earlier one.
func (m *Machines) ensureNetwork(ctx context.Context) error {
	found, err := exists(ctx, "network", m.networkName())
	if err != nil {
		return err
	}
	if !found {
		return m.makeNetwork(ctx)
	}
	subnet, err := docker(ctx, "network", "inspect", "--format", "{{(index .IPAM.Config 0).Subnet}}", m.networkName())
	if err != nil {
		return err
	}
	m.subnet, err = netip.ParsePrefix(subnet)
	return err
}

// makeNetwork tries subnets at random until one is free: the engine knows which are taken.
func (m *Machines) makeNetwork(ctx context.Context) error {
	var err error
	for range 20 {
		subnet := netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 31, byte(1 + rand.IntN(254)), 0}), 24) //nolint:gosec // no secret
		if _, err = docker(ctx, "network", "create", "--label", m.label(), "--subnet", subnet.String(), m.networkName()); err == nil {
			m.subnet = subnet
			return nil
		}
		if !strings.Contains(err.Error(), "overlaps") {
			return err
		}
	}
	return err
}

// firstAddress is the last number of the first address that is handed out: the engine has the gateway
// below.
const firstAddress = 10

// Reserve implements [hetzner.Guests].
func (m *Machines) Reserve() (netip.Addr, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	bytes := m.subnet.Addr().As4()
	for last := firstAddress; last < 255; last++ {
		bytes[3] = byte(last)
		address := netip.AddrFrom4(bytes)
		if !m.reserved[address] {
			m.reserved[address] = true
			return address, nil
		}
	}
	return netip.Addr{}, errors.New("all addresses of the network are in use")
}

// Keep implements [hetzner.Guests].
func (m *Machines) Keep(address netip.Addr) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !m.subnet.Contains(address) {
		return fmt.Errorf("the address %s is not one of the network %s", address, m.subnet)
	}
	m.reserved[address] = true
	return nil
}

// Release implements [hetzner.Guests].
func (m *Machines) Release(address netip.Addr) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.reserved, address)
	return nil
}
