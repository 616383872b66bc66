package hetzner

import (
	"context"
	"errors"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// wait waits until all actions have ended well.
func (c *Client) wait(ctx context.Context, current *exchange, actions ...*hcloud.Action) error {
	err := c.api.Action.WaitFor(ctx, actions...)
	c.listing.drop() // whatever they did is visible only now
	if err != nil && ctx.Err() != nil {
		current.unsure.Store(true)
		err = ctx.Err()
	}
	return c.fail(current, err)
}

// Poll calls look until it says that it is done, with growing pauses, for as long as ctx allows. It
// returns ctx.Err() when that ends first.
func (c *Client) Poll(ctx context.Context, look func() (done bool, err error)) error {
	for looks := 0; ; looks++ {
		done, err := look()
		if done || err != nil {
			return err
		}
		if err := sleep(ctx, c.pause(looks)); err != nil {
			return err
		}
	}
}

// patiently repeats a call while another action of the platform holds its object (section 2.1): the
// library leaves "locked" to us, and gives up on "conflict" after a few times. ctx bounds it.
func (c *Client) patiently(ctx context.Context, call func() error) error {
	for tries := 0; ; tries++ {
		err := call()
		if err == nil || !errors.Is(err, CodeLocked) && !errors.Is(err, CodeConflict) {
			return err
		}
		if sleep(ctx, c.pause(tries)) != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
