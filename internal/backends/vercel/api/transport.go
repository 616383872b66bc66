package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// mostDeletions is how many deletions a second we allow ourselves; the API's own bound is 20 a
// second for the team (section 6.5).
const mostDeletions = 15

var (
	// errForeignHost: something asked for a request to another host than the configured one.
	errForeignHost = errors.New("the request would go to another host")
	// errNoHeaders: the answer did not begin in time.
	errNoHeaders = errors.New("the API did not begin to answer in time")
	// errQueued: the context ends before it is this request's turn.
	errQueued = errors.New("too many requests wait before this one")
)

// exchange is what is known of a call while it is sent, perhaps several times.
type exchange struct {
	call call
	// sent is true when the API may have acted on the present attempt: unless the transport told
	// that it looked for a connection and found none.
	sent atomic.Bool
	// limited is true once an attempt was answered with 429, which should mean that nothing was done.
	limited bool
	// tooLate is set when a retry was refused because the API asked for too long a wait.
	tooLate bool
	// answer is the body of the last answer, where the call does not stream; read tells whether it
	// was read yet.
	answer []byte
	read   bool
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	found, _ := ctx.Value(exchangeKey{}).(*exchange)
	return found
}

// attempts sends single requests: in turn, signed, bounded, and seen by the observer.
type attempts struct {
	client            *Client
	all, deletionOnly *rate.Limiter
}

func newAttempts(client *Client) *attempts {
	perSecond := client.config.RequestsPerSecond
	return &attempts{
		client:       client,
		all:          rate.NewLimiter(rate.Limit(perSecond), max(1, int(2*perSecond))),
		deletionOnly: rate.NewLimiter(rate.Limit(min(perSecond, mostDeletions)), 1),
	}
}

// RoundTrip sends the request between the two calls of the observer.
func (a *attempts) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	current := exchangeOf(ctx)
	current.sent.Store(false)
	current.read = false
	if !sameOrigin(request.URL, a.client.base) {
		return nil, errForeignHost
	}
	if err := a.client.credentials.fresh(a.client.now()); err != nil {
		return nil, err
	}
	if err := a.wait(ctx, request.Method); err != nil {
		return nil, err
	}
	ctx, cancel, begun := limited(ctx, current.call.bounds)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { current.sent.Store(false) },
		GotConn: func(httptrace.GotConnInfo) { current.sent.Store(true) },
	})
	request = request.Clone(ctx)
	// Here and not earlier, so that no redirect can carry it along.
	request.Header.Set("Authorization", "Bearer "+a.client.credentials.token)
	current.sent.Store(true)
	var response *http.Response
	err := a.client.config.Observer.Do(ctx, current.call.effect(), func() error {
		var err error
		response, err = a.client.config.Transport.RoundTrip(request) //nolint:bodyclose // a transport hands the body on
		return err
	})
	begun()
	if err != nil {
		if errors.Is(context.Cause(ctx), errNoHeaders) {
			err = errNoHeaders
		}
		cancel()
		return nil, err
	}
	response.Body = &closing{ReadCloser: response.Body, then: cancel}
	return response, nil
}

// wait takes the request's turn.
func (a *attempts) wait(ctx context.Context, method string) error {
	turns := []*rate.Limiter{a.all}
	if method == http.MethodDelete {
		turns = append(turns, a.deletionOnly)
	}
	for _, turn := range turns {
		if err := turn.Wait(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return errQueued
		}
	}
	return nil
}

// limited bounds one attempt. begun is to be called when the answer has begun.
func limited(ctx context.Context, bounds bounds) (_ context.Context, cancel, begun func()) {
	ctx, stop := context.WithCancelCause(ctx)
	cancel, begun = func() { stop(nil) }, func() {}
	if bounds.headers > 0 {
		timer := time.AfterFunc(bounds.headers, func() { stop(errNoHeaders) })
		begun = func() { timer.Stop() }
	}
	if bounds.attempt > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, bounds.attempt)
		cancel = func() { done(); stop(nil) }
	}
	return ctx, cancel, begun
}

// closing runs a function once when a body is closed.
type closing struct {
	io.ReadCloser
	once sync.Once
	then func()
}

func (c *closing) Close() error {
	err := c.ReadCloser.Close()
	c.once.Do(c.then)
	return err
}

// sameHost follows redirects of reads to the same origin only. A refused one becomes the answer.
func sameHost(request *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 3 || first.Method != http.MethodGet || !sameOrigin(request.URL, first.URL) {
		return http.ErrUseLastResponse
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }
