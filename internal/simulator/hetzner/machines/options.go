package machines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/debian"
)

// Options say which machines boot, and where what they need is kept.
type Options struct {
	// ID marks everything that is made in the engine. Machines that are given one outlive Close, and are
	// found again by the next with the same ID and Dir. Empty means a random one, and that Close removes
	// everything.
	ID string
	// Dir keeps what the machines read, as an absolute path; empty means a temporary folder.
	Dir string
	// CacheDir keeps the root file system for a week, so that it is not made each time; empty means the
	// user's cache folder.
	CacheDir string
	// Preinstalled boots machines that have Docker installed already, which saves half a minute each.
	// Without it they are what the service has: the bare system.
	Preinstalled bool
	// Images are references of the local engine that the Docker of every machine has, too: there is no
	// registry that it could pull from.
	Images []string
	// Log is told of what takes long; nil means nobody is.
	Log func(message string)
}

var validID = regexp.MustCompile(`^[a-z0-9]{1,32}$`)

func (o Options) withDefaults() (Options, error) {
	if o.ID != "" && !validID.MatchString(o.ID) {
		return o, fmt.Errorf("the id %q is not 1 to 32 lower-case letters and digits", o.ID)
	}
	if (o.ID == "") != (o.Dir == "") {
		return o, errors.New("an id and a folder go together: machines that outlive their simulator read from it")
	}
	if o.Dir != "" && !filepath.IsAbs(o.Dir) {
		return o, fmt.Errorf("the folder %q is not an absolute path", o.Dir)
	}
	if o.CacheDir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return o, fmt.Errorf("find a folder for the cache: %w", err)
		}
		o.CacheDir = filepath.Join(cache, "sandlot-machines")
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	return o, nil
}

// programs are what machines are made with.
var programs = []struct{ name, hint string }{
	{"docker", "install docker.io (or another Docker Engine with its client)"},
	{debian.Program, "apt-get install mmdebstrap"},
}

// missing tells what this machine lacks.
func missing(ctx context.Context) error {
	for _, program := range programs {
		if _, err := exec.LookPath(program.name); err != nil {
			return fmt.Errorf("%w: %s", err, program.hint)
		}
	}
	// The machines read folders of this one, and their addresses are reached from it.
	if host := os.Getenv("DOCKER_HOST"); host != "" && !strings.HasPrefix(host, "unix://") {
		return fmt.Errorf("DOCKER_HOST is %s, not a local socket", host)
	}
	if _, err := docker(ctx, "version", "--format", "{{.Server.Version}}"); err != nil {
		return fmt.Errorf("start a Docker Engine on a local socket: %w", err)
	}
	return nil
}
