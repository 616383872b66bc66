package backends

import (
	"cmp"
	"maps"
	"slices"
	"strings"
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
