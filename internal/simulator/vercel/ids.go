package vercel

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// randomID returns an id that is lower-case letters and digits behind its prefix.
func randomID(prefix string) string {
	return prefix + strings.ToLower(rand.Text())[:24]
}

var nameWords = [3][]string{
	{"amber", "brisk", "calm", "dusty", "eager", "fuzzy", "gentle", "hollow"},
	{"blue", "coral", "green", "gray", "ivory", "olive", "red", "violet"},
	{"badger", "crane", "falcon", "heron", "lynx", "otter", "raven", "wren"},
}

// randomName is what a sandbox is called when its creator does not say.
func randomName() string {
	random := make([]byte, len(nameWords))
	_, _ = rand.Read(random) // documented never to fail
	var words []string
	for i, choice := range nameWords {
		words = append(words, choice[int(random[i])%len(choice)])
	}
	return strings.Join(words, "-") + "-" + strings.ToLower(rand.Text())[:6]
}

// pinned returns what the service answers for an image reference: the repository with a digest.
func pinned(reference string) string {
	if strings.Contains(reference, "@sha256:") {
		return reference
	}
	digest := sha256.Sum256([]byte(reference))
	repository := reference
	if colon := strings.LastIndex(reference, ":"); colon > strings.LastIndex(reference, "/") {
		repository = reference[:colon]
	}
	return repository + "@sha256:" + hex.EncodeToString(digest[:])
}
