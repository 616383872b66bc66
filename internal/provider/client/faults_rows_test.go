package client

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

// Paths of the requests that meet faults (sections 6 and 7 of the contract).
const (
	createPath  = "/v3/sandboxes"
	boxPath     = "/v2/sandboxes/" + boxName
	commandPath = "/v2/sandboxes/sessions/*/cmd"
	sessionPath = "/v2/sandboxes/sessions/*/"
)

// platformFaults are the rows. Numbers in comments are sections of the contract.
func platformFaults() []platformFault {
	made := func(p *place) { p.must(p.apply()) }
	html := "<html><h1>Bad Gateway</h1></html>"
	asJSON := map[string]string{"Content-Type": "application/json"}
	nothing := func(p *place) { p.nothing() }
	always := -1
	return append([]platformFault{
		// Creates (4, 6.1, 9.2).
		{name: "create, 429 without Retry-After", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Status: 429, Code: "rate_limited", Count: 2}}, sessions: 1},
		{
			name: "create, 429 that asks for an hour", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Status: 429, Header: map[string]string{"Retry-After": "3600"}}},
			code: "rate_limited", says: []string{"asks to wait 1h0m0s", "-parallelism"}, holds: nothing, sessions: 1,
		},
		{
			name: "create, 429 without an end", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Status: 429, Count: always}},
			code: "rate_limited", says: []string{"A quota of the team is used up"}, holds: nothing, sessions: 1,
		},
		{
			name: "create, 429 although it was done", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Status: 429, Effect: true}},
			sessions: 1,
		},
		{
			name: "create, 500 before the effect", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Status: 500, Code: "internal_server_error", Message: "Try again."}},
			code: "failed", says: []string{"The API reports an error.", "internal_server_error: Try again."}, holds: nothing, sessions: 1,
		},
		{name: "create, 500 after the effect", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Status: 500, Effect: true}}, sessions: 1},
		{
			name: "create, cut before the effect", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Cut: simulator.CutBefore}},
			code: "failed", says: []string{"its answer was cut", "base_url"}, holds: nothing, sessions: 1,
		},
		{name: "create, HTML page after the effect", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Status: 200, Body: html, Effect: true}}, sessions: 1},
		{name: "create, empty answer after the effect", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Status: 200, Body: "{}", Header: asJSON, Effect: true}}, sessions: 1},
		{
			name: "create, payment is due", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Status: 402, Code: "payment_required"}},
			code: "no_capacity", says: []string{"plan or billing", "Check billing"}, holds: nothing, sessions: 1,
		},
		{
			name: "create, the plan forbids it", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Status: 403, Code: "forbidden", Message: "Upgrade to Pro."}},
			code: "unauthorized", says: []string{"refused the token for this team and project", "Upgrade to Pro."}, holds: nothing, sessions: 1,
		},
		{
			name: "create, the environment is too large", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Status: 400, Code: "bad_request", Message: "env payload too large"}},
			code: "invalid", says: []string{"env payload too large"}, holds: nothing, sessions: 1,
		},
		{
			name: "create, lost reply, and then the token is revoked", faults: []simulator.Fault{
				{Method: http.MethodPost, Path: createPath, Cut: simulator.CutAfter},
				{Method: http.MethodGet, Path: boxPath, Skip: 1, Status: 403, Count: always},
			},
			code: "failed", says: []string{"what became of it could not be found out", "Left behind: sandbox box", "unauthorized"},
			holds:    func(p *place) { wantTainted(p); p.entry() },
			sessions: 2,
		},
		{
			name: "create, the snapshot is gone", before: func(p *place) { p.request.Spec.Source.SnapshotID = "snap_gone" },
			operation: func(p *place) error {
				err := p.apply()
				p.request.Spec.Source.SnapshotID = ""
				return err
			},
			code: "expired", says: []string{"has expired or was deleted"}, holds: nothing, sessions: 1,
		},
		{
			name: "create, the image is never ready", faults: []simulator.Fault{{Method: http.MethodPost, Path: "/v*/sandboxes", Status: 409, Code: "image_not_ready", Count: always}},
			operation: func(p *place) error { return p.within(1500 * time.Millisecond) },
			code:      "conflict", says: []string{"still preparing the image", "Try again in some minutes"}, holds: nothing, sessions: 1,
		},
		{
			name: "create, slower than it may be", faults: []simulator.Fault{{Method: http.MethodPost, Path: createPath, Latency: 60_000}},
			operation: func(p *place) error { return p.within(500 * time.Millisecond) },
			code:      "timed_out", says: []string{"did not answer in time"}, holds: nothing, sessions: 1,
		},
		// Reads (5.7, 9.2): nothing but the API's own 404 is absence.
		{
			name: "refresh, HTML page of a gateway", before: made, operation: (*place).refresh, faults: []simulator.Fault{{Method: http.MethodGet, Status: 502, Body: html, Count: always}},
			code: "failed", says: []string{"502"},
		},
		{name: "refresh, 503 twice", before: made, operation: (*place).refresh, faults: []simulator.Fault{{Method: http.MethodGet, Status: 503, Count: 2}}},
		{
			name: "refresh, redirect to another host", before: made, operation: (*place).refresh,
			faults: []simulator.Fault{{Method: http.MethodGet, Status: 302, Header: map[string]string{"Location": "https://example.invalid/api"}, Count: always}},
			code:   "failed", says: []string{"redirect"},
		},
		{
			name: "refresh, 409", before: made, operation: (*place).refresh, faults: []simulator.Fault{{Method: http.MethodGet, Status: 409, Code: "conflict", Count: always}},
			code: "conflict", says: []string{"in use or changes just now"},
		},
		{
			name: "refresh, a listing is cut on its second page", settings: simulator.Settings{MaxPage: 1},
			before: func(p *place) { made(p); p.someoneElse("other") }, operation: (*place).refresh,
			faults: []simulator.Fault{{Method: http.MethodGet, Path: "/v2/sandboxes", Skip: 1, Cut: simulator.CutBefore}},
			holds:  func(p *place) { p.removeElse("other") },
		},
	}, append(platformFaultsOfSessions(), platformFaultsOfUse()...)...)
}

