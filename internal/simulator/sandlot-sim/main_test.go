package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

func TestServes(t *testing.T) {
	for name, want := range map[string]struct {
		base, path string
		length     int // of the token
		wrong      int // the status of another token
	}{
		"vercel":  {"/api", "/v2/sandboxes?teamId=" + vercel.DefaultTeam + "&project=" + vercel.DefaultProject.ID, 26, http.StatusForbidden},
		"hetzner": {"/v1", "/servers", 64, http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			reader, writer := io.Pipe()
			ended := make(chan int, 1)
			go func() {
				ended <- run(ctx, []string{name, "--listen", "127.0.0.1:0", "--state", t.TempDir()}, writer, io.Discard)
				writer.Close()
			}()
			lines := bufio.NewScanner(reader)
			var printed []string
			for range 2 {
				if !lines.Scan() {
					t.Fatal("it prints too little")
				}
				printed = append(printed, lines.Text())
			}
			url, token := printed[0], printed[1]
			if !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(url, want.base) || len(token) != want.length {
				t.Errorf("it prints %q", printed)
			}
			for bearer, status := range map[string]int{token: http.StatusOK, "other": want.wrong, "": http.StatusUnauthorized} {
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+want.path, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				if bearer != "" {
					request.Header.Set("Authorization", "Bearer "+bearer)
				}
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if response.StatusCode != status {
					t.Errorf("token %q: status %d, want %d", bearer, response.StatusCode, status)
				}
			}
			cancel()
			select {
			case code := <-ended:
				if code != 0 {
					t.Errorf("it ended with %d", code)
				}
			case <-time.After(10 * time.Second):
				t.Error("it does not end")
			}
		})
	}
}

func TestUsage(t *testing.T) {
	for arguments, want := range map[string]struct {
		code int
		says string
	}{
		"":                                   {exitUsage, "Usage: sandlot-sim SERVICE"},
		"help":                               {0, "Vercel Sandbox"},
		"hcloud":                             {exitUsage, `there is no service "hcloud"; there are: hetzner, vercel`},
		"hetzner -h":                         {0, "-virtual-clock"},
		"hetzner --preinstalled":             {exitUsage, "about -machines"},
		"hetzner --machines --virtual-clock": {exitUsage, "wall clock"},
		"hetzner more":                       {exitUsage, `"more" is one argument too many`},
		"hetzner --token short":              {exitFailure, "the token has 5 characters, not 64"},
		"hetzner --listen 0.0.0.0:0":         {exitFailure, "loopback"},
		"vercel -h":                          {0, "-listen"},
		"vercel --lissen x":                  {exitUsage, "-lissen"},
		"vercel more":                        {exitUsage, `"more" is one argument too many`},
		"vercel --source x":                  {exitUsage, "URL=FILE"},
		"vercel --plan gold":                 {exitFailure, `unknown plan "gold"`},
		"vercel --listen 0.0.0.0:0":          {exitFailure, "loopback"},
		"vercel --listen example.com:80":     {exitFailure, "loopback"},
		"vercel --listen nonsense":           {exitFailure, "missing port"},
	} {
		var output bytes.Buffer
		code := run(t.Context(), strings.Fields(arguments), &output, &output)
		if code != want.code || !strings.Contains(output.String(), want.says) {
			t.Errorf("%q: status %d, %s", arguments, code, output.String())
		}
	}
}

// TestNotReleased: the archives hold what the root of the module builds.
func TestNotReleased(t *testing.T) {
	content, err := os.ReadFile("../../../.goreleaser.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, builds, _ := strings.Cut(string(content), "\nbuilds:\n")
	builds, _, _ = strings.Cut(builds, "\narchives:")
	if strings.Count(builds, "\n  - ") > 1 || strings.Contains(builds, "main:") || strings.Contains(builds, "dir:") {
		t.Errorf("more than the provider is built:\n%s", builds)
	}
}
