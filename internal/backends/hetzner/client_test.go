package hetzner_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// fixture is a simulated project and a client that does not wait long.
type fixture struct {
	t      *testing.T
	api    *simulator.Server
	client *hetzner.Client
}

func newFixture(t *testing.T, settings simulator.Settings) *fixture {
	t.Helper()
	f := &fixture{t: t, api: simulator.Start(t, simulator.Config{Settings: settings})}
	f.client = f.open(hetzner.Config{})
	return f
}

func (f *fixture) open(config hetzner.Config) *hetzner.Client {
	config.Endpoint, config.Token = f.api.URL(), f.api.Token()
	config.PollInterval, config.LongestPollInterval, config.RetryWait = 2*time.Millisecond, 20*time.Millisecond, time.Millisecond
	if config.SettleTime == 0 {
		config.SettleTime = 50 * time.Millisecond
	}
	return hetzner.New(config)
}

func (f *fixture) bounded(patience time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	f.t.Cleanup(cancel)
	return ctx
}

func (f *fixture) inject(fault simkit.Fault) {
	f.t.Helper()
	if err := f.api.Inject(fault); err != nil {
		f.t.Fatal(err)
	}
}

// Every code of section 2.1 is an error of a kind, with its code, sent again where the library does that,
// and with nothing of the API's message.
func TestCodes(t *testing.T) {
	t.Parallel()
	const tries = 11 // the first and our ten retries
	for _, row := range []struct {
		status int
		code   string
		kind   backends.ErrorKind
		sent   int
	}{
		{400, "json_error", backends.Invalid, 1},
		{401, "unauthorized", backends.Unauthorized, 1},
		{401, "token_readonly", backends.Unauthorized, 1},
		{403, "forbidden", backends.Unauthorized, 1},
		{403, "maintenance", backends.Conflict, 1},
		{403, "resource_limit_exceeded", backends.NoCapacity, 1},
		{404, "not_found", backends.NotFound, 1},
		{405, "method_not_allowed", backends.Unsupported, 1},
		{409, "uniqueness_error", backends.AlreadyExists, 1},
		{410, "deprecated_api_endpoint", backends.Unsupported, 1},
		{412, "resource_unavailable", backends.NoCapacity, 1},
		{412, "primary_ip_version_mismatch", backends.Invalid, 1},
		{422, "invalid_input", backends.Invalid, 1},
		{422, "service_error", backends.Failed, 1},
		{422, "unsupported_error", backends.Unsupported, 1},
		{422, "placement_error", backends.NoCapacity, 1},
		{422, "primary_ip_assigned", backends.Conflict, 1},
		{422, "primary_ip_datacenter_mismatch", backends.Invalid, 1},
		{422, "server_not_stopped", backends.Conflict, 1},
		{422, "server_has_ipv4", backends.Conflict, 1},
		{422, "server_has_ipv6", backends.Conflict, 1},
		{422, "primary_ip_already_assigned", backends.Conflict, 1},
		{422, "must_be_unassigned", backends.Conflict, 1},
		{422, "server_is_load_balancer_target", backends.Conflict, 1},
		{422, "invalid_server_type", backends.Invalid, 1},
		{423, "protected", backends.Conflict, 1},
		{429, "rate_limit_exceeded", backends.RateLimited, tries},
		{500, "server_error", backends.Failed, 1},
		{500, "unknown_error", backends.Failed, 1},
		{502, "bad_gateway", backends.Failed, tries},
		{503, "unavailable", backends.Failed, 1},
		{503, "robot_unavailable", backends.Failed, 1},
		{504, "timeout", backends.TimedOut, tries},
		{423, "resource_locked", backends.Conflict, 1},
		{409, "resource_in_use", backends.Conflict, 1},
		// A code of the future is judged by its status.
		{403, "something_new", backends.Unauthorized, 1},
		{422, "something_new", backends.Failed, 1},
		{500, "something_new", backends.Failed, 1},
	} {
		t.Run(fmt.Sprint(row.status, " ", row.code), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, simulator.Settings{})
			half := f.api.Token()[:32]
			f.inject(simkit.Fault{Method: "POST", Path: "/ssh_keys", Count: -1, Status: row.status, Code: row.code, Message: "canary " + half})
			_, err := f.client.CreateSSHKey(f.bounded(20*time.Second), "key", "ssh-ed25519 AAAA", nil)
			var failure *backends.Error
			var answer *hetzner.APIError
			if !errors.As(err, &failure) || failure.Kind != row.kind || failure.Detail == "" || failure.Object != "key" || failure.Operation != "create SSH key" {
				t.Fatalf("it is %+v", err)
			}
			if !errors.As(err, &answer) || answer.Status != row.status || string(answer.Code) != row.code || !errors.Is(err, hetzner.Code(row.code)) {
				t.Errorf("the cause is %+v", answer)
			}
			if strings.Contains(err.Error(), half[:9]) || strings.Contains(err.Error(), "canary") {
				t.Errorf("it tells what the API said: %v", err)
			}
			if unsure := hetzner.Unsure(err); unsure != (row.status >= 500) {
				t.Errorf("unsure is %v", unsure)
			}
			if sent := len(f.api.Requests()); sent != row.sent {
				t.Errorf("it was sent %d times, want %d", sent, row.sent)
			}
		})
	}
}

