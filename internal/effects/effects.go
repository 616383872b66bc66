// Package effects names what the layers below the provider do to the world.
//
// Every engine call, CLI call, file change and store write passes an [Observer] right
// before and right after it happens. The provider turns them into debug log lines; the
// crash tests record a clean run with them and then kill the process at each one.
package effects

import "context"

// Phase tells on which side of an effect the observer is called.
type Phase string

// The two sides of an effect.
const (
	Before Phase = "before"
	After  Phase = "after"
)

// Effect is one step that touches something outside the process.
type Effect struct {
	// System is who is asked: a backend's name, "store", "ssh" for a cloud host, "files" for its SSH files.
	System string
	// Action is the step, e.g. "POST /containers/create", "rename", "insert record".
	Action string
	// Object is what it is about: a sandbox name, a path below the data directory. Never a secret.
	Object string
	// Write is true when the step changes something, false when it only looks.
	Write bool
}

// Observer is told of effects. It must be safe for concurrent use and must not fail.
type Observer func(ctx context.Context, phase Phase, effect Effect)

// Do runs step between the two calls of the observer. A nil observer is allowed.
func (o Observer) Do(ctx context.Context, effect Effect, step func() error) error {
	if o == nil {
		return step()
	}
	o(ctx, Before, effect)
	err := step()
	o(ctx, After, effect)
	return err
}
