package hetzner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// Simulator is the service. It implements [http.Handler] and is safe for concurrent use.
type Simulator struct {
	simkit.Recorder
	simkit.FaultList

	config Config
	routes []route
	// ctx ends with the simulator; guests see it.
	ctx    context.Context
	cancel context.CancelFunc
	// active counts what Close waits for.
	active sync.WaitGroup

	// mutex guards what follows, and all that hangs on it. It is not held while guests work.
	mutex        sync.Mutex
	settings     Settings
	tokens       map[string]Access
	bucket       bucket
	serial       int64
	servers      map[int64]*server
	primaryIPs   map[int64]*primaryIP
	sshKeys      map[int64]*sshKey
	groups       map[int64]*placementGroup
	images       map[int64]*image
	actions      map[int64]*action
	actionFaults []*ActionFault
	timers       map[int]func()
	timerSerial  int
	closed       bool
	started      time.Time
	// guestErrors are those that no action could tell.
	guestErrors []string
	// saveError is why a save failed; from then on nothing is answered.
	saveError error
	// held keeps others from the state folder; nil without one.
	held *flock.Flock
}

// Access is what a token opens.
type Access string

// Values of [Access].
const (
	ReadWrite Access = "read-write"
	ReadOnly  Access = "read-only"
	Revoked   Access = "revoked"
)

// New makes a simulator, with what an earlier one left in the state folder.
func New(config Config) (*Simulator, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Simulator{
		FaultList: simkit.FaultList{WriteError: writeFault},
		config:    config, settings: config.Settings, tokens: map[string]Access{config.Token: ReadWrite},
		servers: map[int64]*server{}, primaryIPs: map[int64]*primaryIP{}, sshKeys: map[int64]*sshKey{},
		groups: map[int64]*placementGroup{}, images: map[int64]*image{}, actions: map[int64]*action{}, timers: map[int]func(){},
	}
	s.routes = s.allRoutes()
	s.started = s.now()
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for _, one := range systemImages(s.started) {
		s.images[one.ID] = one
	}
	if config.Dir == "" {
		return s, nil
	}
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("prepare the state folder: %w", err)
	}
	if s.held, err = simkit.LockFolder(config.Dir); err != nil {
		return nil, fmt.Errorf("lock the state folder: %w", err)
	}
	if err := s.load(); err != nil {
		s.cancel()
		return nil, errors.Join(fmt.Errorf("read the state: %w", err), s.held.Close())
	}
	return s, nil
}

// Close breaks off what guests do for actions, and waits for the requests under way. The guests stay.
func (s *Simulator) Close() error {
	s.mutex.Lock()
	s.closed = true
	for _, stop := range s.timers {
		stop()
	}
	err := s.saveError
	s.mutex.Unlock()
	s.cancel()
	s.active.Wait()
	if s.held != nil {
		err = errors.Join(err, s.held.Close())
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

// after calls f, without the mutex, once that many ms have passed. The mutex is held.
func (s *Simulator) after(delay int64, f func()) {
	if s.closed {
		return
	}
	s.timerSerial++
	key := s.timerSerial
	s.timers[key] = s.config.Clock.AfterFunc(time.Duration(delay)*time.Millisecond, func() {
		leave, open := s.enter()
		if !open {
			return
		}
		defer leave()
		s.mutex.Lock()
		delete(s.timers, key)
		s.mutex.Unlock()
		f()
	})
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

// CurrentSettings returns the settings.
func (s *Simulator) CurrentSettings() Settings {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.settings
}

// SetToken gives a token of the project access, or takes it.
func (s *Simulator) SetToken(token string, access Access) error {
	if len(token) != TokenLength {
		return fmt.Errorf("the token has %d characters, not %d", len(token), TokenLength)
	}
	if access != ReadWrite && access != ReadOnly && access != Revoked {
		return fmt.Errorf("unknown access %q", access)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.tokens[token] = access
	return nil
}

// now is the time by the simulator's clock.
func (s *Simulator) now() time.Time { return s.config.Clock.Now().UTC() }

// What ids begin with.
const (
	firstID       = 10_000_000
	firstLargeID  = 1 << 52
	firstActionID = 500_000_000_000_000
)

// nextID numbers objects in the order in which they were made. The mutex is held.
func (s *Simulator) nextID() int64 {
	s.serial++
	if s.settings.LargeIDs {
		return firstLargeID + s.serial
	}
	return firstID + s.serial
}

var _ http.Handler = (*Simulator)(nil)
