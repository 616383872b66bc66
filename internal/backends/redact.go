package backends

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
)

const (
	// shortestFragment is how many bytes of a secret in a row count as a leak. A message may quote
	// the first half of a token, which replacing whole values would miss.
	shortestFragment = 8
	// shortestSecret: values below this hide nothing, and replacing them would leave only noise.
	shortestSecret = 4

	redactedMark = "(redacted)"
)

// Redact replaces every secret value in text. Values shorter than four bytes are left alone: they
// would turn the text into noise and hide nothing. Longer ones go first: a secret that starts with
// another one would leave its rest behind.
func Redact(text string, secrets map[string]string) string {
	names := slices.SortedFunc(maps.Keys(secrets), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(secrets[b]), len(secrets[a])), cmp.Compare(a, b))
	})
	for _, name := range names {
		if value := secrets[name]; len(value) >= 4 {
			text = strings.ReplaceAll(text, value, "("+name+" redacted)")
		}
	}
	return text
}

// Redacted returns result without secret values in its output. Backends call it at the end of Exec,
// since only they have the values at hand: output ends up in errors and in states.
func (r ExecResult) Redacted(secrets map[string]string) ExecResult {
	r.Stdout = []byte(Redact(string(r.Stdout), secrets))
	r.Stderr = []byte(Redact(string(r.Stderr), secrets))
	return r
}

// RedactFragments takes every fragment of the secrets out of text, cuts it to longest bytes and makes one
// line of it. It is for what a service answers, which may quote a part of what it was sent.
func RedactFragments(text string, longest int, secrets ...string) string {
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
