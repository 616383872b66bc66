package postgres

import (
	"context"
	"sync"
)

// queue makes the operations of one process that want the same lock wait for each other here, so
// that only one of them at a time needs a connection for it.
type queue struct {
	mu    sync.Mutex
	turns map[string]chan struct{}
}

// enter waits for the turn of key and returns what ends it.
func (q *queue) enter(ctx context.Context, key string) (leave func(), err error) {
	q.mu.Lock()
	if q.turns == nil {
		q.turns = map[string]chan struct{}{}
	}
	turn, ok := q.turns[key]
	if !ok {
		turn = make(chan struct{}, 1)
		q.turns[key] = turn
	}
	q.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
