package api

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// DefaultBaseURL is where the SDK sends its requests, too (section 2).
const DefaultBaseURL = "https://vercel.com/api"

const (
	backendName = "vercel"
	apiName     = "API" // object of errors that concern no sandbox
)

// Config says how to reach the API and on whose behalf. Token, TeamID and ProjectID come together,
// except that an OIDC token brings team and project as claims. Zero members mean the default.
type Config struct {
	// BaseURL is https, or http to a loopback host. Default: [DefaultBaseURL].
	BaseURL string
	// Token is an access token or an OIDC token. It is never logged and never part of an error.
	Token string
	// TeamID is sent with every request, e.g. "team_…".
	TeamID string
	// ProjectID is the project's id or its slug.
	ProjectID string

	// UserAgent of the provider. Default: "terraform-provider-sandlot".
	UserAgent string
	// Observer is told of every request. Optional.
	Observer effects.Observer
	// NetworkPolicyForm is how custom network policies are written. Default: [AllowForm].
	NetworkPolicyForm NetworkPolicyForm

	// RequestsPerSecond bounds the requests of this client, retries included. Default: 15, which
	// leaves room below the smallest plan's 1,000 a minute (section 11). Deletions are bound to 15 as well,
	// whatever this says: the API allows 20 a second for a team.
	RequestsPerSecond float64
	// Retries is how often a request is sent again. Default: 4; less than 0: never.
	Retries int
	// RetryWait is the first wait before a request is sent again; it doubles each time, up to
	// LongestRetryWait. Defaults: 500 ms and 10 s.
	RetryWait, LongestRetryWait time.Duration
	// LongestRetryAfter is how long a wait the API may ask for; beyond it the request fails with
	// [backends.RateLimited] at once. Default: 60 s.
	LongestRetryAfter time.Duration
	// PollInterval is the first interval of waits; it grows to 20 times as much. Default: 250 ms.
	PollInterval time.Duration
	// SettleTime is how long a create whose reply was lost may take to become visible.
	// Default: 15 s.
	SettleTime time.Duration

	// Transport sends the requests. Default: one that verifies TLS and honors the proxy variables.
	Transport http.RoundTripper
	// Now is the clock that an OIDC token's expiry is compared with. Default: [time.Now].
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	c.BaseURL = cmp.Or(c.BaseURL, DefaultBaseURL)
	c.UserAgent = cmp.Or(c.UserAgent, "terraform-provider-sandlot")
	c.NetworkPolicyForm = cmp.Or(c.NetworkPolicyForm, AllowForm)
	c.RequestsPerSecond = cmp.Or(c.RequestsPerSecond, 15)
	c.Retries = max(0, cmp.Or(c.Retries, 4))
	c.RetryWait = cmp.Or(c.RetryWait, 500*time.Millisecond)
	c.LongestRetryWait = cmp.Or(c.LongestRetryWait, 10*time.Second)
	c.LongestRetryAfter = cmp.Or(c.LongestRetryAfter, time.Minute)
	c.PollInterval = cmp.Or(c.PollInterval, 250*time.Millisecond)
	c.SettleTime = cmp.Or(c.SettleTime, 15*time.Second)
	if c.Transport == nil {
		c.Transport = backends.WebTransport()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// parseBase checks a base URL. http is for loopback hosts only, since the token would be readable.
func parseBase(address string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(address, "/"))
	refuse := func(detail string) error {
		return invalid("configure the client", "base_url", detail, "Use an address such as "+DefaultBaseURL+".")
	}
	switch {
	case err != nil || base.Host == "" || base.Opaque != "":
		return nil, refuse("It is not a URL.")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, refuse("It must have neither credentials nor a query nor a fragment.")
	case base.Scheme == "http" && !backends.LoopbackHost(base.Hostname()):
		return nil, refuse("Plain http is allowed to loopback hosts only.")
	case base.Scheme != "http" && base.Scheme != "https":
		return nil, refuse("Its scheme is not https.")
	}
	return base, nil
}

func invalid(operation, object, detail, remedy string) error {
	return &backends.Error{
		Kind: backends.Invalid, Backend: backendName, Operation: operation, Object: object,
		Detail: detail, Remedy: remedy,
	}
}
