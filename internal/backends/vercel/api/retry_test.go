package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func read(t *testing.T, c *Client) error {
	t.Helper()
	_, err := c.GetSandbox(t.Context(), "demo")
	return err
}

func remove(t *testing.T, c *Client) error {
	t.Helper()
	_, err := c.DeleteSandbox(t.Context(), "demo", false)
	return err
}

func create(t *testing.T, c *Client) error {
	t.Helper()
	_, err := c.CreateSandbox(t.Context(), CreateRequest{Name: "demo"})
	return err
}

func update(t *testing.T, c *Client) error {
	t.Helper()
	_, err := c.UpdateSandbox(t.Context(), "demo", UpdateRequest{})
	return err
}

// TestRetries counts the requests of the rule in section 4. The first answer is given twice, then
// all is well; a call that is not repeated sees it once.
func TestRetries(t *testing.T) {
	ok := always(http.StatusOK, stateObject())
	status := func(code int) http.HandlerFunc { return alwaysError(code, "internal", "no") }
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"sandbox":`))
	}
	for _, test := range []struct {
		name      string
		bad       http.HandlerFunc
		send      func(*testing.T, *Client) error
		requests  int
		kind      backends.ErrorKind // empty: success
		ambiguous bool
	}{
		{"read, 429", status(429), read, 3, "", false},
		{"read, 500", status(500), read, 3, "", false},
		{"read, 503", status(503), read, 3, "", false},
		{"read, connection lost", drop, read, 3, "", false},
		{"read, answer cut", cut, read, 3, "", false},
		{"read, 404", status(404), read, 1, backends.Failed, false},
		{"read, 409", status(409), read, 1, backends.Conflict, false},
		{"delete, 429", status(429), remove, 3, "", false},
		{"delete, 502", status(502), remove, 3, "", false},
		{"delete, connection lost", drop, remove, 3, "", false},
		{"create, 429", status(429), create, 3, "", false},
		{"create, 500", status(500), create, 1, backends.Failed, true},
		{"create, 503", status(503), create, 1, backends.Failed, true},
		{"create, 504", status(504), create, 1, backends.TimedOut, true},
		{"create, connection lost", drop, create, 1, backends.Failed, true},
		{"create, answer cut", cut, create, 1, backends.Failed, true},
		{"create, 400", status(400), create, 1, backends.Invalid, false},
		{"update, 429", status(429), update, 3, "", false},
		{"update, 500", status(500), update, 1, backends.Failed, true},
		{"update, connection lost", drop, update, 1, backends.Failed, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, inTurn(test.bad, test.bad, ok))
			err := test.send(t, clientOf(t, s))
			wantRequests(t, s, test.requests)
			if test.kind == "" && err != nil {
				t.Fatal(err)
			}
			if test.kind != "" {
				wantKind(t, err, test.kind)
			}
			if Ambiguous(err) != test.ambiguous {
				t.Errorf("ambiguous is %v, want %v: %v", Ambiguous(err), test.ambiguous, err)
			}
		})
	}
}

// TestNameTakenByOurselves: a name that is taken after a 429 may have been taken by that very attempt.
func TestNameTakenByOurselves(t *testing.T) {
	taken := alwaysError(400, CodeBadRequest, "A sandbox of this name already exists.")
	for name, handler := range map[string]http.HandlerFunc{"at once": taken, "after a 429": inTurn(alwaysError(429, "rate_limited", "slow down"), taken)} {
		err := create(t, clientOf(t, serve(t, handler)))
		wantKind(t, err, backends.AlreadyExists)
		if Ambiguous(err) != (name == "after a 429") {
			t.Errorf("%s: ambiguous is %v: %v", name, Ambiguous(err), err)
		}
	}
}

// TestRetriesEnd: the last answer becomes the error.
func TestRetriesEnd(t *testing.T) {
	s := serve(t, alwaysError(503, "internal_server_error", "try later"))
	err := read(t, clientOf(t, s))
	wantKind(t, err, backends.Failed)
	wantRequests(t, s, 4)
	if CodeOf(err) != "internal_server_error" || StatusOf(err) != 503 {
		t.Errorf("the last answer is not in the error: %v", err)
	}
	s = serve(t, alwaysError(429, "rate_limited", "slow down"))
	err = create(t, clientOf(t, s))
	wantKind(t, err, backends.RateLimited)
	wantRequests(t, s, 4)
	s = serve(t, alwaysError(500, "x", "y"))
	_ = read(t, clientOf(t, s, func(c *Config) { c.Retries = -1 }))
	wantRequests(t, s, 1)
}

// TestWriteIsRepeatedWhenNothingWasSent: nobody listens yet, so no byte can have arrived.
func TestWriteIsRepeatedWhenNothingWasSent(t *testing.T) {
	s := serve(t, always(http.StatusOK, stateObject()))
	refused := 2
	transport := backends.WebTransport()
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if refused > 0 {
			refused--
			return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
		}
		return dial(ctx, network, address)
	}
	if err := create(t, clientOf(t, s, func(c *Config) { c.Transport = transport })); err != nil {
		t.Fatal(err)
	}
	wantRequests(t, s, 1)
	if refused != 0 {
		t.Error("it was not tried again")
	}

	transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") }
	transport.CloseIdleConnections()
	err := create(t, clientOf(t, s, func(c *Config) { c.Transport = transport }))
	wantKind(t, err, backends.Failed)
	if Ambiguous(err) {
		t.Errorf("nothing was sent, so nothing is ambiguous: %v", err)
	}
}

// TestRefusedWriteIsNotAmbiguous: 429 says that nothing was done, also when the time ends before the
// next attempt.
func TestRefusedWriteIsNotAmbiguous(t *testing.T) {
	s := serve(t, alwaysError(429, "rate_limited", "slow down"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	c := clientOf(t, s, func(c *Config) { c.RetryWait, c.LongestRetryWait = time.Second, time.Second })
	_, err := c.CreateSandbox(ctx, CreateRequest{Name: "demo"})
	wantKind(t, err, backends.TimedOut)
	if Ambiguous(err) {
		t.Errorf("got %v", err)
	}
}

// silent is a transport that fails and does not tell whether it sent anything.
type silent struct{ calls int }

func (s *silent) RoundTrip(*http.Request) (*http.Response, error) {
	s.calls++
	return nil, errors.New("broken")
}

func TestSilentTransportCountsAsSent(t *testing.T) {
	transport := &silent{}
	config := testConfig("http://127.0.0.1:1")
	config.Transport = transport
	err := create(t, newClient(t, config))
	if !Ambiguous(err) || transport.calls != 1 {
		t.Errorf("got %v after %d calls", err, transport.calls)
	}
}

func TestRetryAfter(t *testing.T) {
	limited := func(header string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			replyError(w, 429, "rate_limited", "slow down")
		}
	}
	ok := always(http.StatusOK, stateObject())
	now := time.Now()
	for _, test := range []struct {
		name, header string
		atLeast      time.Duration
		requests     int
	}{
		{"seconds", "1", time.Second, 2},
		{"none", "0", 0, 2},
		{"date", now.Add(2 * time.Second).UTC().Format(http.TimeFormat), 500 * time.Millisecond, 2},
		{"date in the past", now.Add(-time.Hour).UTC().Format(http.TimeFormat), 0, 2},
		{"nonsense", "soon", 0, 2},
		{"negative", "-5", 0, 2},
		{"not a number", "NaN", 0, 2},
		{"too long", "4", 0, 1},
		{"far too long", strconv.Itoa(1 << 40), 0, 1},
		{"infinite", "Inf", 0, 1},
		{"date too far", now.Add(time.Hour).UTC().Format(http.TimeFormat), 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, inTurn(limited(test.header), ok))
			start := time.Now()
			err := create(t, clientOf(t, s))
			took := time.Since(start)
			wantRequests(t, s, test.requests)
			if test.requests == 1 {
				wantKind(t, err, backends.RateLimited)
				if took > time.Second {
					t.Errorf("it took %s to give up", took)
				}
			} else if err != nil {
				t.Error(err)
			}
			if took < test.atLeast {
				t.Errorf("it waited %s only", took)
			}
		})
	}
}

// TestRetryAfterBeyondTheDeadline fails at once and not by waiting for the deadline.
func TestRetryAfterBeyondTheDeadline(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "2")
		replyError(w, 429, "rate_limited", "slow down")
	})
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := clientOf(t, s).GetSandbox(ctx, "demo")
	wantKind(t, err, backends.RateLimited)
	if time.Since(start) > time.Second {
		t.Error("it waited although it could not help")
	}
	var found *ResponseError
	if !errors.As(err, &found) || found.RetryAfter != 2*time.Second {
		t.Errorf("the wait is not in the error: %v", err)
	}
}

func TestBackoffGrowsAndIsJittered(t *testing.T) {
	c := newClient(t, testConfig("http://127.0.0.1:1"))
	for attempt, milliseconds := range []int{100, 200, 400, 800, 1000, 1000} {
		most := time.Duration(milliseconds) * time.Millisecond
		for range 50 {
			if wait := c.retryWait(100*time.Millisecond, time.Second, attempt, nil); wait < most/2 || wait > most {
				t.Fatalf("attempt %d waits %s, want between %s and %s", attempt, wait, most/2, most)
			}
		}
	}
}

func TestRateLimit(t *testing.T) {
	s := serve(t, always(http.StatusOK, stateObject()))
	c := clientOf(t, s, func(c *Config) { c.RequestsPerSecond = 10 })
	start := time.Now()
	for range 25 { // a burst of 20, then 5 in turn
		if err := read(t, c); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took < 400*time.Millisecond {
		t.Errorf("25 requests took %s only", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := c.GetSandbox(ctx, "demo")
	wantKind(t, err, backends.TimedOut)
}

// TestDeletionsHaveABoundOfTheirOwn: the API allows 20 a second for the whole team (section 6.5).
func TestDeletionsHaveABoundOfTheirOwn(t *testing.T) {
	c := clientOf(t, serve(t, always(http.StatusOK, stateObject())))
	start := time.Now()
	for range 4 {
		if err := remove(t, c); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took < 180*time.Millisecond {
		t.Errorf("4 deletions took %s only", took)
	}
}

// TestBounds: a server that never answers is given up on, one attempt after the other.
func TestBounds(t *testing.T) {
	before := readBounds
	t.Cleanup(func() { readBounds = before })
	readBounds = bounds{total: 500 * time.Millisecond, attempt: 50 * time.Millisecond}
	release := make(chan struct{})
	defer close(release)
	hang := func(http.ResponseWriter, *http.Request) { <-release }
	s := serve(t, inTurn(hang, hang, always(http.StatusOK, stateObject())))
	if err := read(t, clientOf(t, s)); err != nil {
		t.Errorf("a hanging attempt must not be the end: %v", err)
	}
	s = serve(t, hang)
	start := time.Now()
	wantKind(t, read(t, clientOf(t, s)), backends.TimedOut)
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err := clientOf(t, s).CreateSandbox(ctx, CreateRequest{Name: "demo"})
	wantKind(t, err, backends.TimedOut)
	if !Ambiguous(err) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the create may have happened: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err = clientOf(t, s).GetSandbox(ctx, "demo")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was canceled", err)
	}
}
