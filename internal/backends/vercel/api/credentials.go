package api

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Environment variables that [Config.WithEnvironment] reads.
const (
	TokenVariable     = "VERCEL_TOKEN" //nolint:gosec // the name of a variable
	TeamVariable      = "VERCEL_TEAM_ID"
	ProjectVariable   = "VERCEL_PROJECT_ID"
	OIDCTokenVariable = "VERCEL_OIDC_TOKEN" //nolint:gosec // the name of a variable
)

// WithEnvironment fills what c leaves empty. An access token goes before an OIDC token, which is
// taken only when there is no other. lookup is [os.Getenv] outside of tests.
func (c Config) WithEnvironment(lookup func(string) string) Config {
	fill := func(member *string, variable string) {
		if *member == "" {
			*member = strings.TrimSpace(lookup(variable))
		}
	}
	fill(&c.Token, TokenVariable)
	fill(&c.Token, OIDCTokenVariable)
	if _, ok := parseClaims(c.Token); !ok {
		fill(&c.TeamID, TeamVariable)
		fill(&c.ProjectID, ProjectVariable)
	}
	return c
}

// credentials are complete: all three or a token with claims.
type credentials struct {
	token, team, project string
	expires              time.Time // zero: unknown, and the API decides
}

// claims are what is read of an OIDC token. Nobody verifies the signature here: the API does.
type claims struct {
	OwnerID   string  `json:"owner_id"`
	ProjectID string  `json:"project_id"`
	Expires   float64 `json:"exp"` // seconds since the epoch
}

// parseClaims reads a token of three parts between dots. ok is false for any other.
func parseClaims(token string) (claims, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims{}, false
	}
	var found claims
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	return found, err == nil && json.Unmarshal(payload, &found) == nil
}

const signIn = "configure the client"

// resolve turns a configuration into complete credentials. Claims of an OIDC token win over ids
// that are not ids of the same kind (slugs); ids that contradict them are an error.
func (c Config) resolve() (credentials, error) {
	found := credentials{token: strings.TrimSpace(c.Token), team: c.TeamID, project: c.ProjectID}
	if strings.ContainsFunc(found.token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return credentials{}, invalid(signIn, "token", "The token holds characters that cannot be sent.", "Copy it again, without quotes and line breaks.")
	}
	if claimed, ok := parseClaims(found.token); ok {
		for _, claim := range []struct {
			name, prefix, value string
			member              *string
		}{
			{"team_id", "team_", claimed.OwnerID, &found.team},
			{"project_id", "prj_", claimed.ProjectID, &found.project},
		} {
			if claim.value == "" {
				continue
			}
			if *claim.member != claim.value && strings.HasPrefix(*claim.member, claim.prefix) && strings.HasPrefix(claim.value, claim.prefix) {
				return credentials{}, invalid(signIn, claim.name, "It is "+*claim.member+", but the OIDC token is for "+redact(claim.value, longestCode)+".", "Leave it out, or use a token for it.")
			}
			*claim.member = claim.value
		}
		if claimed.Expires > 0 {
			found.expires = time.Unix(int64(claimed.Expires), 0)
		}
	}
	var absent []string
	for _, part := range []struct{ value, name string }{
		{found.token, "token (" + TokenVariable + " or " + OIDCTokenVariable + ")"},
		{found.team, "team_id (" + TeamVariable + ")"},
		{found.project, "project_id (" + ProjectVariable + ")"},
	} {
		if part.value == "" {
			absent = append(absent, part.name)
		}
	}
	if len(absent) > 0 {
		return credentials{}, &backends.Error{
			Kind: backends.Unauthorized, Backend: backendName, Operation: signIn,
			Detail: "The credentials are not complete. Missing: " + strings.Join(absent, ", ") + ".",
			Remedy: "Token, team and project come together: set them in the `vercel` block of the provider or by these variables. An OIDC token brings team and project itself.",
		}
	}
	return found, nil
}

// fresh returns [backends.Unauthorized] once an OIDC token has expired.
func (c credentials) fresh(now time.Time) error {
	if c.expires.IsZero() || now.Before(c.expires) {
		return nil
	}
	return &backends.Error{
		Kind: backends.Unauthorized, Backend: backendName, Operation: "sign in",
		Detail: "The OIDC token expired at " + c.expires.UTC().Format(time.RFC3339) + ".",
		Remedy: "Get a new one (`vercel env pull` writes it as " + OIDCTokenVariable + "), or use an access token with team and project.",
	}
}
