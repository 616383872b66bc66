package hetzner

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

const (
	// Name is the backend's name, also of its effects and errors.
	Name = "hetzner"
	// DefaultEndpoint is where the vendor's own programs send their requests, too.
	DefaultEndpoint = hcloud.Endpoint
	// TokenLength is how long every token is. Whether one is checked is up to the caller.
	TokenLength = 64
)

// Config says how to reach the API. Zero members mean the default.
type Config struct {
	// Token of one project. It is never logged and never part of an error.
	Token string
	// Endpoint is https, or http to a loopback host, with the version: [DefaultEndpoint].
	Endpoint string
	// PollInterval is the first interval between looks at what is under way; it doubles up to
	// LongestPollInterval. Defaults: 500 ms and 10 s, which two dozen hosts at once can afford (section 4).
	PollInterval, LongestPollInterval time.Duration
	// Retries is how often a request is sent again that the API itself asks to repeat (section 3.1).
	// Default: 10, which outlasts a bucket that many hosts at once have emptied, as it is filled by one request
	// a second; less than 0: never. RetryWait is the first wait, which doubles up to a minute. Default: 1 s.
	Retries   int
	RetryWait time.Duration
	// SettleTime is how long an allocation whose answer was lost may take to become visible. Default: 5 s.
	SettleTime time.Duration
	// Version of the provider, for the user agent.
	Version string
	// Observer is told of every request. Optional.
	Observer effects.Observer
	// Now is the clock that the end of an offer is compared with. Default: [time.Now].
	Now func() time.Time
	// Transport sends the requests. Default: one that verifies TLS and honors the proxy variables.
	Transport http.RoundTripper
}

// WithEnvironment fills in what is not set from the variables of the vendor's programs.
func (c Config) WithEnvironment(getenv func(string) string) Config {
	c.Token = cmp.Or(c.Token, getenv("HCLOUD_TOKEN"))
	c.Endpoint = cmp.Or(c.Endpoint, getenv("HCLOUD_ENDPOINT"))
	return c
}

func (c Config) withDefaults() Config {
	c.Endpoint = strings.TrimRight(cmp.Or(c.Endpoint, DefaultEndpoint), "/")
	c.PollInterval = cmp.Or(c.PollInterval, 500*time.Millisecond)
	c.LongestPollInterval = max(c.PollInterval, cmp.Or(c.LongestPollInterval, 10*time.Second))
	c.Retries = max(0, cmp.Or(c.Retries, 10))
	c.RetryWait = cmp.Or(c.RetryWait, time.Second)
	c.SettleTime = cmp.Or(c.SettleTime, 5*time.Second)
	if c.Transport == nil {
		c.Transport = backends.WebTransport()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Binding tells one place of hosts from another: an endpoint and a token.
type Binding struct {
	// Endpoint is the address of the API.
	Endpoint string
	// Credential is a fingerprint of the token, from which it cannot be got back.
	Credential string
}

// Binding is that of the configuration. No I/O.
func (c Config) Binding() Binding {
	c = c.withDefaults()
	sum := sha256.Sum256([]byte("sandlot hetzner credential\x00" + c.Token))
	return Binding{Endpoint: c.Endpoint, Credential: hex.EncodeToString(sum[:16])}
}

// String is how records keep a binding.
func (b Binding) String() string { return b.Endpoint + " " + b.Credential }

// ParseBinding reads what [Binding.String] wrote; false when it is something else.
func ParseBinding(text string) (Binding, bool) {
	endpoint, credential, found := strings.Cut(text, " ")
	return Binding{Endpoint: endpoint, Credential: credential}, found && endpoint != "" && credential != ""
}

// CheckEndpoint judges the address of an API. http is for loopback hosts only, since the token would be
// readable.
func CheckEndpoint(address string) error {
	base, err := url.Parse(address)
	refuse := func(detail string) error {
		return &backends.Error{
			Kind: backends.Invalid, Backend: Name, Operation: "configure the client", Object: "endpoint",
			Detail: detail, Remedy: "Use an address such as " + DefaultEndpoint + ".",
		}
	}
	switch {
	case err != nil || base.Host == "" || base.Opaque != "":
		return refuse("It is not a URL.")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "" || strings.ContainsAny(address, " \t\r\n"):
		return refuse("It must have neither credentials nor a query nor a fragment.")
	case base.Scheme == "http" && !backends.LoopbackHost(base.Hostname()):
		return refuse("Plain http is allowed to loopback hosts only.")
	case base.Scheme != "http" && base.Scheme != "https":
		return refuse("Its scheme is not https.")
	}
	return nil
}
