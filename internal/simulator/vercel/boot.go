package vercel

import "net/http"

// addSession registers a pending session as the current one. The mutex is held.
func (s *Simulator) addSession(sb *sandbox) *session {
	now := s.now()
	sn := &session{
		Serial: s.nextSerial(), ID: randomID("sbx_"), SandboxUID: sb.UID, SandboxName: sb.Name, Project: sb.Project,
		Status: statusPending, Persistent: sb.Persistent, Region: sb.Region, VCPUs: sb.VCPUs, Runtime: sb.Runtime,
		Cwd: s.config.WorkingDirectory, User: "vercel-sandbox", Timeout: sb.Timeout, Policy: sb.Policy, Env: sb.Env,
		RequestedAt: now, CreatedAt: now, UpdatedAt: now, settled: make(chan struct{}),
	}
	if sb.Image != "" {
		sn.User = "ubuntu"
	}
	if sp := s.snapshots[sb.CurrentSnapshot]; sp != nil && !sp.Deleted {
		sn.SourceSnapshot = sp.ID
		sp.LastUsedAt, sp.UpdatedAt = now, now
	}
	s.sessions[sn.ID] = sn
	s.sessionsMade++
	sb.CurrentSession, sb.StatusUpdatedAt, sb.LastUsedAt = sn.ID, now, now
	return sn
}

// boot gives a pending session its disk and lets it run.
func (s *Simulator) boot(sb *sandbox, sn *session) error {
	err := s.fillDisk(sb, sn)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := s.now()
	sn.Status, sn.StartedAt, sn.UpdatedAt, sb.StatusUpdatedAt = statusRunning, now, now, now
	if err != nil {
		sn.Status = statusFailed
	} else {
		s.armTimeout(sn)
	}
	close(sn.settled)
	sn.settled = nil
	s.save()
	return err
}

// settle waits until the current session of a sandbox is in no transition and returns it. The mutex is
// held before and after, and not meanwhile.
func (s *Simulator) settle(r *http.Request, sb *sandbox) (*session, error) {
	for {
		sn := s.sessions[sb.CurrentSession]
		if sn == nil {
			return nil, notFound("Sandbox")
		}
		settled := sn.settled
		if settled == nil {
			return sn, nil
		}
		s.mutex.Unlock()
		var err error
		select {
		case <-settled:
		case <-r.Context().Done():
			err = errClientGone
		}
		s.mutex.Lock()
		if err != nil {
			return nil, err
		}
	}
}

// resume returns the running session of a sandbox, a new one when the last has ended. The mutex is held
// before and after, and not meanwhile.
func (s *Simulator) resume(r *http.Request, sb *sandbox) (sn *session, resumed bool, err error) {
	if current := s.sessions[sb.CurrentSession]; current.settled != nil && current.Status != statusPending && s.settings.ImpatientResume {
		return nil, false, inTransition(current)
	}
	sn, err = s.settle(r, sb)
	if err != nil {
		return nil, false, err
	}
	if !sn.Status.ended() {
		return sn, false, nil
	}
	if err := s.resumable(sb); err != nil {
		return nil, false, err
	}
	if err := s.room(); err != nil {
		return nil, false, err
	}
	sn = s.addSession(sb)
	s.mutex.Unlock()
	err = s.boot(sb, sn)
	s.mutex.Lock()
	return sn, true, err
}

// resumable tells whether a sandbox that does not run can run again. The mutex is held.
func (s *Simulator) resumable(sb *sandbox) error {
	if !sb.Persistent {
		if s.settings.CleanResume {
			sb.CurrentSnapshot = ""
			return nil
		}
		return fail(http.StatusGone, codeSnapshotNotFound, "The sandbox is not persistent and has no snapshot to resume from.")
	}
	if sb.CurrentSnapshot == "" {
		return fail(http.StatusGone, codeSnapshotNotFound, "The sandbox has no snapshot to resume from.")
	}
	_, err := s.usable(sb.CurrentSnapshot, sb.Project, sb.Region)
	return err
}
