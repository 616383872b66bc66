package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func TestResolve(t *testing.T) {
	directory := t.TempDir()
	// The CLI names the directory after the SHA-256 of the context's name.
	meta := filepath.Join(directory, "contexts", "meta", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
	if err := os.MkdirAll(meta, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		filepath.Join(meta, "meta.json"):         `{"Name":"test","Metadata":{},"Endpoints":{"docker":{"Host":"tcp://context.example:2375","SkipTLSVerify":false}}}`,
		filepath.Join(directory, "config.json"):  `{"currentContext":"test"}`,
		filepath.Join(directory, "unrelated.md"): "x",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, row := range map[string]struct {
		config  Config
		env     map[string]string
		address string
		fails   bool
	}{
		"explicit host wins":            {config: Config{Host: "tcp://h:1", Context: "test"}, env: map[string]string{envHost: "tcp://e:2"}, address: "tcp://h:1"},
		"explicit context wins":         {config: Config{Context: "test"}, env: map[string]string{envHost: "tcp://e:2"}, address: "tcp://context.example:2375"},
		"DOCKER_HOST":                   {env: map[string]string{envHost: "tcp://e:2", envContext: "test"}, address: "tcp://e:2"},
		"DOCKER_CONTEXT":                {env: map[string]string{envContext: "test"}, address: "tcp://context.example:2375"},
		"current context":               {address: "tcp://context.example:2375"},
		"the default context":           {config: Config{Context: "default"}, address: "unix:///var/run/docker.sock"},
		"DOCKER_CONTEXT default":        {env: map[string]string{envContext: "default"}, address: "unix:///var/run/docker.sock"},
		"over SSH, without credentials": {config: Config{Host: "ssh://me@host:22"}, address: "ssh://host:22"},
		"absent context":                {config: Config{Context: "absent"}, fails: true},
		"absent certificate":            {config: Config{Host: "tcp://h:1", CACert: "/no/such/file"}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DOCKER_CONFIG", directory)
			for _, variable := range []string{envHost, envContext, envCertPath, envTLSVerify} {
				t.Setenv(variable, row.env[variable])
			}
			restoreConfigDir(t, directory)
			found, err := row.config.resolve()
			if (err != nil) != row.fails || found.address != row.address {
				t.Errorf("got %q, %v", found.address, err)
			}
			if row.fails {
				_, err := New(row.config).Get(t.Context(), "x")
				if backends.KindOf(err) != backends.Invalid {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

// answers serves a fake engine on a socket: the daemon's own failures cannot be had from a sound one.
func answers(t *testing.T, status int, message string) *Backend {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "engine.sock")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/_ping") {
			return
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
	})}
	go func() { _ = server.Serve(listener) }()
	b := New(Config{Host: "unix://" + socket})
	t.Cleanup(func() {
		b.Close()
		server.Close()
	})
	return b
}

func TestErrorKinds(t *testing.T) {
	for _, row := range []struct {
		status  int
		message string
		kind    backends.ErrorKind
	}{
		{http.StatusUnauthorized, "no", backends.Unauthorized},
		{http.StatusForbidden, "no", backends.Unauthorized},
		{http.StatusConflict, "busy", backends.Conflict},
		{http.StatusBadRequest, "bad", backends.Invalid},
		{http.StatusServiceUnavailable, "starting", backends.NotRunning},
		{http.StatusInternalServerError, "write /x: no space left on device", backends.NoCapacity},
		{http.StatusInsufficientStorage, "full", backends.NoCapacity},
		{http.StatusInternalServerError, "boom", backends.Failed},
		{http.StatusBadGateway, "proxy", backends.Failed},
	} {
		t.Run(fmt.Sprintf("%d %s", row.status, row.message), func(t *testing.T) {
			b := answers(t, row.status, row.message)
			_, err := b.Get(t.Context(), "x")
			if backends.KindOf(err) != row.kind {
				t.Errorf("got %v", err)
			}
			if err := b.Delete(t.Context(), backends.Marks{Name: "x"}, everything); backends.KindOf(err) != row.kind {
				t.Errorf("Delete: got %v", err)
			}
			if available := b.Probe(t.Context()); available.Available || available.Reason == "" {
				t.Errorf("probe: %+v", available)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	gone := New(Config{Host: "unix://" + filepath.Join(t.TempDir(), "absent.sock")})
	_, err := gone.Get(t.Context(), "x")
	var typed *backends.Error
	if !errors.As(err, &typed) || typed.Kind != backends.NotRunning || !strings.Contains(typed.Remedy, "absent.sock") {
		t.Errorf("absent socket: %v", err)
	}
	refused := New(Config{Host: "tcp://127.0.0.1:1"})
	if _, err := refused.Get(t.Context(), "x"); backends.KindOf(err) != backends.NotRunning {
		t.Errorf("refused: %v", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	silent := New(Config{Host: "tcp://" + listener.Addr().String()})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := silent.Get(ctx, "x"); backends.KindOf(err) != backends.TimedOut {
		t.Errorf("silent: %v", err)
	}
}

func TestTLSFiles(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Api-Version", "1.41")
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	b := New(Config{Host: "tcp://" + server.Listener.Addr().String(), CACert: writeCertificate(t, server)})
	defer b.Close()
	if available := b.Probe(t.Context()); !available.Available {
		t.Errorf("with its certificate: %+v", available)
	}
	before := calls.Load()
	other := New(Config{Host: "tcp://" + server.Listener.Addr().String(), CACert: writeOtherCertificate(t)})
	defer other.Close()
	if _, err := other.Get(t.Context(), "x"); backends.KindOf(err) != backends.Unauthorized {
		t.Errorf("with another certificate: %v", err)
	}
	if calls.Load() != before {
		t.Error("a request was sent")
	}
}

func TestEffectNames(t *testing.T) {
	for address, want := range map[string]string{
		"/v1.41/containers/create?name=x":                 "POST /containers/create|x",
		"/v1.41/containers/abc/start":                     "POST /containers/{id}/start|abc",
		"/v1.41/containers/abc/archive?path=%2Fworkspace": "POST /containers/{id}/archive|abc /workspace",
		"/v1.41/images/a/b/c:1/json":                      "POST /images/{id}/json|a/b/c:1",
		"/v1.41/images/create?fromImage=a%2Fb&tag=1":      "POST /images/create|a/b",
		"/v1.41/volumes/create":                           "POST /volumes/create|",
		"/v1.41/volumes":                                  "POST /volumes|",
		"/v1.41/commit?container=abc&repo=r":              "POST /commit|abc r",
		"/_ping":                                          "POST /_ping|",
	} {
		parsed, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		effect := effectOf(http.MethodPost, parsed)
		if got := effect.Action + "|" + effect.Object; got != want || !effect.Write {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestNewDoesNothing(t *testing.T) {
	t.Setenv(envHost, "tcp://127.0.0.1:1")
	b := New(Config{Context: "absent", CACert: "/no/such/file"})
	if b.Name() != "docker" || !b.Capabilities().Persistent || b.Close() != nil {
		t.Error("it did something")
	}
}
