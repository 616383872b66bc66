package hetzner

import (
	"fmt"
	"path/filepath"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// Config says what a simulator serves. The zero value works: it accepts [DefaultToken], nothing listens
// at the addresses of its servers, and everything is forgotten when it is closed.
type Config struct {
	// Token is what requests must bear, of exactly [TokenLength] characters; empty means [DefaultToken].
	Token string
	// Dir keeps the state from one run to the next. It is an absolute path of a folder that nobody else
	// writes to. Empty means that nothing is kept.
	Dir string
	// Clock drives actions, guests and the rate limit; nil means the wall clock.
	Clock simkit.Clock
	// Guests are the machines behind the servers; nil means none: servers change their status, and
	// nothing listens at their addresses.
	Guests Guests
	// Settings choose between the answers that nobody has seen, and bound what there is. They can be
	// changed later.
	Settings Settings
}

// TokenLength is how long tokens are. The vendor's other clients refuse any other length.
const TokenLength = 64

// DefaultToken is what a zero [Config] accepts.
const DefaultToken = "simulated-token-of-sixty-four-characters-as-the-service-has-them"

// withDefaults fills what was left empty and refuses what cannot work.
func (c Config) withDefaults() (Config, error) {
	if c.Token == "" {
		c.Token = DefaultToken
	}
	if len(c.Token) != TokenLength {
		return c, fmt.Errorf("the token has %d characters, not %d", len(c.Token), TokenLength)
	}
	if c.Clock == nil {
		c.Clock = simkit.WallClock{}
	}
	if c.Guests == nil {
		c.Guests = newAbsentGuests()
	}
	if c.Dir != "" && !filepath.IsAbs(c.Dir) {
		return c, fmt.Errorf("state folder %q is not an absolute path", c.Dir)
	}
	return c, c.Settings.check()
}