// platformFaultsOfSessions meet changes, stops, starts, snapshots and deletions.
func platformFaultsOfSessions() []platformFault {
	made := func(p *place) { p.must(p.apply()) }
	stopped := func(p *place) { made(p); p.must(p.stop()) }
	always := -1
	longer := func(p *place) error { p.request.Spec.Timeout = 20 * time.Minute; return p.apply() }
	checkpoint := func(p *place) error { p.request.CheckpointTrigger = "1"; return p.apply() }
	return []platformFault{
		// Changes (6.4, 7.5).
		{
			name: "update, 500 before the effect", before: made, operation: longer,
			faults: []simulator.Fault{{Method: http.MethodPatch, Path: boxPath, Status: 500}},
		},
		{
			name: "update, 500 twice", before: made, operation: longer, faults: []simulator.Fault{{Method: http.MethodPatch, Path: boxPath, Status: 500, Count: 2}},
			code: "failed", says: []string{"may have happened all the same"},
		},
		{
			name: "update, the plan allows no such timeout", before: made, operation: longer,
			faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "extend-timeout", Status: 400, Code: "sandbox_timeout_invalid"}},
			code:   "invalid", says: []string{"longer than the team's plan allows", "Choose a shorter `timeout`"},
		},
		{
			name: "update, the session ends before the live call", before: made, operation: longer,
			faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "extend-timeout", Status: 410, Code: "sandbox_stopped"}},
		},
		{
			name: "update, the session ends before the live call about the network", before: made,
			operation: func(p *place) error {
				p.request.Spec.Network = backends.Network{Mode: backends.NetworkDenyAll}
				return p.apply()
			},
			faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "network-policy", Status: 422, Code: "sandbox_stopping"}},
		},
		// Stops (7.3).
		{
			name: "stop, 500 before the effect", before: made, operation: (*place).stop, faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "stop", Status: 500}},
			holds: wantStopped,
		},
		{
			name: "stop, somebody else was faster", settings: simulator.Settings{StopTwiceGone: true}, before: made, operation: (*place).stop,
			faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "stop", Status: 410, Code: "sandbox_stopped", Effect: true}},
			holds:  wantStopped,
		},
		{
			name: "stop, one is under way", settings: simulator.Settings{LazyStop: 300}, before: made, operation: (*place).stop,
			faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "stop", Status: 422, Code: "sandbox_stopping", Effect: true}},
			holds:  wantStopped,
		},
		{
			name: "stop, forbidden", before: made, operation: (*place).stop, faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "stop", Status: 403}},
			code: "unauthorized", holds: wantRunning,
		},
		// Resumes (9).
		{
			name: "start, lost reply", before: stopped, operation: (*place).start,
			faults:   []simulator.Fault{{Method: http.MethodGet, Path: boxPath, Query: map[string]string{"resume": "true"}, Cut: simulator.CutAfter}},
			sessions: 1,
		},
		{
			name: "start, the last session is still being saved", settings: simulator.Settings{LazyStop: 400, ImpatientResume: true},
			before:    func(p *place) { made(p); p.stopOutside() },
			operation: (*place).start, sessions: 1,
		},
		{
			name: "start, no capacity", before: stopped, operation: (*place).start,
			faults: []simulator.Fault{{Method: http.MethodGet, Path: boxPath, Query: map[string]string{"resume": "true"}, Status: 402, Count: always}},
			code:   "no_capacity", holds: wantStopped, sessions: 1,
		},
		// Snapshots (7.4).
		{
			name: "checkpoint, lost reply", before: made, operation: checkpoint,
			faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "snapshot", Cut: simulator.CutAfter}},
			holds:  func(p *place) { wantSnapshots(p, 1) }, sessions: 1,
		},
		{
			name: "checkpoint, 500 before the effect", before: made, operation: checkpoint,
			faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "snapshot", Status: 500}},
			code:   "failed", says: []string{"may have happened all the same"}, holds: func(p *place) { wantRunning(p); wantSnapshots(p, 0) }, sessions: 1,
		},
		{
			name: "checkpoint, forbidden", before: made, operation: checkpoint,
			faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "snapshot", Status: 403}},
			code:   "unauthorized", holds: func(p *place) { wantRunning(p); wantSnapshots(p, 0) }, sessions: 1,
		},
		// Deletions (6.5).
		{
			name: "purge, 500 before the effect", before: stopped, operation: (*place).purge, gone: true,
			faults: []simulator.Fault{{Method: http.MethodDelete, Path: boxPath, Status: 500}},
		},
		{
			name: "purge, the list of its sessions breaks", before: stopped, operation: (*place).purge, gone: true,
			faults: []simulator.Fault{{Method: http.MethodGet, Path: "/v2/sandboxes/sessions", Cut: simulator.CutBefore, Count: always}},
			code:   "failed", holds: func(p *place) { wantStopped(p); wantSnapshots(p, 1) },
		},
		{
			// The request to delete the sandbox told the platform to delete them, too.
			name: "purge, its snapshots are not deleted one by one", before: stopped, operation: (*place).purge, gone: true,
			faults: []simulator.Fault{{Method: http.MethodDelete, Path: "/v2/sandboxes/snapshots/*", Status: 403}},
			code:   "unauthorized", holds: func(p *place) { wantSnapshots(p, 0) },
		},
	}
}

