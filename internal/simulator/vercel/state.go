package vercel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// stateVersion changes with the form of the state file.
const stateVersion = 1

// state is what a state file holds.
type state struct {
	Version      int
	Serial       int64
	SessionsMade int
	Sandboxes    []*sandbox
	Sessions     []*session
	Snapshots    []*snapshot
	Commands     map[string][]commandView // by session
}

func (s *Simulator) stateFile() string { return filepath.Join(s.dir, "state.json") }

func (s *Simulator) logFile(session, command string) string {
	return filepath.Join(s.dir, "logs", session, command+".json")
}

// save replaces the state file in one step. The mutex is held. Without a folder that stays there is
// nothing to save.
func (s *Simulator) save() {
	if s.ownsDir || s.closed {
		return
	}
	now := state{
		Version: stateVersion, Serial: s.serial, SessionsMade: s.sessionsMade, Sandboxes: s.sandboxes,
		Sessions: s.sortedSessions(), Snapshots: s.sortedSnapshots(), Commands: map[string][]commandView{},
	}
	for id, sn := range s.sessions {
		for _, c := range sn.Commands {
			now.Commands[id] = append(now.Commands[id], c.view())
		}
	}
	if err := simkit.ReplaceJSON(s.stateFile(), now); err != nil {
		s.saveError = fmt.Errorf("save the state: %w", err)
	}
}

// saveLog keeps the output of a command that has ended, unless its session has ended too: then nobody
// can ask for it any more, and the folder goes. The mutex is held.
func (s *Simulator) saveLog(c *command) {
	sn := s.sessions[c.SessionID]
	if s.ownsDir || sn == nil || sn.Status.ended() {
		return
	}
	file := s.logFile(c.SessionID, c.ID)
	c.log.mutex.Lock()
	lines := c.log.lines
	c.log.mutex.Unlock()
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = simkit.ReplaceJSON(file, lines)
	}
	if err != nil {
		s.saveError = fmt.Errorf("save the output of a command: %w", err)
	}
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
	s.serial, s.sessionsMade, s.sandboxes = left.Serial, left.SessionsMade, left.Sandboxes
	for _, sp := range left.Snapshots {
		s.snapshots[sp.ID] = sp
	}
	for _, sn := range left.Sessions {
		s.sessions[sn.ID] = sn
		for _, view := range left.Commands[sn.ID] {
			sn.Commands = append(sn.Commands, s.restoredCommand(view))
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, sn := range left.Sessions {
		s.restore(sn)
	}
	s.save()
	return s.saveError
}

// restore ends what the end of the earlier simulator interrupted. A running session goes on, without
// the commands that ran. The mutex is held.
func (s *Simulator) restore(sn *session) {
	sb := s.sandboxOf(sn)
	if sb == nil {
		delete(s.sessions, sn.ID)
		return
	}
	_, err := os.Stat(s.sessionDisk(sn.ID))
	switch {
	case sn.Status.ended():
	case sn.Status == statusPending, err != nil:
		sn.Status = statusFailed
	case sn.Status == statusRunning:
		s.armTimeout(sn)
	default:
		if s.concludeEnd(sb, sn, ending{automatic: sn.Status == statusStopping}) != nil {
			sn.Status = statusFailed
		}
	}
}

// restoredCommand makes a command of an earlier simulator. One that ran then was killed.
func (s *Simulator) restoredCommand(view commandView) *command {
	c := &command{
		ID: view.ID, Name: view.Name, Args: view.Args, Cwd: view.Cwd, SessionID: view.SessionID, StartedAt: view.StartedAt,
		log: newCommandLog(), ended: make(chan struct{}),
	}
	content, err := os.ReadFile(s.logFile(c.SessionID, c.ID))
	if err == nil {
		err = json.Unmarshal(content, &c.log.lines)
	}
	if err != nil {
		c.log.lines = []logLine{{Stream: "error", Data: errorDetail{codeUnsupported, "The simulator was restarted and has lost the output."}}}
	}
	exit, ended := 137, time.Now().UnixMilli()
	if view.ExitCode != nil {
		exit, ended = *view.ExitCode, view.StartedAt+*view.DurationMs
	}
	c.finish(exit, ended)
	return c
}