// "locked" and "conflict" are repeated for as long as the context allows, and then told.
func TestPatience(t *testing.T) {
	t.Parallel()
	for code, status := range map[string]int{"locked": 423, "conflict": 409} {
		f := newFixture(t, simulator.Settings{})
		key, err := f.client.CreateSSHKey(t.Context(), "key", publicKey, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.inject(simkit.Fault{Method: "DELETE", Path: "/ssh_keys/*", Count: 15, Status: status, Code: code})
		if err := f.client.DeleteSSHKey(f.bounded(time.Minute), key.ID); err != nil {
			t.Errorf("%s: %v", code, err)
		}
		f.inject(simkit.Fault{Method: "DELETE", Path: "/ssh_keys/*", Count: -1, Status: status, Code: code})
		err = f.client.DeleteSSHKey(f.bounded(300*time.Millisecond), key.ID)
		if !errors.Is(err, backends.Conflict) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s for ever: %v", code, err)
		}
	}
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDkXyvAixxFyMcYDDDXwJ0qJhHRTDAGFSXJFr9bMSzUs"

// What is no answer of the API is never absence, and ends.
func TestNoAnswers(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]simkit.Fault{
		"HTML":         {Status: 200, Body: "<html>welcome</html>"},
		"404 of HTML":  {Status: 404, Body: "<html>not here</html>"},
		"endless":      {Status: 200, Body: strings.Repeat(" ", 1<<16), Endless: true, Header: map[string]string{"Content-Type": "application/json"}},
		"redirection":  {Status: 302, Body: "x", Header: map[string]string{"Location": "http://127.0.0.1:1/v1/servers/1"}},
		"cut":          {Cut: simkit.CutBefore},
		"half a JSON":  {Status: 200, Body: `{"server":{"id":`, Header: map[string]string{"Content-Type": "application/json"}},
		"429 of HTML":  {Status: 429, Body: "<html>"},
		"unknown JSON": {Status: 418, Body: `{"oops":true}`, Header: map[string]string{"Content-Type": "application/json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, simulator.Settings{})
			fault.Count = -1
			f.inject(fault)
			server, err := f.client.Server(f.bounded(20*time.Second), 1)
			var failure *backends.Error
			if server != nil || !errors.As(err, &failure) || errors.Is(err, backends.NotFound) || hetzner.Unsure(err) {
				t.Errorf("%+v, %v", server, err)
			}
		})
	}
}