// platformFaultsOfUse meet commands and files.
func platformFaultsOfUse() []platformFault {
	made := func(p *place) { p.must(p.apply()) }
	always := -1
	once := func(p *place) error { _, err := p.run("echo once >> ran"); return err }
	content := bytes.Repeat([]byte("a line\n"), 1000)
	write := func(p *place) error {
		observed, err := p.manager().Backend.Get(p.Context(), boxName)
		if err != nil {
			return err
		}
		_, err = p.manager().WriteFile(p.Context(), observed, "file", content, 0o600)
		return err
	}
	read := func(p *place) error {
		observed, err := p.manager().Backend.Get(p.Context(), boxName)
		if err != nil {
			return err
		}
		_, got, err := p.manager().ReadFile(p.Context(), observed, "file", 1<<20)
		if err == nil && !bytes.Equal(got, content) {
			p.Errorf("%d bytes were read of %d", len(got), len(content))
		}
		return err
	}
	return []platformFault{
		{
			name: "command, 422 window", before: made, operation: once,
			faults: []simulator.Fault{{Method: http.MethodPost, Path: commandPath, Status: 422, Code: "sandbox_stopping"}},
			holds:  func(p *place) { wantRan(p, "once\n"); wantRunning(p) },
		},
		{
			// Somebody stops it between the look at it and the command. It is woken for the command and stopped again.
			name: "command, the session has just ended", before: made,
			operation: func(p *place) error {
				if p.server.Inventory().SessionsMade > 1 {
					return nil
				}
				return p.stoppedBeforeCommand("echo once >> ran")
			},
			holds:    func(p *place) { wantStopped(p); p.must(p.start()); wantRan(p, "once\n") },
			sessions: 2,
		},
		{
			name: "command, its session is over again and again", before: made, operation: once,
			faults: []simulator.Fault{{Method: http.MethodPost, Path: commandPath, Status: 410, Code: "sandbox_stopped", Count: always}},
			code:   "not_running", says: []string{"The session is over."}, holds: func(p *place) { wantRan(p, "") },
		},
		{
			name: "command, the session that was started for it is over at once", before: func(p *place) { made(p); p.must(p.stop()) }, operation: once,
			faults: []simulator.Fault{{Method: http.MethodPost, Path: commandPath, Status: 410, Code: "sandbox_stopped"}},
			code:   "not_running", says: []string{"The session is over."}, holds: wantStopped, sessions: 2, // of the command and of its repetition
		},
		{
			name: "command, the session ends in the middle of it", before: made,
			operation: func(p *place) error { return p.stoppedInMidCommand() },
			code:      "not_running", says: []string{"The session"}, holds: wantStopped,
			sessions: 1,
		},
		{
			name: "command, cut before it was named", before: made, operation: once,
			faults: []simulator.Fault{{Method: http.MethodPost, Path: commandPath, Cut: simulator.CutAfter}},
			code:   "failed", says: []string{"may have happened all the same"},
		},
		{
			name: "upload, cut", before: made, operation: write, faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "fs/write", Cut: simulator.CutBefore}},
			code: "failed", holds: func(p *place) { wantPrinted(p, "ls -A", "") },
		},
		{
			name: "upload, 500 after the effect", before: made, operation: write, faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "fs/write", Status: 500, Effect: true}},
			code: "failed", holds: func(p *place) { wantPrinted(p, "ls -A", "") },
		},
		{
			name: "download, cut in the middle", before: func(p *place) { made(p); p.must(write(p)) }, operation: read,
			faults: []simulator.Fault{{Method: http.MethodPost, Path: sessionPath + "fs/read", CutAfterLines: 10}}, code: "failed",
		},
	}
}

func wantStopped(p *place) {
	p.Helper()
	if entry := p.entry(); entry.Status != "stopped" || entry.Snapshot == "" {
		p.Errorf("it is %+v", entry)
	}
}

func wantRunning(p *place) {
	p.Helper()
	if entry := p.entry(); entry.Status != "running" {
		p.Errorf("it is %+v", entry)
	}
}

func wantTainted(p *place) {
	p.Helper()
	if !p.tainted {
		p.Error("the state does not keep what was left behind")
	}
}

func wantSnapshots(p *place, count int) {
	p.Helper()
	if have := p.snapshots(); have != count {
		p.Errorf("there are %d snapshots, want %d", have, count)
	}
}

func wantRan(p *place, want string) {
	p.Helper()
	wantPrinted(p, "cat ran 2>/dev/null || true", want)
}

func wantPrinted(p *place, script, want string) {
	p.Helper()
	result, err := p.run(script)
	p.must(err)
	if string(result.Stdout) != want {
		p.Errorf("%s printed %q, want %q", script, result.Stdout, want)
	}
}

// within applies with a deadline.
func (p *place) within(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(p.Context(), limit)
	defer cancel()
	return p.applyIn(ctx)
}
