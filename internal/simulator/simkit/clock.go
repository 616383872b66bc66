package simkit

import (
	"slices"
	"sync"
	"time"
)

// Clock is where a simulator takes the time from.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once d has passed. The returned function keeps it from being called, unless it
	// was already.
	AfterFunc(d time.Duration, f func()) (stop func())
}

// WallClock is the time of this machine.
type WallClock struct{}

// Now implements [Clock].
func (WallClock) Now() time.Time { return time.Now() }

// AfterFunc implements [Clock].
func (WallClock) AfterFunc(d time.Duration, f func()) func() {
	timer := time.AfterFunc(d, f)
	return func() { timer.Stop() }
}

// VirtualClock stands still until it is advanced.
type VirtualClock struct {
	mutex  sync.Mutex
	now    time.Time
	timers []*virtualTimer
}

type virtualTimer struct {
	at time.Time
	f  func()
}

// NewVirtualClock returns a clock that shows start.
func NewVirtualClock(start time.Time) *VirtualClock {
	return &VirtualClock{now: start}
}

// Now implements [Clock].
func (c *VirtualClock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

// AfterFunc implements [Clock].
func (c *VirtualClock) AfterFunc(d time.Duration, f func()) func() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	timer := &virtualTimer{at: c.now.Add(d), f: f}
	c.timers = append(c.timers, timer)
	return func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.timers = slices.DeleteFunc(c.timers, func(t *virtualTimer) bool { return t == timer })
	}
}

// Advance moves the clock and calls what falls due, in order, and returns when all of that is done.
func (c *VirtualClock) Advance(d time.Duration) {
	c.mutex.Lock()
	end := c.now.Add(d)
	for {
		next := c.nextUntil(end)
		if next == nil {
			break
		}
		c.now = next.at
		c.mutex.Unlock()
		next.f() // unlocked, as it may look at the clock and set timers
		c.mutex.Lock()
	}
	c.now = end
	c.mutex.Unlock()
}

// nextUntil takes the earliest timer that is due at end; nil when there is none.
func (c *VirtualClock) nextUntil(end time.Time) *virtualTimer {
	var next *virtualTimer
	for _, timer := range c.timers {
		if !timer.at.After(end) && (next == nil || timer.at.Before(next.at)) {
			next = timer
		}
	}
	c.timers = slices.DeleteFunc(c.timers, func(t *virtualTimer) bool { return t == next })
	return next
}
