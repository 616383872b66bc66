package vercel

import (
	"fmt"
	"path/filepath"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// Config says what a simulator serves. The zero value works: it accepts [DefaultToken] for
// [DefaultTeam] and [DefaultProject] and forgets everything when it is closed.
type Config struct {
	// Token is what requests must bear; empty means [DefaultToken].
	Token string
	// Team is the id of the one team that the token opens; empty means [DefaultTeam].
	Team string
	// TeamSlug is accepted in its place by the query slug. Optional.
	TeamSlug string
	// Projects are those of the team; none means [DefaultProject] alone.
	Projects []Project
	// Plan is PlanHobby, PlanPro or PlanEnterprise; empty means PlanPro.
	Plan Plan
	// Dir keeps the state and the disks from one run to the next. It is an absolute path of a folder
	// that nobody else writes to. Empty means a temporary folder that Close removes.
	Dir string
	// Clock drives time-outs and expiry; nil means the wall clock.
	Clock Clock
	// WorkingDirectory is where sessions begin; empty means /vercel/sandbox. Clients must read it from
	// the session, and another value shows whether they do.
	WorkingDirectory string
	// Sources maps the URLs of git and tarball sources to .tar.gz files on this machine. The files of
	// the archive become those of the working directory.
	Sources map[string]string
	// Settings choose between the answers that nobody has seen. They can be changed later.
	Settings Settings
}

// Project is known by both of its names.
type Project struct {
	ID   string `json:"id"`
	Slug string `json:"slug,omitempty"`
}

// What a zero [Config] accepts.
const (
	DefaultToken = "simulated-token"
	DefaultTeam  = "team_simulated"
)

// DefaultProject is the one project of a zero [Config].
var DefaultProject = Project{ID: "prj_simulated", Slug: "simulated"}

const defaultWorkingDirectory = "/vercel/sandbox"

// withDefaults fills what was left empty and refuses what cannot work.
func (c Config) withDefaults() (Config, error) {
	if c.Token == "" {
		c.Token = DefaultToken
	}
	if c.Team == "" {
		c.Team = DefaultTeam
	}
	if len(c.Projects) == 0 {
		c.Projects = []Project{DefaultProject}
	}
	if c.Plan == "" {
		c.Plan = PlanPro
	}
	if _, known := plans[c.Plan]; !known {
		return c, fmt.Errorf("unknown plan %q", c.Plan)
	}
	if c.Clock == nil {
		c.Clock = simkit.WallClock{}
	}
	if c.WorkingDirectory == "" {
		c.WorkingDirectory = defaultWorkingDirectory
	}
	if !filepath.IsAbs(c.WorkingDirectory) || filepath.Clean(c.WorkingDirectory) != c.WorkingDirectory {
		return c, fmt.Errorf("working directory %q is not a clean absolute path", c.WorkingDirectory)
	}
	if c.Dir != "" && !filepath.IsAbs(c.Dir) {
		return c, fmt.Errorf("state folder %q is not an absolute path", c.Dir)
	}
	return c, c.Settings.check()
}
