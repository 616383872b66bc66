package vercel

import (
	"slices"
	"sync"
	"time"
)

// command is one that was run in a session.
type command struct {
	ID        string
	Name      string
	Args      []string
	Cwd       string
	SessionID string
	StartedAt ms
	Exit      *int
	Duration  int64

	log *commandLog
	// mutex guards what is above from Exit on, and the next two.
	mutex   sync.Mutex
	process *process
	gone    bool
	// ended is closed when the command has ended, or its session ends.
	ended chan struct{}
	once  sync.Once
}

// started is the view of a command that was just started: without an exit code, also when it has one
// by now.
func (c *command) started() commandView {
	view := c.view()
	view.ExitCode, view.DurationMs = nil, nil
	return view
}

func (c *command) view() commandView {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	view := commandView{ID: c.ID, Name: c.Name, Args: slices.Clone(c.Args), Cwd: c.Cwd, SessionID: c.SessionID, StartedAt: c.StartedAt}
	if c.Exit != nil {
		exit, duration := *c.Exit, c.Duration
		view.ExitCode, view.DurationMs = &exit, &duration
	}
	return view
}

// finish notes how the command ended, unless its session was faster.
func (c *command) finish(exitCode int, now ms) {
	c.mutex.Lock()
	if c.Exit == nil && !c.gone {
		c.Exit, c.Duration = &exitCode, now-c.StartedAt
	}
	c.mutex.Unlock()
	c.log.end(nil)
	c.once.Do(func() { close(c.ended) })
}

// abandon ends the streams of a command that has not ended, as its session ends.
func (c *command) abandon() {
	c.mutex.Lock()
	finished := c.Exit != nil
	c.gone = !finished
	c.mutex.Unlock()
	if finished {
		return
	}
	c.log.end(&logLine{Stream: "error", Data: errorDetail{codeStopped, "The sandbox was stopped while the command ran."}})
	c.once.Do(func() { close(c.ended) })
}

// signal reaches a command that runs; others are left alone.
func (c *command) signal(number int) {
	c.mutex.Lock()
	running := c.process
	c.mutex.Unlock()
	if running != nil {
		running.signal(number)
	}
}

// lost tells whether the command did not end by itself.
func (c *command) lost() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.gone
}

// watch follows a started command to its end. timeout is in ms; 0 is none.
func (s *Simulator) watch(c *command, started *process, timeout int64) {
	c.mutex.Lock()
	c.process = started
	c.mutex.Unlock()
	stop := func() {}
	if timeout > 0 {
		const sigkill = 9
		stop = s.config.Clock.AfterFunc(time.Duration(timeout)*time.Millisecond, func() { started.signal(sigkill) })
	}
	leave, open := s.enter()
	if !open {
		leave = func() {}
	}
	go func() {
		defer leave()
		<-started.done
		stop()
		if started.err != nil {
			c.abandon()
			return
		}
		c.finish(started.exitCode, s.now())
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.saveLog(c)
		s.save()
	}()
}
