package vercel

import "net/http"

// session returns the one that the path names, with the mutex held unless there is an error.
func (s *Simulator) session(r *http.Request) (*session, *sandbox, error) {
	s.mutex.Lock()
	sn := s.sessions[r.PathValue("session")]
	if sn == nil {
		s.mutex.Unlock()
		return nil, nil, notFound("Sandbox session")
	}
	sb := s.sandboxOf(sn)
	if sb == nil { // its deletion is under way
		s.mutex.Unlock()
		return nil, nil, notFound("Sandbox session")
	}
	return sn, sb, nil
}

// runningSession is session for requests that need it to run.
func (s *Simulator) runningSession(r *http.Request) (*session, *sandbox, error) {
	sn, sb, err := s.session(r)
	if err != nil {
		return nil, nil, err
	}
	if sn.Status == statusPending {
		settled := sn.settled
		s.mutex.Unlock()
		<-settled
		s.mutex.Lock()
	}
	if err := usableSession(sn); err != nil {
		s.mutex.Unlock()
		return nil, nil, err
	}
	sb.LastUsedAt = s.now()
	return sn, sb, nil
}

type sessionAnswer struct {
	Session sessionView `json:"session"`
}

func (s *Simulator) getSession(w http.ResponseWriter, r *http.Request) error {
	sn, sb, err := s.session(r)
	if err != nil {
		return err
	}
	defer s.mutex.Unlock()
	writeJSON(w, http.StatusOK, struct {
		Session sessionView `json:"session"`
		Routes  []routeView `json:"routes"`
	}{s.viewSession(sn), s.viewRoutes(sb)})
	return nil
}

type stopAnswer struct {
	Session  sessionView   `json:"session"`
	Sandbox  sandboxView   `json:"sandbox"`
	Snapshot *snapshotView `json:"snapshot,omitempty"`
}

func (s *Simulator) stopSession(w http.ResponseWriter, r *http.Request) error {
	if err := decodeBody(s.readBody(r), &struct{}{}); err != nil {
		return err
	}
	sn, sb, err := s.session(r)
	if err != nil {
		return err
	}
	before := sb.CurrentSnapshot
	switch {
	case sn.Status == statusRunning:
		s.beginEnd(sb, sn, statusStopping)
		s.mutex.Unlock()
		err := s.finishEnd(sb, sn, ending{automatic: true})
		s.mutex.Lock()
		if err != nil {
			s.mutex.Unlock()
			return err
		}
	case sn.Status.ended() && !s.settings.StopTwiceGone:
	default:
		defer s.mutex.Unlock()
		return usableSession(sn)
	}
	defer s.mutex.Unlock()
	answer := stopAnswer{Session: s.viewSession(sn), Sandbox: s.viewSandbox(sb)}
	if sp := s.snapshots[sb.CurrentSnapshot]; sp != nil && sb.CurrentSnapshot != before {
		view := s.viewSnapshot(sp)
		answer.Snapshot = &view
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// takeSnapshot answers POST /v{generation}/…/snapshot. The generations differ in the expiration when
// neither the request nor the sandbox has one.
func (s *Simulator) takeSnapshot(generation int) handler {
	fallback := int64(defaultExpiry)
	if generation > 2 {
		fallback = newestExpiry
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		var body struct {
			Expiration *int64 `json:"expiration"`
		}
		if err := decodeBody(s.readBody(r), &body); err != nil {
			return err
		}
		if body.Expiration != nil {
			if err := checkExpiration("expiration", *body.Expiration); err != nil {
				return err
			}
		}
		sn, sb, err := s.runningSession(r)
		if err != nil {
			return err
		}
		s.beginEnd(sb, sn, statusSnapshotting)
		sn.SnapshottedAt = s.now()
		during := s.viewSession(sn)
		s.mutex.Unlock()
		err = s.finishEnd(sb, sn, ending{expiration: body.Expiration, fallback: fallback})
		if err != nil {
			return err
		}
		s.mutex.Lock()
		defer s.mutex.Unlock()
		sp := s.snapshots[sb.CurrentSnapshot]
		if sp == nil {
			return fail(http.StatusInternalServerError, codeInternal, "The snapshot is gone already.")
		}
		// The service answers while the session still ends.
		writeJSON(w, http.StatusCreated, struct {
			Snapshot snapshotView `json:"snapshot"`
			Session  sessionView  `json:"session"`
		}{s.viewSnapshot(sp), during})
		return nil
	}
}

func (s *Simulator) extendTimeout(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Duration *int64 `json:"duration"`
	}
	if err := decodeBody(s.readBody(r), &body); err != nil {
		return err
	}
	if body.Duration == nil || *body.Duration < minTimeout {
		return badRequest("`duration` should be >= %d", minTimeout)
	}
	sn, _, err := s.runningSession(r)
	if err != nil {
		return err
	}
	defer s.mutex.Unlock()
	if sn.Timeout+*body.Duration > s.plan.session.Milliseconds() {
		return timeoutInvalid(s.plan)
	}
	sn.Timeout += *body.Duration
	sn.UpdatedAt = s.now()
	s.armTimeout(sn)
	s.save()
	writeJSON(w, http.StatusOK, sessionAnswer{s.viewSession(sn)})
	return nil
}

func (s *Simulator) setNetworkPolicy(w http.ResponseWriter, r *http.Request) error {
	parsed, err := parsePolicy(s.readBody(r), s.currentSettings())
	if err != nil {
		return err
	}
	sn, _, err := s.runningSession(r)
	if err != nil {
		return err
	}
	defer s.mutex.Unlock()
	sn.Policy, sn.UpdatedAt = parsed, s.now()
	s.save()
	writeJSON(w, http.StatusOK, sessionAnswer{s.viewSession(sn)})
	return nil
}
