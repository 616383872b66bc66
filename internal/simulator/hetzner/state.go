package hetzner

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// stateVersion changes with the form of the state file.
const stateVersion = 1

// state is what a state file holds.
type state struct {
	Version         int
	Serial          int64
	Servers         []*server
	PrimaryIPs      []*primaryIP
	SSHKeys         []*sshKey
	PlacementGroups []*placementGroup
	Images          []*image // those of the project
	Actions         []*action
}

func (s *Simulator) stateFile() string { return filepath.Join(s.config.Dir, "state.json") }

// save replaces the state file in one step. The mutex is held. Without a state folder there is nothing
// to save.
func (s *Simulator) save() {
	if s.config.Dir == "" || s.closed {
		return
	}
	now := state{
		Version: stateVersion, Serial: s.serial, Servers: sorted(s.servers), PrimaryIPs: sorted(s.primaryIPs), SSHKeys: sorted(s.sshKeys),
		PlacementGroups: sorted(s.groups), Images: s.ownImages(), Actions: s.sortedActions(),
	}
	if err := simkit.ReplaceJSON(s.stateFile(), now); err != nil {
		s.saveError = fmt.Errorf("save the state: %w", err)
	}
}

func sorted[T object](all map[int64]T) []T {
	list := []T{}
	for _, one := range all {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(a.base().ID, b.base().ID) })
	return list
}

func (s *Simulator) sortedActions() []*action {
	var list []*action
	for _, one := range s.actions {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b *action) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// load reads what an earlier simulator left.
func (s *Simulator) load() error {
	content, err := os.ReadFile(s.stateFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var left state
	if err := json.Unmarshal(content, &left); err != nil {
		return err
	}
	if left.Version != stateVersion {
		return fmt.Errorf("%s has version %d, not %d", s.stateFile(), left.Version, stateVersion)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.serial = left.Serial
	restore(s.sshKeys, left.SSHKeys)
	restore(s.groups, left.PlacementGroups)
	restore(s.images, left.Images)
	restore(s.servers, left.Servers)
	restore(s.primaryIPs, left.PrimaryIPs)
	for _, ip := range left.PrimaryIPs {
		if ip.Type == ipv4 {
			if err := s.config.Guests.Keep(ip.Address); err != nil {
				return fmt.Errorf("keep the address %s: %w", ip.Address, err)
			}
		}
	}
	for _, a := range left.Actions {
		s.actions[a.ID] = a
	}
	for _, sv := range left.Servers {
		if err := s.adopt(sv); err != nil {
			return err
		}
	}
	// What the end of the earlier simulator interrupted begins again.
	for _, a := range left.Actions {
		if !a.final() && !a.Waits {
			s.schedule(a)
		}
	}
	s.save()
	return s.saveError
}

func restore[T object](into map[int64]T, all []T) {
	for _, one := range all {
		into[one.base().ID] = one
	}
}

// adopt finds the machine of a server again. One that stopped meanwhile shows as off. The mutex is held.
func (s *Simulator) adopt(sv *server) error {
	if sv.Removed {
		s.forget(sv)
		return nil
	}
	if !sv.Booted || sv.Status == statusOff {
		return nil
	}
	running, err := s.config.Guests.Adopt(s.ctx, s.machine(sv))
	if err != nil {
		return fmt.Errorf("find the machine of server %d again: %w", sv.ID, err)
	}
	if sv.Status != statusRunning {
		return nil // an action goes on with it
	}
	switch {
	case !running:
		sv.Status = statusOff
	case sv.ShutdownReceived && max(s.settings.ShutdownTime, sv.ShutdownTime) > 0:
		s.shutdownLater(sv, max(s.settings.ShutdownTime, sv.ShutdownTime))
	}
	return nil
}
