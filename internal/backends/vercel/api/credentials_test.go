package api

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func oidc(claims object) string {
	payload, _ := json.Marshal(claims)
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"none"}`)) + "." + part(payload) + "." + part([]byte("signature"))
}

func TestCredentials(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	soon, past := 1_700_000_060, 1_699_999_999
	for _, test := range []struct {
		name                 string
		token, team, project string
		wantTeam, wantProj   string
		kind                 backends.ErrorKind
		says                 string
	}{
		{"all three", "t", "team_x", "prj_p", "team_x", "prj_p", "", ""},
		{"slugs", "t", "acme", "web", "acme", "web", "", ""},
		{"none", "", "", "", "", "", backends.Unauthorized, "token (VERCEL_TOKEN or VERCEL_OIDC_TOKEN), team_id (VERCEL_TEAM_ID), project_id (VERCEL_PROJECT_ID)"},
		{"no team", "t", "", "prj_p", "", "", backends.Unauthorized, "Missing: team_id (VERCEL_TEAM_ID)."},
		{"no project", "t", "team_x", "", "", "", backends.Unauthorized, "Missing: project_id (VERCEL_PROJECT_ID)."},
		{"no token", "", "team_x", "prj_p", "", "", backends.Unauthorized, "Missing: token (VERCEL_TOKEN or VERCEL_OIDC_TOKEN)."},
		{"OIDC", oidc(object{"owner_id": "team_o", "project_id": "prj_o", "exp": soon}), "", "", "team_o", "prj_o", "", ""},
		{"OIDC without expiry", oidc(object{"owner_id": "team_o", "project_id": "prj_o"}), "", "", "team_o", "prj_o", "", ""},
		{"OIDC, same ids", oidc(object{"owner_id": "team_o", "project_id": "prj_o"}), "team_o", "prj_o", "team_o", "prj_o", "", ""},
		{"OIDC wins over slugs", oidc(object{"owner_id": "team_o", "project_id": "prj_o"}), "acme", "web", "team_o", "prj_o", "", ""},
		{"OIDC of another team", oidc(object{"owner_id": "team_o", "project_id": "prj_o"}), "team_x", "", "", "", backends.Invalid, "team_o"},
		{"OIDC of another project", oidc(object{"owner_id": "team_o", "project_id": "prj_o"}), "", "prj_p", "", "", backends.Invalid, "prj_o"},
		{"OIDC without claims", oidc(object{}), "", "", "", "", backends.Unauthorized, "team_id"},
		{"OIDC without claims, with ids", oidc(object{}), "team_x", "prj_p", "team_x", "prj_p", "", ""},
		{"OIDC, expired", oidc(object{"owner_id": "team_o", "project_id": "prj_o", "exp": past}), "", "", "", "", backends.Unauthorized, "expired"},
		{"three parts that are none", "a.b.c", "", "", "", "", backends.Unauthorized, "team_id"},
		{"three parts that are none, with ids", "a.b.c", "team_x", "prj_p", "team_x", "prj_p", "", ""},
		{"line break", "t\nX-Evil: 1", "team_x", "prj_p", "", "", backends.Invalid, "characters"},
		{"spaces around", " t\n", "team_x", "prj_p", "team_x", "prj_p", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, err := New(Config{Token: test.token, TeamID: test.team, ProjectID: test.project, Now: func() time.Time { return now }})
			if test.kind != "" {
				if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
					t.Fatalf("got %v", err)
				}
				var typed *backends.Error
				if errors.As(err, &typed); typed.Remedy == "" {
					t.Error("the error says no way on")
				}
				if len(test.token) > 5 && strings.Contains(err.Error(), test.token[:5]) {
					t.Errorf("the error shows the token: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if client.TeamID() != test.wantTeam || client.ProjectID() != test.wantProj {
				t.Errorf("got %s and %s", client.TeamID(), client.ProjectID())
			}
		})
	}
}

// TestTokenExpiresMeanwhile: an OIDC token can end within a run; no request goes out with it.
func TestTokenExpiresMeanwhile(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := serve(t, always(200, stateObject()))
	c := clientOf(t, s, func(c *Config) {
		c.Token = oidc(object{"owner_id": testTeam, "project_id": testProject, "exp": 1_700_000_060})
		c.Now = func() time.Time { return now }
	})
	if err := read(t, c); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	wantKind(t, read(t, c), backends.Unauthorized)
	if err := create(t, c); Ambiguous(err) {
		t.Errorf("nothing was sent: %v", err)
	}
	wantRequests(t, s, 1)
}

func TestEnvironment(t *testing.T) {
	token := oidc(object{"owner_id": "team_o", "project_id": "prj_o"})
	for _, test := range []struct {
		name   string
		config Config
		env    map[string]string
		want   [3]string
	}{
		{"variables", Config{}, map[string]string{"VERCEL_TOKEN": "t", "VERCEL_TEAM_ID": "team_e", "VERCEL_PROJECT_ID": "prj_e"}, [3]string{"t", "team_e", "prj_e"}},
		{"configuration wins", Config{Token: "c", TeamID: "team_c", ProjectID: "prj_c"}, map[string]string{"VERCEL_TOKEN": "t", "VERCEL_TEAM_ID": "team_e", "VERCEL_OIDC_TOKEN": token}, [3]string{"c", "team_c", "prj_c"}},
		{"an access token goes first", Config{}, map[string]string{"VERCEL_TOKEN": "t", "VERCEL_OIDC_TOKEN": token, "VERCEL_TEAM_ID": "team_e", "VERCEL_PROJECT_ID": "prj_e"}, [3]string{"t", "team_e", "prj_e"}},
		{"OIDC", Config{}, map[string]string{"VERCEL_OIDC_TOKEN": token + "\n"}, [3]string{token, "", ""}},
		{"OIDC, variables of another project", Config{}, map[string]string{"VERCEL_OIDC_TOKEN": token, "VERCEL_TEAM_ID": "team_e", "VERCEL_PROJECT_ID": "prj_e"}, [3]string{token, "", ""}},
		{"mixed", Config{TeamID: "team_c"}, map[string]string{"VERCEL_TOKEN": "t", "VERCEL_PROJECT_ID": "prj_e"}, [3]string{"t", "team_c", "prj_e"}},
	} {
		got := test.config.WithEnvironment(func(name string) string { return test.env[name] })
		if [3]string{got.Token, got.TeamID, got.ProjectID} != test.want {
			t.Errorf("%s: got %q %q %q", test.name, got.Token, got.TeamID, got.ProjectID)
		}
	}
}

func TestBaseURL(t *testing.T) {
	for address, ok := range map[string]bool{
		"": true, "https://vercel.com/api": true, "https://api.vercel.com/": true, "http://127.0.0.1:8080/api": true, "http://localhost": true, "http://[::1]:1": true,
		"http://vercel.com/api": false, "http://localhost.evil.example": false, "http://127.0.0.1.evil.example": false, "http://10.0.0.1": false,
		"ftp://vercel.com": false, "vercel.com/api": false, "https://": false, "https://user:pass@vercel.com": false, "https://vercel.com/?x=1": false,
		"https://vercel.com/#f": false, "mailto:a@b": false, "http://0.0.0.0": false, ":": false,
	} {
		config := testConfig(address)
		_, err := New(config)
		if ok != (err == nil) {
			t.Errorf("%q: got %v", address, err)
		}
		if err != nil && (!errors.Is(err, backends.Invalid) || strings.Contains(err.Error(), "pass@")) {
			t.Errorf("%q: got %v", address, err)
		}
	}
}
