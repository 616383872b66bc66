package client

import "sync"

// files is what one walk knows of the files that it touches. Resources of one list can pass paths on
// to each other (the first element is dropped and all others move up), in any order.
type files struct {
	mu       sync.Mutex
	locks    map[string]*sync.Mutex
	written  map[string]bool
	entering map[string]bool
	leaving  map[string]bool
}

func newFiles() files {
	return files{locks: map[string]*sync.Mutex{}, written: map[string]bool{}, entering: map[string]bool{}, leaving: map[string]bool{}}
}

// LockFiles serializes the changes of files in one sandbox and returns the release.
func (c *Client) LockFiles(sandboxID string) func() {
	c.files.mu.Lock()
	lock := c.files.locks[sandboxID]
	if lock == nil {
		lock = &sync.Mutex{}
		c.files.locks[sandboxID] = lock
	}
	c.files.mu.Unlock()
	lock.Lock()
	return lock.Unlock
}

// NoteWritten remembers that a file was written in this walk, and Written tells: such a file is no
// longer the one that another resource left behind at its old path.
func (c *Client) NoteWritten(file string) {
	c.files.mu.Lock()
	defer c.files.mu.Unlock()
	c.files.written[file] = true
}

// Written is described at [Client.NoteWritten].
func (c *Client) Written(file string) bool {
	c.files.mu.Lock()
	defer c.files.mu.Unlock()
	return c.files.written[file]
}

// Move notes in a plan that a file comes to be at a path, from an older one unless that is empty.
// It returns false when the path is that of a seeded file which another resource moves away: its
// content stands nowhere else and would be lost.
func (c *Client) Move(from, to string, seeded bool) bool {
	c.files.mu.Lock()
	defer c.files.mu.Unlock()
	c.files.entering[to] = true
	safe := !c.files.leaving[to]
	if from != "" && seeded {
		c.files.leaving[from] = true
		safe = safe && !c.files.entering[from]
	}
	return safe
}
