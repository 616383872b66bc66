package hetzner

import "github.com/hetznercloud/hcloud-go/v2/hcloud"

// Client makes the calls of one project. It is safe for concurrent use.
type Client struct {
	config Config
	api    *hcloud.Client
}

// New makes a client. It does no I/O, and needs no token before its first call.
func New(config Config) *Client {
	config = config.withDefaults()
	return &Client{config: config, api: hcloud.NewClient(
		hcloud.WithEndpoint(config.Endpoint),
		hcloud.WithToken(config.Token),
	)}
}

// Binding is where this client works. No I/O.
func (c *Client) Binding() Binding { return c.config.Binding() }
