package vercel

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ending says how a session ends.
type ending struct {
	// automatic: a persistent sandbox is saved. Otherwise a snapshot was asked for.
	automatic bool
	// expiration is what a snapshot that was asked for has instead of the sandbox's.
	expiration *int64
	// fallback is the expiration when neither says.
	fallback int64
	// discard: nothing is saved, as the sandbox goes.
	discard bool
}

// inTransition is the error for requests to a session that is about to end.
func inTransition(sn *session) error {
	code := codeStopping
	if sn.Status == statusSnapshotting {
		code = codeSnapshotting
	}
	return fail(http.StatusUnprocessableEntity, code, "The sandbox is %s.", sn.Status)
}

// usableSession returns an error when no command can run in the session. The mutex is held.
func usableSession(sn *session) error {
	switch sn.Status {
	case statusRunning:
		return nil
	case statusStopped:
		return fail(http.StatusGone, codeStopped, "The sandbox was stopped.")
	case statusFailed:
		return fail(http.StatusGone, codeFailed, "The sandbox failed.")
	}
	return inTransition(sn)
}

// beginEnd puts a running session into a transition, from where only finishEnd leads. The mutex is held.
func (s *Simulator) beginEnd(sb *sandbox, sn *session, transition status) {
	now := s.now()
	sn.Status, sn.RequestedStopAt, sn.UpdatedAt, sb.StatusUpdatedAt = transition, now, now, now
	sn.settled = make(chan struct{})
	if sn.stopTimer != nil {
		sn.stopTimer()
		sn.stopTimer = nil
	}
	for _, c := range sn.Commands {
		c.abandon()
	}
}

// finishEnd ends the processes, saves the disk if that is due, and stops the session, at once or after
// the delay of the settings. The mutex is not held. The session has left its transition on an error.
func (s *Simulator) finishEnd(sb *sandbox, sn *session, how ending) error {
	err := s.halt(sn)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	finish := func() {
		if err == nil {
			err = s.concludeEnd(sb, sn, how)
		}
		if err != nil {
			sn.Status = statusFailed
		}
		close(sn.settled)
		sn.settled = nil
		s.save()
	}
	if how.discard || s.settings.LazyStop == 0 {
		finish()
		return err
	}
	if !how.automatic { // its snapshot is in the reply
		if sp := s.keep(sb, sn, how); sp != nil {
			how.discard = true
		}
	}
	s.later(s.settings.LazyStop, finish)
	return nil
}

// concludeEnd makes the session stopped. The mutex is held, and the disk is moved, not copied.
func (s *Simulator) concludeEnd(sb *sandbox, sn *session, how ending) error {
	if !how.discard && (!how.automatic || sn.Persistent) {
		if s.keep(sb, sn, how) == nil {
			return fail(http.StatusInternalServerError, codeInternal, "The disk of the session cannot be kept.")
		}
	}
	now := s.now()
	sn.Status, sn.StoppedAt, sn.UpdatedAt = statusStopped, now, now
	sb.StatusUpdatedAt, sb.LastUsedAt = now, now
	sb.EndedDuration += sn.StoppedAt - sn.StartedAt
	return errors.Join(removeDisk(s.sessionDisk(sn.ID)), os.RemoveAll(filepath.Dir(s.logFile(sn.ID, ""))))
}

// later calls f with the mutex held: now when there is no delay, and the mutex is held already.
func (s *Simulator) later(delay int64, f func()) {
	if delay == 0 {
		f()
		return
	}
	s.config.Clock.AfterFunc(time.Duration(delay)*time.Millisecond, func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if !s.closed {
			f()
		}
	})
}

// armTimeout makes the session stop by itself. The mutex is held.
func (s *Simulator) armTimeout(sn *session) {
	if sn.stopTimer != nil {
		sn.stopTimer()
	}
	left := time.Duration(sn.deadline()-s.now()) * time.Millisecond
	sn.stopTimer = s.config.Clock.AfterFunc(max(left, 0), func() {
		leave, open := s.enter()
		if !open {
			return
		}
		defer leave()
		s.mutex.Lock()
		sb := s.sandboxOf(sn)
		if sb == nil || sn.Status != statusRunning || s.now() < sn.deadline() {
			s.mutex.Unlock()
			return
		}
		s.beginEnd(sb, sn, statusStopping)
		s.mutex.Unlock()
		_ = s.finishEnd(sb, sn, ending{automatic: true}) // the session shows that it failed
	})
}

// tidy lets time do its work: expired snapshots go, and so do sandboxes that could not be resumed for
// too long. It runs before each request. The error is why the state cannot be kept.
func (s *Simulator) tidy() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now, changed := s.now(), false
	for _, sp := range s.snapshots {
		if !sp.Deleted && sp.expired(now) {
			s.erase(sp)
			changed = true
		}
	}
	before := len(s.sandboxes)
	s.sandboxes = slices.DeleteFunc(s.sandboxes, func(sb *sandbox) bool {
		sn := s.sessions[sb.CurrentSession]
		if !sn.Status.ended() || now-sb.LastUsedAt < unresumableLife {
			return false
		}
		if sp := s.snapshots[sb.CurrentSnapshot]; sb.Persistent && sp != nil && !sp.Deleted {
			return false
		}
		for id, other := range s.sessions {
			if other.SandboxUID == sb.UID {
				delete(s.sessions, id)
			}
		}
		return true
	})
	if changed || len(s.sandboxes) != before {
		s.save()
	}
	return s.saveError
}
