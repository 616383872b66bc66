package api

import (
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Client speaks to the API for one team and project. It is safe for concurrent use.
type Client struct {
	config      Config
	base        *url.URL
	credentials *credentials // a pointer, so that printing the client does not print the token
	http        *retryablehttp.Client
	poll        pace
	// commandWait is for how long one request may wait for a command.
	commandWait time.Duration
}

// New checks the configuration; it sends nothing and reads neither files nor variables. Errors:
// [backends.Unauthorized] for absent, partial or expired credentials, [backends.Invalid] for the rest.
func New(config Config) (*Client, error) {
	config = config.withDefaults()
	base, err := parseBase(config.BaseURL)
	if err != nil {
		return nil, err
	}
	found, err := config.resolve()
	if err != nil {
		return nil, err
	}
	if err := found.fresh(config.Now()); err != nil {
		return nil, err
	}
	config.Token = ""
	client := &Client{
		config: config, base: base, credentials: &found,
		commandWait: 45 * time.Second,
		poll:        pace{first: config.PollInterval, most: 20 * config.PollInterval},
	}
	client.http = &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport:     newAttempts(client),
			CheckRedirect: sameHost,
		},
		RetryMax:     config.Retries,
		RetryWaitMin: config.RetryWait,
		RetryWaitMax: config.LongestRetryWait,
		CheckRetry:   client.shouldRetry,
		Backoff:      client.retryWait,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	return client, nil
}

// TeamID is the team that requests are sent for.
func (c *Client) TeamID() string { return c.credentials.team }

// ProjectID is the project's id, or its slug when it was configured by that.
func (c *Client) ProjectID() string { return c.credentials.project }

// SettleTime is how long something whose reply was lost may take to become visible.
func (c *Client) SettleTime() time.Duration { return c.config.SettleTime }

func (c *Client) now() time.Time { return c.config.Now() }
