package hetzner

import (
	"context"
	"errors"
	"net/http"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// flakes is how many looks in a row may fail for reasons that pass, while something is waited for.
const flakes = 5

// wait waits until all actions have ended well.
func (c *Client) wait(ctx context.Context, current *exchange, actions ...*hcloud.Action) error {
	defer c.listing.drop() // whatever they did is visible only now
	for failures := 0; ; failures++ {
		err := c.api.Action.WaitFor(ctx, actions...)
		if err != nil && ctx.Err() != nil {
			current.unsure.Store(true)
			err = ctx.Err()
		}
		if err = c.fail(current, err); !passing(err) || failures == flakes || backends.Pause(ctx, c.pause(failures)) != nil {
			return err
		}
	}
}

// passing tells of failures of the platform or the network that the next look may not meet.
func passing(err error) bool {
	var failure *backends.Error
	var answer *APIError
	switch {
	case !errors.As(err, &failure), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.As(err, &answer):
		return answer.Action == "" && (answer.Status >= http.StatusInternalServerError || answer.Status == http.StatusTooManyRequests)
	}
	return failure.Kind == backends.Failed || failure.Kind == backends.TimedOut
}

// Poll calls look until it says that it is done, with growing pauses, for as long as ctx allows. It
// returns ctx.Err() when that ends first. A few failures in a row that may pass are passed over.
func (c *Client) Poll(ctx context.Context, look func() (done bool, err error)) error {
	for looks, failures := 0, 0; ; looks++ {
		done, err := look()
		switch {
		case passing(err) && failures < flakes:
			failures++
		case done || err != nil:
			return err
		default:
			failures = 0
		}
		if err := backends.Pause(ctx, c.pause(looks)); err != nil {
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
		if backends.Pause(ctx, c.pause(tries)) != nil {
			return err
		}
	}
}

// Settle calls look until it finds something, for as long as what was allocated may take to show. It
// returns false when a last look that did not fail found nothing.
func (c *Client) Settle(ctx context.Context, look func() (found bool, err error)) (bool, error) {
	patience, cancel := context.WithTimeout(ctx, c.config.SettleTime)
	defer cancel()
	found := false
	var failed error
	err := c.Poll(patience, func() (bool, error) {
		found, failed = look()
		return found, failed
	})
	if err != nil && patience.Err() != nil && ctx.Err() == nil {
		err = failed
	}
	return found, err
}
