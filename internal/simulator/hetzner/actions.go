package hetzner

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Commands of actions.
const (
	commandCreateServer     = "create_server"
	commandStartServer      = "start_server"
	commandStopServer       = "stop_server"
	commandShutdownServer   = "shutdown_server"
	commandRebootServer     = "reboot_server"
	commandResetServer      = "reset_server"
	commandDeleteServer     = "delete_server"
	commandChangeServerType = "change_server_type"
	commandRebuildServer    = "rebuild_server"
	commandCreateImage      = "create_image"
	commandChangeProtection = "change_protection"
	commandAssignIP         = "assign_primary_ip"
	commandUnassignIP       = "unassign_primary_ip"
)

var commands = []string{
	commandCreateServer, commandStartServer, commandStopServer, commandShutdownServer, commandRebootServer, commandResetServer,
	commandDeleteServer, commandChangeServerType, commandRebuildServer, commandCreateImage, commandChangeProtection, commandAssignIP, commandUnassignIP,
}

// Types of the resources of an action.
const (
	typeServer    = "server"
	typePrimaryIP = "primary_ip"
	typeImage     = "image"
)

// ActionFault makes actions that were accepted end otherwise than well. The first fault of an action
// counts.
type ActionFault struct {
	// Command is that of the actions; empty is any.
	Command string `json:"command,omitempty"`
	// Skip lets that many actions pass first.
	Skip int `json:"skip,omitempty"`
	// Count is how many actions it meets; 0 means 1, less means all.
	Count int `json:"count,omitempty"`
	// Never lets the action run forever, and its server stay locked.
	Never bool `json:"never,omitempty"`
	// Code and Message are the error of the action; an empty code is action_failed.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// Effect does what was asked for and still ends in an error.
	Effect bool `json:"effect,omitempty"`
	// Remove takes the server of a failed create away again, instead of leaving it.
	Remove bool `json:"remove,omitempty"`
}

func (f *ActionFault) check() error {
	if f.Command != "" && !slices.Contains(commands, f.Command) {
		return fmt.Errorf("unknown command %q", f.Command)
	}
	if f.Skip < 0 {
		return errors.New("numbers must not be negative")
	}
	if f.Never && (f.Effect || f.Remove) {
		return errors.New("an action that never ends has no effect")
	}
	if f.Remove && (f.Effect || f.Command != commandCreateServer) {
		return fmt.Errorf("only a failed %s removes its server", commandCreateServer)
	}
	return nil
}

// InjectAction adds faults behind those that wait already.
func (s *Simulator) InjectAction(added ...ActionFault) error {
	for i := range added {
		if err := added[i].check(); err != nil {
			return err
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, one := range added {
		if one.Count == 0 {
			one.Count = 1
		}
		s.actionFaults = append(s.actionFaults, &one)
	}
	return nil
}

// nextActionFault returns the fault of an action that begins; nil when there is none.
func (s *Simulator) nextActionFault(command string) *ActionFault {
	for i, one := range s.actionFaults {
		if one.Command != "" && one.Command != command {
			continue
		}
		if one.Skip > 0 {
			one.Skip--
			continue
		}
		if one.Count > 0 {
			one.Count--
		}
		if one.Count == 0 {
			s.actionFaults = slices.Delete(s.actionFaults, i, i+1)
		}
		return pointer(*one)
	}
	return nil
}

// begin accepts an action on a server and what else change names. The mutex is held.
func (s *Simulator) begin(command string, sv *server, change func(*action)) *action {
	a := s.newAction(command)
	a.Server, a.Resources = sv.ID, []resource{{sv.ID, typeServer}}
	if change != nil {
		change(a)
	}
	if !a.Waits {
		s.schedule(a)
	}
	return a
}

// newAction makes one that was not begun. The mutex is held.
func (s *Simulator) newAction(command string) *action {
	s.serial++
	a := &action{
		ID: firstActionID + s.serial, Command: command, Status: actionRunning, Started: s.now(),
		Latency: s.settings.latency(command), Fault: s.nextActionFault(command),
	}
	s.actions[a.ID] = a
	return a
}

// schedule lets an action run its time. The mutex is held.
func (s *Simulator) schedule(a *action) {
	a.Waits, a.Started = false, s.now()
	if a.Fault != nil && a.Fault.Never {
		return
	}
	s.after(a.Latency, func() { s.due(a) })
}

// due ends an action: the guest does its part first.
func (s *Simulator) due(a *action) {
	s.mutex.Lock()
	if a.final() {
		s.mutex.Unlock()
		return
	}
	failed := a.Fault != nil && !a.Fault.Effect
	var work func() error
	if !failed {
		work = s.guestWork(a)
	}
	s.mutex.Unlock()
	var err error
	if work != nil {
		err = work()
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.ctx.Err() != nil || a.final() {
		return // the next simulator on this state does it again, or the server was lost meanwhile
	}
	switch {
	case failed:
		s.undo(a)
		s.finish(a, a.Fault.Code, a.Fault.Message)
	case err != nil:
		s.undo(a)
		s.finish(a, "", fmt.Sprintf("the machine behind the server failed: %v", err))
	default:
		s.apply(a)
		if a.Fault != nil {
			s.finish(a, a.Fault.Code, a.Fault.Message)
		} else {
			s.finish(a, "", "")
		}
	}
	s.save()
}

// finish makes an action final, and begins or ends the next one. The mutex is held.
func (s *Simulator) finish(a *action, code, message string) {
	a.Finished, a.Status = s.now(), actionSuccess
	if code != "" || message != "" || a.Fault != nil {
		a.Status, a.ErrorCode, a.ErrorMessage = actionError, code, message
	}
	if sv := s.servers[a.Server]; sv != nil {
		sv.LockedUntil = a.Finished.Add(time.Duration(s.settings.LockWindow) * time.Millisecond)
	}
	next := s.actions[a.Next]
	if next == nil {
		return
	}
	if a.Status == actionError {
		next.Waits = false
		s.finish(next, "action_failed", "the server was not created")
		return
	}
	s.servers[a.Server].Status = statusStarting
	s.schedule(next)
}

// locked tells whether an action holds a server. The mutex is held.
func (s *Simulator) locked(sv *server) bool {
	return s.now().Before(sv.LockedUntil) || s.busy(func(a *action) bool { return a.Server == sv.ID })
}

// busy tells whether an action of these runs. The mutex is held.
func (s *Simulator) busy(which func(*action) bool) bool {
	for _, a := range s.actions {
		if !a.final() && which(a) {
			return true
		}
	}
	return false
}
