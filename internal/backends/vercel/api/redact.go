package api

import (
	"fmt"
	"strings"
	"unicode"
)

const (
	// longestMessage bounds what is shown of a message of the API, in bytes.
	longestMessage = 600
	// longestCode bounds an error code, in bytes.
	longestCode = 80
	// shortestFragment is how many bytes of a secret in a row count as a leak. A message may quote
	// the first half of a token, which replacing whole values would miss.
	shortestFragment = 8
	// shortestSecret: values below this hide nothing, and replacing them would leave only noise.
	shortestSecret = 4

	redactedMark = "(redacted)"
)

// redact takes every fragment of the secrets out of text and cuts it to longest bytes of one line.
func redact(text string, longest int, secrets ...string) string {
	// Cut first, so that a hostile answer costs no time, but far enough behind the end of what is shown.
	const margin = 4096
	if len(text) > longest+margin {
		text = text[:longest+margin]
	}
	for _, secret := range secrets {
		text = withoutFragments(text, secret)
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// withoutFragments replaces each run of text that is a run of secret as well.
func withoutFragments(text, secret string) string {
	fragment := min(shortestFragment, len(secret))
	if fragment < shortestSecret {
		return text
	}
	var kept strings.Builder
	for len(text) >= fragment {
		if !strings.Contains(secret, text[:fragment]) {
			kept.WriteByte(text[0])
			text = text[1:]
			continue
		}
		end := fragment
		for end < len(text) && strings.Contains(secret, text[:end+1]) {
			end++
		}
		kept.WriteString(redactedMark)
		text = text[end:]
	}
	kept.WriteString(text)
	return kept.String()
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
