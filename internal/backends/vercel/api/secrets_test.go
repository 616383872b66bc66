package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// secretsOfCalls are values that callers send and that the API might quote.
var secretsOfCalls = []string{
	testToken, "env-value-canary", "git-password-canary", "header-value-canary", "body-of-response-canary", "argument-canary",
}

// TestSecretsStayOut lets the API quote every secret, whole and in halves, in codes, messages,
// status lines, streams and redirects, and looks for fragments in errors and effects.
func TestSecretsStayOut(t *testing.T) {
	var quoted strings.Builder
	for _, secret := range secretsOfCalls {
		fmt.Fprintf(&quoted, "%s, %s and %s; ", secret, secret[:len(secret)/2], secret[len(secret)/2:])
	}
	quote := quoted.String()
	policy := &NetworkPolicy{Mode: PolicyCustom, Rules: map[string][]PolicyRule{"a.b": {
		{Transform: []HeaderTransform{{Headers: map[string]string{"X": "header-value-canary"}}}},
		{Response: &DirectResponse{StatusCode: 200, Body: pointer("body-of-response-canary"), ContentType: "text/plain"}},
	}}}
	env := map[string]string{"A": "env-value-canary"}
	source := FromGit("https://h/r", "")
	source.Username, source.Password = "u", "git-password-canary"
	calls := map[string]func(context.Context, *Client) error{
		"create": func(ctx context.Context, c *Client) error {
			_, err := c.CreateSandbox(ctx, CreateRequest{Name: "demo", Env: env, Source: source, NetworkPolicy: policy})
			return err
		},
		"fork": func(ctx context.Context, c *Client) error {
			_, err := c.ForkSandbox(ctx, "demo", ForkRequest{Name: "f", Env: env, NetworkPolicy: policy})
			return err
		},
		"update": func(ctx context.Context, c *Client) error {
			_, err := c.UpdateSandbox(ctx, "demo", UpdateRequest{Env: env, NetworkPolicy: policy})
			return err
		},
		"policy": func(ctx context.Context, c *Client) error {
			_, err := c.SetNetworkPolicy(ctx, "sbx_S", *policy)
			return err
		},
		"run": func(ctx context.Context, c *Client) error {
			_, err := c.RunCommand(ctx, "sbx_S", CommandRequest{Command: "x", Args: []string{"argument-canary"}, Env: env}, func(Output) error { return nil })
			return err
		},
		"start": func(ctx context.Context, c *Client) error {
			_, err := c.StartCommand(ctx, "sbx_S", CommandRequest{Command: "x", Args: []string{"argument-canary"}, Env: env})
			return err
		},
	}
	sent := map[string][]string{
		"create": {"env-", "git-", "header-", "body-"}, "fork": {"env-", "header-", "body-"}, "update": {"env-", "header-", "body-"},
		"policy": {"header-", "body-"}, "run": {"env-", "argument-"}, "start": {"env-", "argument-"},
	}
	answers := map[string]http.HandlerFunc{
		"message":                alwaysError(400, "bad_request", quote),
		"late in a long message": alwaysError(400, "bad_request", strings.Repeat("x", longestMessage-20)+testToken+quote),
		"code":                   alwaysError(500, quote, "no"),
		"page": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/"+testToken)
			_, _ = w.Write([]byte(quote))
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+testToken+".invalid/", http.StatusTemporaryRedirect)
		},
		"retry": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", testToken)
			replyError(w, 429, "x", quote)
		},
		"stream": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", streamType)
			_, _ = fmt.Fprintf(w, `{"stream":"error","data":{"code":%q,"message":%q}}`+"\n", "c "+testToken, quote)
		},
		"broken stream": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", streamType)
			_, _ = fmt.Fprintln(w, quote)
		},
	}
	for call, send := range calls {
		for name, handler := range answers {
			var mu sync.Mutex
			var told []string
			c := clientOf(t, serve(t, handler), func(c *Config) {
				c.Retries = 1
				c.Observer = func(_ context.Context, phase effects.Phase, effect effects.Effect) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, fmt.Sprint(phase, effect))
				}
			})
			err := send(t.Context(), c)
			if err == nil {
				t.Errorf("%s, %s: no error", call, name)
				continue
			}
			texts := append(told, err.Error(), fmt.Sprintf("%+v %#v", err, err))
			for wrapped := err; wrapped != nil; wrapped = errors.Unwrap(wrapped) {
				texts = append(texts, fmt.Sprintf("%v %+v", wrapped, wrapped))
			}
			for _, text := range texts {
				if fragment := leaked(text, testToken); fragment != "" {
					t.Errorf("%s, %s: the token's %q is in %q", call, name, fragment, text)
				}
				for _, secret := range secretsOfCalls {
					for _, prefix := range sent[call] {
						if fragment := leaked(text, secret); strings.HasPrefix(secret, prefix) && fragment != "" {
							t.Errorf("%s, %s: %q of %q is in %q", call, name, fragment, secret, text)
						}
					}
				}
			}
		}
	}
}

// leakLength is how many bytes of a secret in a row count as a leak.
const leakLength = 8

// leaked returns a run of leakLength bytes that text has of secret.
func leaked(text, secret string) string {
	for i := 0; i+leakLength <= len(secret); i++ {
		if fragment := secret[i : i+leakLength]; strings.Contains(text, fragment) {
			return fragment
		}
	}
	return ""
}

// TestTransportErrorsAreRedacted: causes of the network may quote addresses and headers.
func TestTransportErrorsAreRedacted(t *testing.T) {
	config := testConfig("http://127.0.0.1:1")
	config.Transport = failing("proxy said: Authorization: Bearer " + testToken + " is bad")
	err := create(t, newClient(t, config))
	if fragment := leaked(fmt.Sprintf("%v %+v", err, err), testToken); fragment != "" || !strings.Contains(err.Error(), "proxy said") {
		t.Errorf("got %v", err)
	}
}

type failing string

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New(string(f)) }

func TestPrintingHidesTheToken(t *testing.T) {
	config := testConfig("http://127.0.0.1:1")
	client := newClient(t, config)
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, value := range []any{config, &config, client} {
			if text := fmt.Sprintf(format, value); strings.Contains(text, testToken) {
				t.Errorf("%s of %T shows the token: %s", format, value, text)
			}
		}
	}
}

func TestRedact(t *testing.T) {
	const secret = "abcdefghijklmnop"
	for in, want := range map[string]string{
		"nothing here":                         "nothing here",
		"all " + secret + " of it":             "all (redacted) of it",
		"half abcdefgh.":                       "half (redacted).",
		"seven abcdefg.":                       "seven abcdefg.",
		"end ijklmnop":                         "end (redacted)",
		"twice " + secret + secret:             "twice (redacted)(redacted)",
		"lines\r\n\tand \x1b[31mcolors\x00 go": "lines and [31mcolors go",
		"short pass word":                      "short (redacted) word",
		"a tiny one":                           "a tiny one",
	} {
		if got := redact(in, 200, secret, "pass", "iny", ""); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got := redact(strings.Repeat("é", 100), 11); got != strings.Repeat("é", 5)+"…" {
		t.Errorf("a cut must not split a character: %q", got)
	}
	if got := redact(strings.Repeat("x", 1<<20)+secret, 10, secret); got != "xxxxxxxxxx…" {
		t.Errorf("got %q", got)
	}
}
