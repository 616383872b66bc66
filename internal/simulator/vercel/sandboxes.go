package vercel

import (
	"net/http"
	"slices"
)

// find returns the sandbox that the path and the query name, with the mutex held unless there is an
// error.
func (s *Simulator) find(r *http.Request) (*sandbox, error) {
	project, err := s.project(r.URL.Query().Get("projectId"), "projectId")
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	sb := s.findSandbox(project, r.PathValue("name"))
	if sb == nil {
		s.mutex.Unlock()
		return nil, notFound("Sandbox")
	}
	return sb, nil
}

// findToChange is find for a request with a body of changes, which is read first.
func (s *Simulator) findToChange(r *http.Request, body any) (*sandbox, error) {
	if err := decodeBody(s.readBody(r), body, "keepLastSnapshots"); err != nil {
		return nil, err
	}
	return s.find(r)
}

func boolean(r *http.Request, name string) (bool, error) {
	switch r.URL.Query().Get(name) {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, badRequest("`%s` should be true or false", name)
}

// getSandbox changes nothing, unless it is asked to resume.
func (s *Simulator) getSandbox(w http.ResponseWriter, r *http.Request) error {
	resume, err := boolean(r, "resume")
	if err != nil {
		return err
	}
	sb, err := s.find(r)
	if err != nil {
		return err
	}
	defer s.mutex.Unlock()
	sn, resumed := s.sessions[sb.CurrentSession], false
	if resume {
		if sn, resumed, err = s.resume(r, sb); err != nil {
			return err
		}
	}
	writeJSON(w, http.StatusOK, bootedAnswer{Sandbox: s.viewSandbox(sb), Session: s.viewSession(sn), Routes: s.viewRoutes(sb), Resumed: resumed})
	return nil
}

type updateBody struct {
	configuration
	CurrentSnapshotID *string `json:"currentSnapshotId"`
	Runtime           *string `json:"runtime"`
}

// updateSandbox merges. Most of it counts from the next session on; ports count at once.
func (s *Simulator) updateSandbox(w http.ResponseWriter, r *http.Request) error {
	resume, err := boolean(r, "resume")
	if err != nil {
		return err
	}
	var body updateBody
	sb, err := s.findToChange(r, &body)
	if err != nil {
		return err
	}
	defer s.mutex.Unlock()
	if resume {
		if _, _, err := s.resume(r, sb); err != nil {
			return err
		}
	}
	if body.Env != nil && s.settings.EnvUpdate == EnvUpdateRejected {
		return badRequest("should NOT have additional property `env`")
	}
	changed := *sb
	if err := body.apply(&changed, s.plan, s.settings); err != nil {
		return err
	}
	if body.Runtime != nil {
		if !slices.Contains(runtimes, *body.Runtime) {
			return badRequest("`runtime` should be equal to one of the allowed values")
		}
		changed.Runtime, changed.Image = *body.Runtime, ""
	}
	if body.CurrentSnapshotID != nil {
		if _, err := s.usable(*body.CurrentSnapshotID, sb.Project, changed.Region); err != nil {
			return err
		}
		changed.CurrentSnapshot = *body.CurrentSnapshotID
	}
	changed.UpdatedAt = s.now()
	*sb = changed
	if body.Env != nil && s.settings.EnvUpdate == EnvUpdateImmediate {
		s.sessions[sb.CurrentSession].Env = sb.Env
	}
	answer := struct {
		Sandbox sandboxView  `json:"sandbox"`
		Routes  *[]routeView `json:"routes,omitempty"`
	}{Sandbox: s.viewSandbox(sb)}
	if body.Ports != nil {
		routes := s.viewRoutes(sb)
		answer.Routes = &routes
	}
	s.save()
	writeJSON(w, http.StatusOK, answer)
	return nil
}

type sandboxAnswer struct {
	Sandbox sandboxView `json:"sandbox"`
}

// deleteSandbox ends the session and takes the name away; snapshots stay unless the query says.
func (s *Simulator) deleteSandbox(w http.ResponseWriter, r *http.Request) error {
	orphans, err := boolean(r, "deleteOrphanSnapshots")
	if err != nil {
		return err
	}
	sb, err := s.find(r)
	if err != nil {
		return err
	}
	defer s.mutex.Unlock()
	sn, err := s.settle(r, sb)
	if err != nil {
		return err
	}
	if s.findSandbox(sb.Project, sb.Name) != sb { // another delete was faster
		return notFound("Sandbox")
	}
	if sn.Status == statusRunning {
		s.beginEnd(sb, sn, statusStopping)
		s.mutex.Unlock()
		err := s.finishEnd(sb, sn, ending{automatic: true, discard: !s.currentSettings().DeleteSnapshots})
		s.mutex.Lock()
		if err != nil {
			return err
		}
	}
	answer := sandboxAnswer{s.viewSandbox(sb)}
	s.sandboxes = slices.DeleteFunc(s.sandboxes, func(other *sandbox) bool { return other == sb })
	for id, other := range s.sessions {
		if other.SandboxUID == sb.UID {
			delete(s.sessions, id)
		}
	}
	if orphans {
		s.later(s.settings.OrphanDelay, func() { s.deleteOrphans(sb.UID) })
	}
	s.save()
	writeJSON(w, http.StatusOK, answer)
	return nil
}

type forkBody struct {
	configuration
	Name  *string `json:"name"`
	Image *string `json:"image"`
}

// forkSandbox copies the configuration, environment and all, and begins at the current snapshot; the
// live disk of the source plays no part.
func (s *Simulator) forkSandbox(w http.ResponseWriter, r *http.Request) error {
	var body forkBody
	source, err := s.findToChange(r, &body)
	if err != nil {
		return err
	}
	sb := *source
	from, settings := source.CurrentSnapshot, s.settings
	s.mutex.Unlock()
	sb.UID, sb.Name = randomID("uid_"), randomName()
	sb.Subdomains, sb.EndedDuration, sb.CurrentSession, sb.CurrentSnapshot = nil, 0, "", ""
	if err := body.apply(&sb, s.plan, settings); err != nil {
		return err
	}
	if body.Name != nil {
		sb.Name = *body.Name
	}
	if err := checkImage(body.Image); err != nil {
		return err
	}
	if body.Image != nil {
		sb.Runtime, sb.Image = "", pinned(*body.Image)
		from = ""
	}
	return s.launch(w, &sb, from)
}
