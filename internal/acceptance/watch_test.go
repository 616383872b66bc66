package acceptance_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

// watcher sees what reaches the backend. On local that is nothing: its files are looked at.
type watcher struct {
	f     *fixture
	proxy *acctest.EngineProxy
	// sessions is how many sessions of the platform there had been at the last Forget.
	sessions int
}

// watch puts a watcher between the provider and its backend.
func (f *fixture) watch() *watcher {
	f.t.Helper()
	w := &watcher{f: f}
	if f.docker() {
		w.proxy = acctest.NewEngineProxy(f.t, f.engine)
		f.Setenv("DOCKER_HOST", w.proxy.Host())
	}
	w.forget()
	return w
}

// forget drops what was seen so far.
func (w *watcher) forget() {
	switch {
	case w.proxy != nil:
		w.proxy.Forget()
	case w.f.cloud != nil:
		w.f.cloud.server.ResetRequests()
		w.sessions = w.f.cloud.sessions()
	}
}

// onlyReads fails the test when more than reads reached the backend, or when nothing did although the
// backend is asked over a wire.
func (w *watcher) onlyReads(what string) {
	w.f.t.Helper()
	var calls, writes []string
	switch {
	case w.proxy != nil:
		calls, writes = w.proxy.Calls(), w.proxy.Writes()
	case w.f.cloud != nil:
		for _, request := range w.f.cloud.server.Requests() {
			call := request.Method + " " + request.Path
			if calls = append(calls, call); changes(request) {
				writes = append(writes, call)
			}
		}
		if made := w.f.cloud.sessions() - w.sessions; made > 0 {
			writes = append(writes, fmt.Sprintf("%d new sessions", made))
		}
	default:
		return
	}
	if len(calls) == 0 {
		w.f.t.Errorf("%s: no call reached the backend, so nothing was looked at", what)
	}
	if len(writes) > 0 {
		w.f.t.Errorf("%s: more than reads reached the backend: %q", what, writes)
	}
}

// changes tells whether a request could change something. A file that is looked at in a session that runs
// is read, or described by a command.
func changes(request simulator.Request) bool {
	if request.Query.Get("resume") == "true" {
		return true
	}
	looks := strings.HasSuffix(request.Path, "/fs/read") || strings.HasSuffix(request.Path, "/cmd")
	return request.Method != http.MethodGet && !looks
}
