package api

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

const (
	testToken   = "tok3nCanaryOfThirtyTwoCharacters"
	testTeam    = "team_x"
	testProject = "prj_p"
)

// seen is one request as the server got it.
type seen struct {
	method, path string
	query        string
	header       http.Header
	body         string
}

// server answers by a handler and keeps what it was asked.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []seen
}

func serve(t *testing.T, handler http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		s.requests = append(s.requests, seen{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Clone(), string(body)})
		s.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *server) all() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// lines are the requests as "METHOD path?query".
func (s *server) lines() []string {
	var lines []string
	for _, request := range s.all() {
		lines = append(lines, request.method+" "+request.path+"?"+request.query)
	}
	return lines
}

// testConfig is quick about waiting.
func testConfig(baseURL string) Config {
	return Config{
		BaseURL: baseURL, Token: testToken, TeamID: testTeam, ProjectID: testProject,
		RequestsPerSecond: 10000, Retries: 3, RetryWait: time.Millisecond, LongestRetryWait: 4 * time.Millisecond,
		LongestRetryAfter: 3 * time.Second, PollInterval: time.Millisecond, SettleTime: 50 * time.Millisecond,
		Transport: backends.WebTransport(),
	}
}

func newClient(t *testing.T, config Config) *Client {
	t.Helper()
	client, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.http.HTTPClient.CloseIdleConnections)
	return client
}

// clientOf makes a client of a server below /api.
func clientOf(t *testing.T, s *server, change ...func(*Config)) *Client {
	t.Helper()
	config := testConfig(s.URL + "/api")
	for _, set := range change {
		set(&config)
	}
	return newClient(t, config)
}

type object = map[string]any

// merged returns base with changes; a change to absent removes the member.
func merged(base object, changes ...object) object {
	base = maps.Clone(base)
	for _, change := range changes {
		for key, value := range change {
			if value == absent {
				delete(base, key)
			} else {
				base[key] = value
			}
		}
	}
	return base
}

var absent any = new(int)

// The smallest objects that the SDK's validator accepts (section 13).
func sandboxObject(changes ...object) object {
	return merged(object{
		"name": "demo", "persistent": true, "currentSessionId": "sbx_S", "status": "running",
		"createdAt": 1700000000000, "updatedAt": 1700000000001,
	}, changes...)
}

func sessionObject(changes ...object) object {
	return merged(object{
		"id": "sbx_S", "memory": 4096, "vcpus": 2, "region": "iad1", "timeout": 300000, "status": "running",
		"requestedAt": 1700000000000, "createdAt": 1700000000000, "updatedAt": 1700000000000, "cwd": "/vercel/sandbox",
	}, changes...)
}

func snapshotObject(changes ...object) object {
	return merged(object{
		"id": "snap_1", "sourceSessionId": "sbx_S", "region": "iad1", "status": "created", "sizeBytes": 5,
		"createdAt": 1700000000000, "updatedAt": 1700000000000,
	}, changes...)
}

func commandObject(changes ...object) object {
	return merged(object{
		"id": "cmd_C", "name": "echo", "args": []string{"hi"}, "cwd": "/", "sessionId": "sbx_S",
		"exitCode": nil, "startedAt": 1700000000000,
	}, changes...)
}

func stateObject(changes ...object) object {
	return merged(object{"sandbox": sandboxObject(), "session": sessionObject(), "routes": []any{}, "resumed": false}, changes...)
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func replyError(w http.ResponseWriter, status int, code, message string) {
	reply(w, status, object{"error": object{"code": code, "message": message}})
}

// always answers every request the same way.
func always(status int, body any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { reply(w, status, body) }
}

func alwaysError(status int, code, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { replyError(w, status, code, message) }
}

// inTurn answers with one handler after the other; the last one stays.
func inTurn(handlers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		next := handlers[0]
		if len(handlers) > 1 {
			handlers = handlers[1:]
		}
		mu.Unlock()
		next(w, r)
	}
}

func drop(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func wantKind(t *testing.T, err error, kind backends.ErrorKind) {
	t.Helper()
	if err == nil || backends.KindOf(err) != kind {
		t.Fatalf("got the error %v, want the kind %q", err, kind)
	}
	if strings.Contains(err.Error(), testToken[:8]) {
		t.Errorf("the error shows the token: %v", err)
	}
}

func wantRequests(t *testing.T, s *server, count int) {
	t.Helper()
	if got := s.lines(); len(got) != count {
		t.Errorf("got %d requests, want %d: %q", len(got), count, got)
	}
}

// sameJSON compares by meaning.
func sameJSON(a, b string) bool {
	if a == b {
		return true
	}
	var left, right any
	if json.Unmarshal([]byte(a), &left) != nil || json.Unmarshal([]byte(b), &right) != nil {
		return false
	}
	first, _ := json.Marshal(left)
	second, _ := json.Marshal(right)
	return bytes.Equal(first, second)
}
