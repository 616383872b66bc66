package vercel

import (
	"net/http"
	"testing"
)

func TestAccess(t *testing.T) {
	server := Start(t, Config{TeamSlug: "acme"})
	for name, one := range map[string]struct {
		token, query, host string
		want               int
	}{
		"good":         {token: "Bearer " + DefaultToken, query: "?teamId=" + DefaultTeam, want: 200},
		"slug":         {token: "Bearer " + DefaultToken, query: "?slug=acme", want: 200},
		"no token":     {query: "?teamId=" + DefaultTeam, want: 401},
		"other scheme": {token: "Basic " + DefaultToken, query: "?teamId=" + DefaultTeam, want: 401},
		"wrong token":  {token: "Bearer x", query: "?teamId=" + DefaultTeam, want: 403},
		"no team":      {token: "Bearer " + DefaultToken, want: 403},
		"wrong team":   {token: "Bearer " + DefaultToken, query: "?teamId=team_2", want: 403},
		"rebound name": {token: "Bearer " + DefaultToken, query: "?teamId=" + DefaultTeam, host: "example.com", want: 421},
		"localhost":    {token: "Bearer " + DefaultToken, query: "?teamId=" + DefaultTeam, host: "localhost:80", want: 200},
	} {
		joint := "?"
		if one.query != "" {
			joint = "&"
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"/v2/sandboxes"+one.query+joint+"project="+DefaultProject.ID, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if one.token != "" {
			request.Header.Set("Authorization", one.token)
		}
		request.Host = one.host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		equal(t, name, response.StatusCode, one.want)
	}
	if _, err := Listen("0.0.0.0:0", Config{}); err == nil {
		t.Error("it listens to everyone")
	}
}
