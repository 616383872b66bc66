package api

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// shouldRetry decides by section 4: GET and DELETE again after 429, 5xx and network errors;
// everything else only after 429 and when nothing was sent. response is not nil when err is about its body.
func (c *Client) shouldRetry(ctx context.Context, response *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	current := exchangeOf(ctx)
	if err != nil {
		return !permanent(err) && (current.call.repeatable() || !current.sent.Load()), nil
	}
	switch {
	case response.StatusCode == http.StatusTooManyRequests:
		current.sent.Store(false)
		current.limited = true
	case response.StatusCode < 500 || !current.call.repeatable():
		return false, nil
	}
	if wait, asked := c.retryAfter(response); asked && !c.affordable(ctx, wait) {
		current.tooLate = true
		return false, nil
	}
	return true, nil
}

// permanent: the same request would fail the same way.
func permanent(err error) bool {
	var typed *backends.Error
	var untrusted *tls.CertificateVerificationError
	return errors.As(err, &typed) || errors.As(err, &untrusted) ||
		errors.Is(err, errForeignHost) || errors.Is(err, errTooLong) || errors.Is(err, errQueued)
}

// affordable: the wait is within what is allowed and ends before the context does.
func (c *Client) affordable(ctx context.Context, wait time.Duration) bool {
	deadline, bound := ctx.Deadline()
	return wait <= c.config.LongestRetryAfter && (!bound || wait < time.Until(deadline))
}

// retryWait is how long to wait before attempt+1: what the API asked for, or an exponential
// backoff of which a random half is taken away, so that parallel clients spread.
func (c *Client) retryWait(first, most time.Duration, attempt int, response *http.Response) time.Duration {
	if response != nil {
		if wait, asked := c.retryAfter(response); asked {
			return wait + jitter(first)
		}
	}
	wait := most
	if attempt < 16 {
		wait = min(most, first<<attempt)
	}
	return wait/2 + jitter(wait/2)
}

// retryAfter reads the header in both of its forms: seconds or an HTTP date.
func (c *Client) retryAfter(response *http.Response) (time.Duration, bool) {
	const longest = 365 * 24 * time.Hour
	header := response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, longest.Seconds()) * float64(time.Second)), true
	}
	if date, err := http.ParseTime(header); err == nil {
		return min(longest, max(0, date.Sub(c.now()))), true
	}
	return 0, false
}

func jitter(most time.Duration) time.Duration {
	return time.Duration(rand.Int64N(int64(most) + 1)) //nolint:gosec // waits need no secrecy
}

// pace is how waits poll: each interval is half as long again as the one before.
type pace struct{ first, most time.Duration }

// pause waits for the interval of a round, counted from 0. It ends early with the context's error.
func (p pace) pause(ctx context.Context, round int) error {
	interval := p.first
	for range round {
		if interval = interval * 3 / 2; interval >= p.most {
			interval = p.most
			break
		}
	}
	return backends.Pause(ctx, interval-jitter(interval/10))
}