// A body that a create sends is not sent on to where a redirection points.
func TestNoRedirection(t *testing.T) {
	t.Parallel()
	leaked := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") }))
	defer leaked.Close()
	f := newFixture(t, simulator.Settings{})
	f.inject(simkit.Fault{Count: -1, Status: 307, Body: "x", Header: map[string]string{"Location": leaked.URL + "/v1/ssh_keys"}})
	if _, err := f.client.CreateSSHKey(t.Context(), "key", publicKey, nil); err == nil {
		t.Error("it did not fail")
	}
}

// Without a token, or with an endpoint that would show it, nothing is sent.
func TestUnusable(t *testing.T) {
	t.Parallel()
	f := newFixture(t, simulator.Settings{})
	_, err := hetzner.New(hetzner.Config{Endpoint: f.api.URL()}).Server(t.Context(), 1)
	var failure *backends.Error
	if !errors.As(err, &failure) || failure.Kind != backends.Unauthorized || !strings.Contains(failure.Remedy, "HCLOUD_TOKEN") {
		t.Errorf("without a token: %v", err)
	}
	for _, endpoint := range []string{"http://api.example.com/v1", "ftp://127.0.0.1/v1", "https://user:pass@127.0.0.1/v1", "https://127.0.0.1/v1?a=b", "nonsense"} {
		_, err := hetzner.New(hetzner.Config{Endpoint: endpoint, Token: f.api.Token()}).Server(t.Context(), 1)
		if !errors.Is(err, backends.Invalid) || strings.Contains(err.Error(), "user:pass") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	for _, list := range []func(context.Context, map[string]string, string) error{
		func(ctx context.Context, labels map[string]string, name string) error {
			_, err := f.client.Servers(ctx, labels, name)
			return err
		},
		func(ctx context.Context, labels map[string]string, name string) error {
			_, err := f.client.PrimaryIPs(ctx, labels, name)
			return err
		},
		func(ctx context.Context, labels map[string]string, name string) error {
			_, err := f.client.SSHKeys(ctx, labels, name)
			return err
		},
	} {
		if err := list(t.Context(), nil, ""); err == nil {
			t.Error("it lists everything")
		}
	}
	if sent := f.api.Requests(); len(sent) != 0 {
		t.Errorf("%d requests were sent", len(sent))
	}
}

// A token's fingerprint tells tokens apart and does not hold one.
func TestBinding(t *testing.T) {
	t.Parallel()
	one, other := strings.Repeat("a", 64), strings.Repeat("b", 64)
	bound := hetzner.Config{Token: one}.Binding()
	if bound.Endpoint != "https://api.hetzner.cloud/v1" || bound == (hetzner.Config{Token: other}).Binding() || bound != (hetzner.Config{Token: one, Endpoint: "https://api.hetzner.cloud/v1/"}).Binding() {
		t.Errorf("the binding is %+v", bound)
	}
	if strings.Contains(bound.String(), "aaaa") {
		t.Errorf("it tells the token: %s", bound)
	}
	if parsed, ok := hetzner.ParseBinding(bound.String()); !ok || parsed != bound {
		t.Errorf("read back as %+v, %v", parsed, ok)
	}
	config := hetzner.Config{}.WithEnvironment(func(name string) string { return "value of " + name })
	if config.Token != "value of HCLOUD_TOKEN" || config.Endpoint != "value of HCLOUD_ENDPOINT" {
		t.Errorf("from the environment: %q, %q", config.Token, config.Endpoint)
	}
	for _, printed := range []string{fmt.Sprint(hetzner.New(hetzner.Config{Token: one})), fmt.Sprintf("%+v %#v", hetzner.Config{Token: one}, hetzner.Config{Token: one})} {
		if strings.Contains(printed, "aaaa") {
			t.Errorf("printed as %s", printed)
		}
	}
}

// A refresh of 200 servers asks by the page, once for all, until something is written.
func TestGlance(t *testing.T) {
	t.Parallel()
	f := newFixture(t, simulator.Settings{})
	var ids []int64
	for i := range 200 {
		id, err := f.api.AddForeignServer(simulator.Foreign{Name: fmt.Sprintf("s%d", i), Labels: map[string]string{"sandlot.record": fmt.Sprint(i)}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	unlabeled, err := f.api.AddForeignServer(simulator.Foreign{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	glance := func() {
		t.Helper()
		var group sync.WaitGroup
		for i, id := range ids {
			group.Go(func() {
				server, err := f.client.Glance(t.Context(), "sandlot.record", id)
				if err != nil || server == nil || server.ID != id || server.Labels["sandlot.record"] != fmt.Sprint(i) {
					t.Errorf("%d: %+v, %v", id, server, err)
				}
			})
		}
		group.Wait()
	}
	glance()
	if sent := len(f.api.Requests()); sent != 4 {
		t.Errorf("%d requests were sent, want one for each of 4 pages", sent)
	}
	// What is not listed is read singly: only that is absence.
	if server, err := f.client.Glance(t.Context(), "sandlot.record", unlabeled); err != nil || server == nil {
		t.Errorf("the one without the label: %+v, %v", server, err)
	}
	if server, err := f.client.Glance(t.Context(), "sandlot.record", 12345); err != nil || server != nil {
		t.Errorf("the one that does not exist: %+v, %v", server, err)
	}
	if sent := len(f.api.Requests()); sent != 6 {
		t.Errorf("%d requests were sent, want 6", sent)
	}
	if err := f.client.SetServerLabels(t.Context(), ids[0], map[string]string{"sandlot.record": "0", "new": "label"}); err != nil {
		t.Fatal(err)
	}
	f.api.ResetRequests()
	glance()
	if server, err := f.client.Glance(t.Context(), "sandlot.record", ids[0]); err != nil || server.Labels["new"] != "label" {
		t.Errorf("after a write: %+v, %v", server, err)
	}
	if sent := len(f.api.Requests()); sent != 4 {
		t.Errorf("after a write %d requests were sent, want 4", sent)
	}
}

// Pages of size one and ids beyond 32 bits change nothing.
func TestSmallPagesLargeIDs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, simulator.Settings{MaxPage: 1, LargeIDs: true, UnknownFields: true})
	labels := map[string]string{"sandlot.record": "r"}
	for i := range 3 {
		if _, err := f.client.CreatePrimaryIP(t.Context(), fmt.Sprintf("ip%d", i), "fsn1", labels); err != nil {
			t.Fatal(err)
		}
	}
	found, err := f.client.PrimaryIPs(t.Context(), labels, "")
	if err != nil || len(found) != 3 || found[2].ID < 1<<32 || found[0].IP == "" || found[0].Type != "ipv4" || found[0].Location != "fsn1" || found[0].AutoDelete {
		t.Errorf("%+v, %v", found, err)
	}
}

// The observer sees each request that is sent, by its path and what it is about.
func TestEffects(t *testing.T) {
	t.Parallel()
	f := newFixture(t, simulator.Settings{})
	var mu sync.Mutex
	var seen []effects.Effect
	client := f.open(hetzner.Config{Observer: func(_ context.Context, phase effects.Phase, effect effects.Effect) {
		mu.Lock()
		defer mu.Unlock()
		if phase == effects.Before {
			seen = append(seen, effect)
		}
	}})
	f.inject(simkit.Fault{Method: "POST", Status: 502, Code: "bad_gateway"})
	key, err := client.CreateSSHKey(t.Context(), "key", publicKey, nil)
	if err == nil {
		err = client.DeleteSSHKey(t.Context(), key.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := []effects.Effect{
		{System: "hetzner", Action: "POST /ssh_keys", Object: "key", Write: true},
		{System: "hetzner", Action: "POST /ssh_keys", Object: "key", Write: true},
		{System: "hetzner", Action: "DELETE /ssh_keys/{id}", Object: fmt.Sprint(key.ID), Write: true},
	}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("seen were %+v, want %+v", seen, want)
	}
}
