package hetzner

import (
	"context"
	"sync"
)

// listing is one listing of servers, which whoever needs it first makes for all.
type listing struct {
	// making is held while it is made, so that all others wait for it.
	making sync.Mutex
	mu     sync.Mutex
	known  map[int64]Server
	// drops counts how often it was dropped: one that was made meanwhile is not kept.
	drops int
}

// kept returns the listing that there is.
func (l *listing) kept() (map[int64]Server, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known, l.drops
}

// keep remembers a listing unless something was written since it was begun.
func (l *listing) keep(known map[int64]Server, drops int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drops == drops {
		l.known = known
	}
}

// drop forgets the listing: something has changed, or may have.
func (l *listing) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.drops = nil, l.drops+1
}

// Glance is [Client.Server] for one of many that are looked at together. It answers from one listing of all
// servers that have the label, by the page, which all calls share until this client itself changes
// something; what is not in that is read singly, since only that proves an absence. A read.
func (c *Client) Glance(ctx context.Context, label string, id int64) (*Server, error) {
	known, err := c.listed(ctx, label)
	if err != nil {
		return nil, err
	}
	if server, ok := known[id]; ok {
		return &server, nil
	}
	return c.Server(ctx, id)
}

func (c *Client) listed(ctx context.Context, label string) (map[int64]Server, error) {
	if known, _ := c.listing.kept(); known != nil {
		return known, nil
	}
	c.listing.making.Lock()
	defer c.listing.making.Unlock()
	known, drops := c.listing.kept()
	if known != nil {
		return known, nil
	}
	all, err := c.Labeled(ctx, label)
	if err != nil {
		return nil, err
	}
	known = make(map[int64]Server, len(all))
	for _, server := range all {
		known[server.ID] = server
	}
	c.listing.keep(known, drops)
	return known, nil
}
