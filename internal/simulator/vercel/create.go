package vercel

import (
	"net/http"
	"slices"
)

// createBody is what a create takes besides what it has in common with updates.
type createBody struct {
	configuration
	ProjectID string  `json:"projectId"`
	Name      *string `json:"name"`
	Source    *source `json:"source"`
	Runtime   *string `json:"runtime"`
	Image     *string `json:"image"`
}

// source is where the first disk comes from.
type source struct {
	Type       string  `json:"type"`
	URL        string  `json:"url"`
	Depth      *int    `json:"depth"`
	Revision   *string `json:"revision"`
	Username   *string `json:"username"`
	Password   *string `json:"password"`
	SnapshotID string  `json:"snapshotId"`
}

const (
	sourceGit      = "git"
	sourceTarball  = "tarball"
	sourceSnapshot = "snapshot"
)

// bootedAnswer is the answer of create, fork and get.
type bootedAnswer struct {
	Sandbox sandboxView `json:"sandbox"`
	Session sessionView `json:"session"`
	Routes  []routeView `json:"routes"`
	Resumed bool        `json:"resumed"`
}

// create answers POST /v{generation}/sandboxes; the generations differ in defaults.
func (s *Simulator) create(generation int) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if slices.Contains(s.currentSettings().WithoutGenerations, generation) {
			return fail(http.StatusNotFound, codeNotFound, "This generation of the API was switched off.")
		}
		var body createBody
		if err := decodeBody(s.readBody(r), &body, "keepLastSnapshots"); err != nil {
			return err
		}
		project, err := s.project(body.ProjectID, "projectId")
		if err != nil {
			return err
		}
		sb := s.newSandbox(project)
		if err := body.applySource(sb, generation); err != nil {
			return err
		}
		if generation == 4 {
			sb.DefaultExpiration = newestExpiry
		}
		if err := body.apply(sb, s.plan, s.currentSettings()); err != nil {
			return err
		}
		if generation == 4 && body.KeepLastSnapshots == nil && sb.Persistent {
			sb.KeepLast = &retention{Count: 1, DeleteEvicted: true}
		}
		if body.Name != nil {
			sb.Name = *body.Name
		}
		from := ""
		if body.Source != nil && body.Source.Type == sourceSnapshot {
			from = body.Source.SnapshotID
		}
		return s.launch(w, sb, from)
	}
}

// newSandbox returns one with the defaults that all generations share.
func (s *Simulator) newSandbox(project string) *sandbox {
	return &sandbox{
		UID: randomID("uid_"), Project: project, Name: randomName(), Persistent: true, Region: defaultRegion, VCPUs: defaultVCPUs,
		Timeout: defaultTimeout, Policy: &policy{Mode: modeAllowAll}, DefaultExpiration: defaultExpiry,
	}
}

// checkImage checks the reference of an image, if one is given.
func checkImage(image *string) error {
	if image != nil && (*image == "" || len(*image) > maxImage) {
		return badRequest("`image` should have between 1 and %d characters", maxImage)
	}
	return nil
}

// applySource checks where the disk comes from and sets runtime, image and source.
func (b *createBody) applySource(sb *sandbox, generation int) error {
	if b.Runtime != nil && b.Image != nil {
		return badRequest("`runtime` and `image` exclude each other")
	}
	if b.Runtime != nil {
		if generation != 2 {
			return badRequest("should NOT have additional property `runtime`")
		}
		if !slices.Contains(runtimes, *b.Runtime) {
			return badRequest("`runtime` should be equal to one of the allowed values")
		}
	}
	if err := checkImage(b.Image); err != nil {
		return err
	}
	if b.Source != nil {
		if err := b.Source.check(); err != nil {
			return err
		}
		if b.Source.Type == sourceSnapshot && (b.Runtime != nil || b.Image != nil) {
			return badRequest("`source.type` snapshot takes neither `runtime` nor `image`")
		}
		sb.SourceURL = b.Source.URL
	}
	switch {
	case b.Source != nil && b.Source.Type == sourceSnapshot:
	case b.Image != nil:
		sb.Image = pinned(*b.Image)
	case b.Runtime != nil:
		sb.Runtime = *b.Runtime
	case generation == 2:
		sb.Runtime = defaultRuntime
	default:
		sb.Image = pinned(defaultImage)
	}
	return nil
}

