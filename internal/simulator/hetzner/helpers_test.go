package hetzner

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"golang.org/x/crypto/ssh"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// project is a simulator with the vendor's own client.
type project struct {
	t      *testing.T
	server *Server
	hcloud *hcloud.Client
}

// newProject starts a simulator. The client polls and retries without waiting long.
func newProject(t *testing.T, config Config, options ...hcloud.ClientOption) project {
	t.Helper()
	server := Start(t, config)
	options = append([]hcloud.ClientOption{
		hcloud.WithEndpoint(server.URL()), hcloud.WithToken(server.Token()),
		hcloud.WithPollOpts(hcloud.PollOpts{BackoffFunc: hcloud.ConstantBackoff(2 * time.Millisecond)}),
		hcloud.WithRetryOpts(hcloud.RetryOpts{BackoffFunc: hcloud.ConstantBackoff(time.Millisecond), MaxRetries: 5}),
	}, options...)
	return project{t: t, server: server, hcloud: hcloud.NewClient(options...)}
}

// atNoon starts a simulator whose time stands still.
func atNoon(t *testing.T, settings Settings) (project, *simkit.VirtualClock) {
	t.Helper()
	clock := simkit.NewVirtualClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	return newProject(t, Config{Clock: clock, Settings: settings}), clock
}

type fields = map[string]any

// answered is what came back, as it is.
type answered struct {
	status  int
	header  http.Header
	content []byte
}

func (p project) send(method, path string, body any) answered {
	p.t.Helper()
	got, err := p.try(method, path, p.server.Token(), body)
	if err != nil {
		p.t.Fatal(err)
	}
	return got
}

// try sends a request that may get no answer. A body that is a string is sent as it is.
func (p project) try(method, path, token string, body any) (answered, error) {
	p.t.Helper()
	var content io.Reader = http.NoBody
	switch body := body.(type) {
	case nil:
	case string:
		content = strings.NewReader(body)
	default:
		encoded, err := json.Marshal(body)
		if err != nil {
			p.t.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.server.URL()+path, content)
	if err != nil {
		p.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.Close = true // or the transport sends it again by itself
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answered{}, err
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	return answered{response.StatusCode, response.Header, read}, err
}

// want sends a request that has to be answered with a status, and returns the answer.
func (p project) want(status int, method, path string, body any) fields {
	p.t.Helper()
	got := p.send(method, path, body)
	if got.status != status {
		p.t.Fatalf("%s %s: status %d, want %d: %s", method, path, got.status, status, got.content)
	}
	var answer fields
	if len(got.content) == 0 {
		return nil
	}
	if err := json.Unmarshal(got.content, &answer); err != nil {
		p.t.Fatalf("%s %s: %v: %s", method, path, err, got.content)
	}
	return answer
}

// refused sends a request that has to fail with a status and a code, on a field unless that is empty.
func (p project) refused(status int, code, field, method, path string, body any) {
	p.t.Helper()
	answer := p.want(status, method, path, body)
	if got := text(answer, "error", "code"); got != code {
		p.t.Errorf("%s %s: code %q, want %s: %v", method, path, got, code, answer)
	}
	named, _ := at(answer, "error", "details", "fields").([]any)
	if field == "" {
		return
	}
	for _, one := range named {
		if text(one, "name") == field {
			return
		}
	}
	p.t.Errorf("%s %s: it does not name the field %s: %v", method, path, field, answer)
}

// at returns what lies at a path of keys; nil when there is nothing.
func at(from any, keys ...string) any {
	for _, key := range keys {
		inner, ok := from.(fields)
		if !ok {
			return nil
		}
		from = inner[key]
	}
	return from
}

func text(from any, keys ...string) string {
	value, _ := at(from, keys...).(string)
	return value
}

func number(from any, keys ...string) int64 {
	value, _ := at(from, keys...).(float64)
	return int64(value)
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func must[T any](t *testing.T) func(value T, _ *hcloud.Response, err error) T {
	return func(value T, _ *hcloud.Response, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// publicKey makes a new one, in authorized_keys form.
func publicKey(t *testing.T) string {
	t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// newServer makes a server as a small client does, and waits until it runs.
func (p project) newServer(name string, more fields) int64 {
	p.t.Helper()
	body := fields{"name": name, "server_type": "cx23", "image": "debian-13", "location": "fsn1"}
	for key, value := range more {
		body[key] = value
	}
	id := number(p.want(201, "POST", "/servers", body), "server", "id")
	p.settle()
	return id
}

// settle waits until no action runs. With a clock that stands still it moves that on.
func (p project) settle() {
	p.t.Helper()
	if clock, virtual := p.server.config.Clock.(*simkit.VirtualClock); virtual {
		clock.Advance(time.Second)
		return
	}
	p.until("no action runs", func() bool {
		for _, one := range p.server.Inventory().Actions {
			if one.Status == "running" {
				return false
			}
		}
		return true
	})
}

// until polls.
func (p project) until(what string, reached func() bool) {
	p.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !reached() {
		if time.Now().After(deadline) {
			p.t.Fatalf("it never came to be: %s: %+v", what, p.server.Inventory())
		}
		time.Sleep(time.Millisecond)
	}
}

func (p project) status(id int64) string {
	p.t.Helper()
	return text(p.want(200, "GET", serverPath(id), nil), "server", "status")
}

func serverPath(id int64) string { return "/servers/" + strconv.FormatInt(id, 10) }

func ipPath(id int64) string { return "/primary_ips/" + strconv.FormatInt(id, 10) }
