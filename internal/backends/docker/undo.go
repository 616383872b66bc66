package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
)

// undo remembers what a call made, to take it back when the call fails.
type undo struct {
	steps []undoStep
}

type undoStep struct {
	what string
	run  func(ctx context.Context) error
}

func (u *undo) add(what string, run func(ctx context.Context) error) {
	u.steps = append(u.steps, undoStep{what, run})
}

// revert takes everything back, the newest first, also when ctx is over. It returns what is left.
func (u *undo) revert(ctx context.Context) (left []string) {
	ctx, cancel := detached(ctx)
	defer cancel()
	for _, step := range slices.Backward(u.steps) {
		if err := step.run(ctx); err != nil {
			left = append(left, step.what)
		}
	}
	u.steps = nil
	return left
}

// randomHex returns n random bytes in hexadecimal digits.
func randomHex(n int) (string, error) {
	random := make([]byte, n)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	return hex.EncodeToString(random), nil
}
