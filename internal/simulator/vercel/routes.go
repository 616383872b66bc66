package vercel

import (
	"net/http"
	"strings"
)

// routes returns the endpoints. Paths lack the prefix /api, which ServeHTTP takes away.
func (s *Simulator) routes() http.Handler {
	mux := http.NewServeMux()
	for _, generation := range []string{"2", "3", "4"} {
		mux.Handle("POST /v"+generation+"/sandboxes", serve(s.create(int(generation[0]-'0'))))
	}
	for _, generation := range []string{"2", "3"} {
		mux.Handle("POST /v"+generation+"/sandboxes/sessions/{session}/snapshot", serve(s.takeSnapshot(int(generation[0]-'0'))))
	}
	for pattern, handle := range map[string]handler{
		"GET /v2/sandboxes":              s.listSandboxes,
		"GET /v2/sandboxes/{name}":       s.getSandbox,
		"PATCH /v2/sandboxes/{name}":     s.updateSandbox,
		"DELETE /v2/sandboxes/{name}":    s.deleteSandbox,
		"POST /v2/sandboxes/{name}/fork": s.forkSandbox,

		"GET /v2/sandboxes/sessions":                               s.listSessions,
		"GET /v2/sandboxes/sessions/{session}":                     s.getSession,
		"POST /v2/sandboxes/sessions/{session}/stop":               s.stopSession,
		"POST /v2/sandboxes/sessions/{session}/extend-timeout":     s.extendTimeout,
		"POST /v2/sandboxes/sessions/{session}/network-policy":     s.setNetworkPolicy,
		"POST /v2/sandboxes/sessions/{session}/interactive":        s.leftOut("interactive terminals"),
		"GET /v2/sandboxes/sessions/{session}/cmd":                 s.listCommands,
		"POST /v2/sandboxes/sessions/{session}/cmd":                s.runCommand,
		"GET /v2/sandboxes/sessions/{session}/cmd/{command}":       s.getCommand,
		"GET /v2/sandboxes/sessions/{session}/cmd/{command}/logs":  s.commandLogs,
		"POST /v2/sandboxes/sessions/{session}/cmd/{command}/kill": s.killCommand,
		"POST /v2/sandboxes/sessions/{session}/fs/mkdir":           s.makeDirectory,
		"POST /v2/sandboxes/sessions/{session}/fs/write":           s.writeFiles,
		"POST /v2/sandboxes/sessions/{session}/fs/read":            s.readFile,
		"GET /v2/sandboxes/snapshots":                              s.listSnapshots,
		"GET /v2/sandboxes/snapshots/tree":                         s.snapshotTree,
		"GET /v2/sandboxes/snapshots/{snapshot}":                   s.getSnapshot,
		"DELETE /v2/sandboxes/snapshots/{snapshot}":                s.deleteSnapshot,
	} {
		mux.Handle(pattern, serve(handle))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, "/v1/"):
			writeError(w, fail(http.StatusNotFound, codeNotFound, "The simulator leaves out the first generation of the API."))
		case path == "/v2/sandboxes/drives", strings.HasPrefix(path, "/v2/sandboxes/drives/"):
			writeError(w, unsupported("drives are left out"))
		default:
			if _, pattern := mux.Handler(r); pattern == "" {
				writeError(w, fail(http.StatusNotFound, codeNotFound, "There is no endpoint %s %s.", r.Method, path))
				return
			}
			mux.ServeHTTP(w, r)
		}
	})
}

func (s *Simulator) leftOut(what string) handler {
	return func(http.ResponseWriter, *http.Request) error { return unsupported("%s are left out", what) }
}
