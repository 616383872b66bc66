package hetzner

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// attemptTimeout bounds one request. A create that is cut off is replayed, so it is generous (section 3.1).
const attemptTimeout = time.Minute

// Client makes the calls of one project. It is safe for concurrent use.
type Client struct {
	config  Config
	api     *hcloud.Client
	listing listing
	shelf   shelf
}

// New makes a client. It does no I/O, and needs no token before its first call. The library's debug writer
// is never set: it would print user data.
func New(config Config) *Client {
	config = config.withDefaults()
	c := &Client{config: config}
	c.api = hcloud.NewClient(
		hcloud.WithEndpoint(config.Endpoint),
		hcloud.WithToken(config.Token),
		hcloud.WithApplication("terraform-provider-sandlot", config.Version),
		hcloud.WithHTTPClient(&http.Client{
			Transport: &transport{client: c},
			Timeout:   attemptTimeout,
			// The body of a create must not be sent anywhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
		// Both values: with a function alone the library never retries (section 3.1).
		hcloud.WithRetryOpts(hcloud.RetryOpts{
			MaxRetries: config.Retries,
			BackoffFunc: hcloud.ExponentialBackoffWithOpts(hcloud.ExponentialBackoffOpts{
				Base: config.RetryWait, Multiplier: 2, Cap: max(config.RetryWait, time.Minute), Jitter: true,
			}),
		}),
		hcloud.WithPollOpts(hcloud.PollOpts{BackoffFunc: c.pause}),
	)
	return c
}

// pause is how long to wait before look number `done`+1 at what is under way.
func (c *Client) pause(done int) time.Duration {
	return hcloud.ExponentialBackoffWithOpts(hcloud.ExponentialBackoffOpts{
		Base: c.config.PollInterval, Multiplier: 2, Cap: c.config.LongestPollInterval,
	})(done)
}

// Binding is where this client works. No I/O.
func (c *Client) Binding() Binding { return c.config.Binding() }

// ready refuses calls that cannot succeed.
func (c *Client) ready() error {
	if c.config.Token == "" {
		return errNoToken
	}
	return CheckEndpoint(c.config.Endpoint)
}

var errNoToken = errors.New("no token is set")

// String names the client without its token.
func (c *Client) String() string { return fmt.Sprintf("hetzner api client of %s", c.config.Endpoint) }

// GoString is String.
func (c *Client) GoString() string { return c.String() }

// String hides the token.
func (c Config) String() string { return fmt.Sprintf("hetzner api %s", c.Endpoint) }

// GoString is String.
func (c Config) GoString() string { return c.String() }
