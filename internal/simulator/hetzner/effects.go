package hetzner

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// machine is what a server boots from. The mutex is held.
func (s *Simulator) machine(sv *server) Machine {
	m := Machine{ServerID: sv.ID, Name: sv.Name, UserData: slices.Clone(sv.UserData), PublicKeys: slices.Clone(sv.PublicKeys)}
	if from := s.images[sv.ImageID]; from != nil {
		m.Image = from.Description
		if from.Type == "system" {
			m.Image = from.Name
		}
	}
	if ip := s.ipOf(sv.ID, ipv4); ip != nil {
		m.Address = ip.Address
	}
	serial := sv.BootSerial
	m.Stopped = func() { s.guestStopped(sv, serial) }
	return m
}

// starting counts a start, and returns what boots. The mutex is held.
func (s *Simulator) starting(sv *server) (m Machine, booted bool) {
	sv.BootSerial++
	sv.GuestDown, sv.Rebooting, sv.ShutdownReceived = false, false, false
	return s.machine(sv), sv.Booted
}

// guestWork is what the machine behind the server does for an action; nil for nothing. The mutex is
// held now, and not when the work is done.
func (s *Simulator) guestWork(a *action) func() error {
	guests, ctx := s.config.Guests, s.ctx
	sv := s.servers[a.Server]
	if sv == nil {
		return nil
	}
	switch a.Command {
	case commandStartServer:
		if sv.Status == statusRunning {
			return nil
		}
		m, again := s.starting(sv)
		return func() error { return start(ctx, guests, m, again) }
	case commandStopServer:
		return func() error { return guests.PowerOff(ctx, sv.ID) }
	case commandShutdownServer, commandRebootServer:
		if sv.Status != statusRunning || s.settings.IgnoreShutdown || sv.IgnoreShutdown {
			return nil
		}
		sv.ShutdownReceived, sv.Rebooting = true, a.Command == commandRebootServer
		delay := max(s.settings.ShutdownTime, sv.ShutdownTime)
		if delay == 0 {
			return func() error { return guests.Shutdown(ctx, sv.ID) }
		}
		s.shutdownLater(sv, delay)
	case commandResetServer:
		if sv.Status != statusRunning {
			return nil
		}
		m, _ := s.starting(sv)
		return func() error {
			if err := guests.PowerOff(ctx, sv.ID); err != nil {
				return err
			}
			return guests.PowerOn(ctx, m)
		}
	case commandDeleteServer:
		return func() error { return guests.Delete(ctx, sv.ID) }
	case commandRebuildServer:
		sv.ImageID = a.Image
		m, _ := s.starting(sv)
		return func() error {
			if err := guests.Delete(ctx, sv.ID); err != nil {
				return err
			}
			return guests.Boot(ctx, m)
		}
	}
	return nil
}

func start(ctx context.Context, guests Guests, m Machine, again bool) error {
	if again {
		return guests.PowerOn(ctx, m)
	}
	return guests.Boot(ctx, m)
}

// shutdownLater sends the signal after a while, unless the server was stopped or started meanwhile. The
// mutex is held.
func (s *Simulator) shutdownLater(sv *server, delay int64) {
	serial := sv.BootSerial
	s.after(delay, func() {
		s.mutex.Lock()
		due := sv.Status == statusRunning && sv.BootSerial == serial
		s.mutex.Unlock()
		if due {
			s.report(sv.ID, s.config.Guests.Shutdown(s.ctx, sv.ID))
		}
	})
}

