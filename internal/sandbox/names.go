package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// MaxNameLength is the longest name that every backend takes, in bytes.
const MaxNameLength = 63

var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// NameRule says in words what [CheckName] accepts.
const NameRule = "lower-case letters, digits and hyphens, starting and ending with a letter or digit, at most 63 characters"

// CheckName returns an error that states the rule when name is not a sandbox name.
func CheckName(name string) error {
	if len(name) > MaxNameLength || !namePattern.MatchString(name) {
		return fmt.Errorf("%q is not a sandbox name: allowed are %s", name, NameRule)
	}
	return nil
}

// NormalizeWorkspaceID trims the white space that does not count.
func NormalizeWorkspaceID(id string) string { return strings.TrimSpace(id) }

// WorkspaceHash returns the first 12 hex digits of the SHA-256 of the trimmed workspace id.
// Hashing, unlike cutting, keeps ids with a common prefix apart.
func WorkspaceHash(workspaceID string) string {
	sum := sha256.Sum256([]byte(NormalizeWorkspaceID(workspaceID)))
	return hex.EncodeToString(sum[:])[:12]
}

// DeriveName returns `<prefix>-<namespace>-ws-<hash>`, and `-g<N>` after it from generation 2 on.
func DeriveName(prefix, namespace, workspaceID string, generation int64) (string, error) {
	if NormalizeWorkspaceID(workspaceID) == "" {
		return "", fmt.Errorf("the workspace id is empty")
	}
	name := WithGeneration(fmt.Sprintf("%s-%s-ws-%s", prefix, namespace, WorkspaceHash(workspaceID)), generation)
	if err := CheckName(name); err != nil {
		return "", fmt.Errorf("prefix %q and namespace %q make no valid name: %w", prefix, namespace, err)
	}
	return name, nil
}

// WithGeneration returns the name of a generation: the base name for the first, and the base
// name with `-g<N>` after it from the second on, so that a retained predecessor keeps its name.
func WithGeneration(base string, generation int64) string {
	if generation <= 1 {
		return base
	}
	return fmt.Sprintf("%s-g%d", base, generation)
}

// ID returns the identity of a sandbox, `<backend>/<name>`.
func ID(backend, name string) string { return backend + "/" + name }

// OnHost is what ids and records call a backend on a cloud host: `<backend>@<host>`.
func OnHost(backend, host string) string { return backend + "@" + host }

// CutHost takes apart what ids and records call a backend; host is "" when it is on no cloud host.
func CutHost(backend string) (plain, host string) {
	plain, host, _ = strings.Cut(backend, "@")
	return plain, host
}

// ParseID splits an identity into backend and name. The backend may be one on a cloud host.
func ParseID(id string) (backend, name string, err error) {
	backend, name, found := strings.Cut(id, "/")
	if !found || backend == "" {
		return "", "", fmt.Errorf("%q is not a sandbox id: expected <backend>/<name>, for example local/my-sandbox", id)
	}
	if err := CheckName(name); err != nil {
		return "", "", err
	}
	return backend, name, nil
}
