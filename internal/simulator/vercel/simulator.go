package vercel

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/local"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// Simulator is the service. It implements [http.Handler] and is safe for concurrent use.
type Simulator struct {
	simkit.Recorder
	simkit.FaultList

	config    Config
	plan      limits
	dir       string
	ownsDir   bool
	executor  *local.Backend
	endpoints http.Handler
	// active counts what Close waits for.
	active sync.WaitGroup

	// mutex guards what follows, and all that hangs on it. It is not held while commands run and
	// disks are copied.
	mutex     sync.Mutex
	settings  Settings
	serial    int64
	sandboxes []*sandbox
	sessions  map[string]*session
	snapshots map[string]*snapshot
	// sessionsMade counts all sessions there ever were, also those of deleted sandboxes.
	sessionsMade int
	closed       bool
	// saveError is why a save failed; from then on nothing is answered.
	saveError error
	// held keeps others from the state folder.
	held *flock.Flock
}

// New makes a simulator, with what an earlier one left in the state folder.
func New(config Config) (*Simulator, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Simulator{
		config: config, plan: plans[config.Plan], dir: config.Dir, settings: config.Settings,
		FaultList: simkit.FaultList{WriteError: writeFault, EndStream: endStream},
		sessions:  map[string]*session{}, snapshots: map[string]*snapshot{},
	}
	s.endpoints = s.routes()
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "sandlot-sim-"); err != nil {
			return nil, err
		}
		s.ownsDir = true
	}
	if err := s.makeFolders(); err != nil {
		return nil, fmt.Errorf("prepare the state folder: %w", err)
	}
	if s.held, err = simkit.LockFolder(s.dir); err != nil {
		return nil, fmt.Errorf("lock the state folder: %w", err)
	}
	s.executor = local.New(local.Config{DataDir: filepath.Join(s.dir, "executor")})
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("read the state: %w", err), s.held.Close())
	}
	return s, nil
}

// Close ends all commands and waits for the requests under way. Without a state folder of its own the simulator removes what it made.
func (s *Simulator) Close() error {
	s.mutex.Lock()
	s.closed = true
	var machines []*machine
	for _, sn := range s.sessions {
		if sn.stopTimer != nil {
			sn.stopTimer()
		}
		if sn.machine != nil {
			machines = append(machines, sn.machine)
			sn.machine = nil
		}
	}
	err := s.saveError
	s.mutex.Unlock()
	for _, one := range machines {
		err = errors.Join(err, one.close())
	}
	s.active.Wait()
	err = errors.Join(err, s.held.Close())
	if s.ownsDir {
		err = errors.Join(err, removeDisk(s.dir))
	}
	return err
}

// enter announces work that has to call leave. Nothing begins once the simulator is closed.
func (s *Simulator) enter() (leave func(), open bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return nil, false
	}
	s.active.Add(1)
	return s.active.Done, true
}

// Configure changes the settings.
func (s *Simulator) Configure(settings Settings) error {
	if err := settings.check(); err != nil {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.settings = settings
	return nil
}

// now is the time by the simulator's clock.
func (s *Simulator) now() ms { return milliseconds(s.config.Clock.Now()) }

// nextSerial numbers objects in the order in which they were made. The mutex is held.
func (s *Simulator) nextSerial() int64 {
	s.serial++
	return s.serial
}

// findSandbox returns nil when there is none. The mutex is held.
func (s *Simulator) findSandbox(project, name string) *sandbox {
	for _, sb := range s.sandboxes {
		if sb.Project == project && sb.Name == name {
			return sb
		}
	}
	return nil
}

// sandboxOf returns the sandbox of a session; nil when it was deleted. The mutex is held.
func (s *Simulator) sandboxOf(sn *session) *sandbox {
	for _, sb := range s.sandboxes {
		if sb.UID == sn.SandboxUID {
			return sb
		}
	}
	return nil
}
