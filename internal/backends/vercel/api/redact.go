package api

import (
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

const (
	// longestMessage bounds what is shown of a message of the API, in bytes.
	longestMessage = 600
	// longestCode bounds an error code, in bytes.
	longestCode = 80
)

// redact is [backends.RedactFragments].
func redact(text string, longest int, secrets ...string) string {
	return backends.RedactFragments(text, longest, secrets...)
}

// String hides the token; so do [Config.GoString] and the methods of [Client].
func (c Config) String() string {
	return fmt.Sprintf("vercel api %s (team %s, project %s)", c.BaseURL, c.TeamID, c.ProjectID)
}

// GoString is String.
func (c Config) GoString() string { return c.String() }

// String names the client without its token.
func (c *Client) String() string {
	return fmt.Sprintf("vercel api client of %s (team %s, project %s)", c.base.Host, c.TeamID(), c.ProjectID())
}

// GoString is String.
func (c *Client) GoString() string { return c.String() }