// report keeps an error that no action can tell.
func (s *Simulator) report(serverID int64, err error) {
	if err == nil || s.ctx.Err() != nil {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.guestErrors = append(s.guestErrors, fmt.Sprintf("server %d: %v", serverID, err))
}

// guestStopped is called when a machine stopped by itself.
func (s *Simulator) guestStopped(sv *server, serial int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed || sv.BootSerial != serial || sv.Removed || s.servers[sv.ID] == nil {
		return
	}
	sv.GuestDown = true
	if sv.Status != statusRunning && sv.Status != statusStopping {
		return
	}
	if sv.Rebooting {
		m, _ := s.starting(sv)
		s.after(0, func() { s.report(sv.ID, s.config.Guests.PowerOn(s.ctx, m)) })
		return
	}
	sv.Status = statusOff
	s.save()
}

// apply changes the objects when an action ends well. The mutex is held.
func (s *Simulator) apply(a *action) {
	sv := s.servers[a.Server]
	switch a.Command {
	case commandCreateServer, commandStopServer:
		sv.Status, sv.ShutdownReceived = statusOff, false
	case commandStartServer, commandRebuildServer:
		sv.Status, sv.Booted = statusRunning, true
		if sv.GuestDown {
			sv.Status = statusOff
		}
	case commandDeleteServer:
		s.removeServer(sv)
	case commandChangeServerType:
		kind := serverTypeByID(a.ServerType)
		sv.TypeID, sv.Status = kind.ID, statusOff
		if a.UpgradeDisk {
			sv.DiskSize = kind.Disk
		}
	case commandCreateImage:
		if made := s.images[a.Image]; made != nil {
			made.Status = "available"
		}
	case commandUnassignIP:
		if ip := s.primaryIPs[a.PrimaryIP]; ip != nil {
			ip.AssigneeID = 0
		}
	}
}

// undo sets the objects right when an action failed. The mutex is held.
func (s *Simulator) undo(a *action) {
	sv := s.servers[a.Server]
	switch a.Command {
	case commandCreateServer:
		sv.Status = statusOff
		if a.Fault != nil && a.Fault.Remove {
			s.removeServer(sv)
		}
	case commandRebuildServer:
		sv.Status, sv.Booted = statusOff, false
	case commandStartServer, commandChangeServerType:
		sv.Status = statusOff
	case commandStopServer, commandDeleteServer:
		sv.Status = cmp.Or(sv.Before, statusOff)
	case commandCreateImage:
		delete(s.images, a.Image)
	case commandAssignIP:
		if ip := s.primaryIPs[a.PrimaryIP]; ip != nil {
			ip.AssigneeID = 0
		}
	}
}

// removeServer takes a server away. Its name and its addresses may stay taken for a while. The mutex
// is held.
func (s *Simulator) removeServer(sv *server) {
	sv.Removed = true
	if s.settings.DeleteLag > 0 {
		s.after(s.settings.DeleteLag, func() {
			s.mutex.Lock()
			defer s.mutex.Unlock()
			s.forget(sv)
			s.save()
		})
		return
	}
	s.forget(sv)
}

// forget frees what a removed server held. The mutex is held.
func (s *Simulator) forget(sv *server) {
	delete(s.servers, sv.ID)
	for _, ip := range s.ipsOf(sv.ID) {
		ip.AssigneeID = 0
		if !ip.AutoDelete {
			continue
		}
		if s.settings.AutoDelete == AutoDeleteAfter {
			s.after(s.settings.AutoDeleteLag, func() {
				s.mutex.Lock()
				defer s.mutex.Unlock()
				s.removePrimaryIP(ip)
				s.save()
			})
			continue
		}
		s.removePrimaryIP(ip)
	}
}

// removePrimaryIP gives the address back. The mutex is held.
func (s *Simulator) removePrimaryIP(ip *primaryIP) {
	if s.primaryIPs[ip.ID] == nil {
		return
	}
	delete(s.primaryIPs, ip.ID)
	if ip.Type == ipv4 {
		if err := s.config.Guests.Release(ip.Address); err != nil {
			s.guestErrors = append(s.guestErrors, fmt.Sprintf("primary IP %d: %v", ip.ID, err))
		}
	}
}

// ipsOf are the primary IPs of a server. The mutex is held.
func (s *Simulator) ipsOf(serverID int64) []*primaryIP {
	var all []*primaryIP
	for _, ip := range s.primaryIPs {
		if ip.AssigneeID == serverID {
			all = append(all, ip)
		}
	}
	slices.SortFunc(all, func(a, b *primaryIP) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// ipOf is the primary IP of a family that a server has; nil without. The mutex is held.
func (s *Simulator) ipOf(serverID int64, family string) *primaryIP {
	for _, ip := range s.ipsOf(serverID) {
		if ip.Type == family {
			return ip
		}
	}
	return nil
}

// newPrimaryIP makes one with an address. The mutex is held.
func (s *Simulator) newPrimaryIP(family, name string, locationID int64, labels map[string]string) (*primaryIP, error) {
	ip := &primaryIP{meta: meta{ID: s.nextID(), Name: name, Labels: labels, Created: s.now()}, Type: family, LocationID: locationID}
	if family == ipv6 {
		// 2001:db8::/32 is for documentation: nothing is reached there.
		ip.Address = netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, byte(ip.ID >> 24), byte(ip.ID >> 16), byte(ip.ID >> 8), byte(ip.ID)})
	} else {
		var err error
		if ip.Address, err = s.config.Guests.Reserve(); err != nil {
			return nil, fmt.Errorf("reserve an address: %w", err)
		}
	}
	if ip.Name == "" {
		ip.Name = fmt.Sprintf("primary_ip-%d", ip.ID)
	}
	s.primaryIPs[ip.ID] = ip
	return ip, nil
}

// elapsed tells whether a time is over; the zero time never comes.
func elapsed(at, now time.Time) bool { return !at.IsZero() && now.After(at) }
