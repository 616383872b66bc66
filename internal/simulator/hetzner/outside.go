package hetzner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// What happens to a project without its API: guests, hypervisors, other people.

// Guest is how the guest of one server takes the ACPI signal, in place of what the settings say.
type Guest struct {
	IgnoreShutdown bool  `json:"ignoreShutdown,omitempty"`
	ShutdownTime   int64 `json:"shutdownTime,omitempty"` // ms
}

// change calls f with a server, with the mutex held.
func (s *Simulator) change(serverID int64, f func(sv *server) error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	sv := s.servers[serverID]
	if sv == nil || sv.Removed {
		return simkit.NotFound("Server")
	}
	if err := f(sv); err != nil {
		return err
	}
	s.save()
	return s.saveError
}

// SetGuest tells how the guest of a server takes the ACPI signal.
func (s *Simulator) SetGuest(serverID int64, guest Guest) error {
	return s.change(serverID, func(sv *server) error {
		if guest.ShutdownTime < 0 {
			return errors.New("settings must not be negative")
		}
		sv.IgnoreShutdown, sv.ShutdownTime = guest.IgnoreShutdown, guest.ShutdownTime
		return nil
	})
}

// BreakServer is a fault of the hypervisor, or a guest that powers itself off: the server is "off" or
// "unknown" from now on, without any action.
func (s *Simulator) BreakServer(serverID int64, to string) error {
	if to != string(statusOff) && to != string(statusUnknown) {
		return fmt.Errorf("a fault leaves a server off or unknown, not %q", to)
	}
	err := s.change(serverID, func(sv *server) error {
		sv.BootSerial++ // what its machine tells from now on is of no interest
		sv.GuestDown, sv.Status = true, status(to)
		return nil
	})
	if err != nil {
		return err
	}
	return s.config.Guests.PowerOff(s.ctx, serverID)
}

// LoseServer takes a server away as if somebody had deleted it: its actions end in errors, its
// addresses are free or go with it.
func (s *Simulator) LoseServer(serverID int64) error {
	err := s.change(serverID, func(sv *server) error {
		sv.Removed = true
		for _, a := range s.actions {
			if a.Server == serverID && !a.final() {
				a.Finished, a.Status, a.ErrorCode, a.ErrorMessage = s.now(), actionError, "action_failed", "the server is gone"
			}
		}
		s.forget(sv)
		return nil
	})
	if err != nil {
		return err
	}
	return s.config.Guests.Delete(s.ctx, serverID)
}

// AttachPrimaryIP gives a primary IP to a server, or to nobody for 0, whatever state they are in.
func (s *Simulator) AttachPrimaryIP(id, serverID int64) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	ip := s.primaryIPs[id]
	if ip == nil {
		return simkit.NotFound("Primary IP")
	}
	if serverID != 0 && s.servers[serverID] == nil {
		return simkit.NotFound("Server")
	}
	ip.AssigneeID = serverID
	s.save()
	return s.saveError
}

// EndAction lets an action that never ends do so after all, with its effect.
func (s *Simulator) EndAction(id int64) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	a := s.actions[id]
	if a == nil || a.final() || a.Fault == nil || !a.Fault.Never {
		return simkit.NotFound("An action that never ends")
	}
	a.Fault, a.Latency = nil, 0
	s.schedule(a)
	return nil
}

// Foreign is a server that somebody else made. It may have a name that is taken.
type Foreign struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
	// PrimaryIP is what it takes; 0 for a new one of its own.
	PrimaryIP int64 `json:"primaryIP,omitempty"`
}

// AddForeignServer makes a server that runs, at once and unlike the API without any check of its name.
// It has no machine behind it. The id of the server is returned.
func (s *Simulator) AddForeignServer(foreign Foreign) (int64, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	kind, where := findServerType("cx23"), findLocation("fsn1")
	sv := &server{
		meta:   meta{ID: s.nextID(), Name: foreign.Name, Labels: labelsOf(&foreign.Labels), Created: s.now()},
		Status: statusRunning, TypeID: kind.ID, LocationID: where.ID, ImageID: s.findImage("debian-13").ID, DiskSize: kind.Disk,
	}
	ip := s.primaryIPs[foreign.PrimaryIP]
	if foreign.PrimaryIP != 0 && ip == nil {
		return 0, simkit.NotFound("Primary IP")
	}
	if ip == nil {
		var err error
		if ip, err = s.newPrimaryIP(ipv4, "", where.ID, map[string]string{}); err != nil {
			return 0, err
		}
		ip.AutoDelete = true
	}
	ip.AssigneeID = sv.ID
	s.servers[sv.ID] = sv
	s.save()
	return sv.ID, s.saveError
}

// ActionFaults returns the faults of actions that still wait.
func (s *Simulator) ActionFaults() []ActionFault {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	waiting := []ActionFault{}
	for _, one := range s.actionFaults {
		waiting = append(waiting, *one)
	}
	return waiting
}

// ClearActionFaults removes the faults of actions that still wait.
func (s *Simulator) ClearActionFaults() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.actionFaults = slices.Delete(s.actionFaults, 0, len(s.actionFaults))
}