func (c *source) check() error {
	switch c.Type {
	case sourceGit, sourceTarball:
		if c.URL == "" || c.SnapshotID != "" {
			return badRequest("`source` of type %s takes a `url`", c.Type)
		}
		if c.Type == sourceTarball && (c.Depth != nil || c.Revision != nil || c.Username != nil || c.Password != nil) {
			return badRequest("`source` of type tarball takes a `url` only")
		}
		if c.Depth != nil && *c.Depth < 1 {
			return badRequest("`source.depth` should be >= 1")
		}
		if (c.Username == nil) != (c.Password == nil) {
			return badRequest("`source` takes both of `username` and `password`, or neither")
		}
	case sourceSnapshot:
		if c.SnapshotID == "" || c.URL != "" || c.Depth != nil || c.Revision != nil || c.Username != nil || c.Password != nil {
			return badRequest("`source` of type snapshot takes a `snapshotId` only")
		}
	default:
		return badRequest("`source.type` should be equal to one of the allowed values")
	}
	return nil
}

// launch gives the sandbox its name and its first session, from a snapshot unless that is empty, and
// answers.
func (s *Simulator) launch(w http.ResponseWriter, sb *sandbox, from string) error {
	if err := checkName(sb.Name); err != nil {
		return err
	}
	s.mutex.Lock()
	if s.findSandbox(sb.Project, sb.Name) != nil {
		s.mutex.Unlock()
		return fail(http.StatusBadRequest, codeBadRequest, "A sandbox named %q already exists for this project. Use GET to resume it.", sb.Name)
	}
	if from != "" {
		sp, err := s.usable(from, sb.Project, sb.Region)
		if err != nil {
			s.mutex.Unlock()
			return err
		}
		sb.CurrentSnapshot = sp.ID
		if sb.Image == "" {
			sb.Runtime, sb.Image = sp.Runtime, sp.Image
		}
	} else if err := s.knowsSource(sb.SourceURL); err != nil {
		s.mutex.Unlock()
		return err
	}
	if err := s.room(); err != nil {
		s.mutex.Unlock()
		return err
	}
	now := s.now()
	sb.Serial, sb.CreatedAt, sb.UpdatedAt = s.nextSerial(), now, now
	sn := s.addSession(sb)
	sn.sourceURL = sb.SourceURL
	s.sandboxes = append(s.sandboxes, sb)
	s.mutex.Unlock()

	if err := s.boot(sb, sn); err != nil {
		s.forget(sb)
		return err
	}
	s.mutex.Lock()
	answer := bootedAnswer{Sandbox: s.viewSandbox(sb), Session: s.viewSession(sn), Routes: s.viewRoutes(sb)}
	s.save()
	s.mutex.Unlock()
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// room refuses another session beyond the plan. The mutex is held.
func (s *Simulator) room() error {
	running := 0
	for _, sn := range s.sessions {
		if !sn.Status.ended() {
			running++
		}
	}
	if running >= s.plan.concurrent {
		return fail(http.StatusTooManyRequests, codeRateLimited, "The plan allows %d sandboxes to run at a time.", s.plan.concurrent)
	}
	return nil
}

// forget takes away a sandbox whose first boot failed.
func (s *Simulator) forget(sb *sandbox) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.sandboxes = slices.DeleteFunc(s.sandboxes, func(other *sandbox) bool { return other == sb })
	for id, sn := range s.sessions {
		if sn.SandboxUID == sb.UID {
			delete(s.sessions, id)
		}
	}
}

func (s *Simulator) currentSettings() Settings {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.settings
}
