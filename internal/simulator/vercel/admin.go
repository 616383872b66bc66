package vercel

import (
	"net/http"
	"strings"
	"time"
)

// adminPath is above what the service does not have: faults, settings, time, and what happened. These
// requests need the token, meet no faults, and are not recorded.
const adminPath = "/_sandlot/"

func (s *Simulator) serveAdmin(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(r) {
		writeError(w, fail(http.StatusUnauthorized, codeForbidden, "The admin endpoint needs the token."))
		return
	}
	mux := http.NewServeMux()
	for pattern, handle := range map[string]handler{
		"GET inventory":                    s.adminInventory,
		"GET requests":                     s.adminRequests,
		"DELETE requests":                  s.adminResetRequests,
		"GET faults":                       s.adminFaults,
		"POST faults":                      s.adminInject,
		"DELETE faults":                    s.adminClearFaults,
		"GET settings":                     s.adminSettings,
		"PUT settings":                     s.adminConfigure,
		"POST clock/advance":               s.adminAdvance,
		"POST snapshots/{snapshot}/expire": s.adminExpire,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.Handle(method+" "+adminPath+path, serve(handle))
	}
	if _, pattern := mux.Handler(r); pattern == "" {
		writeError(w, fail(http.StatusNotFound, codeNotFound, "There is no admin endpoint %s %s.", r.Method, r.URL.Path))
		return
	}
	mux.ServeHTTP(w, r)
}

func (s *Simulator) adminInventory(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, s.Inventory())
	return nil
}

func (s *Simulator) adminRequests(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, struct {
		Requests []Request `json:"requests"`
	}{append([]Request{}, s.Requests()...)})
	return nil
}

func (s *Simulator) adminResetRequests(w http.ResponseWriter, _ *http.Request) error {
	s.ResetRequests()
	writeJSON(w, http.StatusOK, struct{}{})
	return nil
}

func (s *Simulator) adminFaults(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, struct {
		Faults []Fault `json:"faults"`
	}{s.Faults()})
	return nil
}

func (s *Simulator) adminInject(w http.ResponseWriter, r *http.Request) error {
	var fault Fault
	if err := decodeBody(s.readBody(r), &fault); err != nil {
		return err
	}
	if err := s.Inject(fault); err != nil {
		return badRequest("%v", err)
	}
	return s.adminFaults(w, r)
}

func (s *Simulator) adminClearFaults(w http.ResponseWriter, r *http.Request) error {
	s.ClearFaults()
	return s.adminFaults(w, r)
}

func (s *Simulator) adminSettings(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, s.currentSettings())
	return nil
}

// adminConfigure replaces all settings.
func (s *Simulator) adminConfigure(w http.ResponseWriter, r *http.Request) error {
	var settings Settings
	if err := decodeBody(s.readBody(r), &settings); err != nil {
		return err
	}
	if err := s.Configure(settings); err != nil {
		return badRequest("%v", err)
	}
	return s.adminSettings(w, r)
}

// adminAdvance moves a virtual clock; the answer comes when all that fell due is done.
func (s *Simulator) adminAdvance(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Duration int64 `json:"duration"` // ms
	}
	if err := decodeBody(s.readBody(r), &body); err != nil {
		return err
	}
	clock, virtual := s.config.Clock.(*VirtualClock)
	if !virtual {
		return badRequest("the simulator goes by the wall clock")
	}
	if body.Duration < 0 {
		return badRequest("`duration` should be >= 0")
	}
	clock.Advance(time.Duration(body.Duration) * time.Millisecond)
	writeJSON(w, http.StatusOK, struct {
		Now ms `json:"now"`
	}{s.now()})
	return nil
}

func (s *Simulator) adminExpire(w http.ResponseWriter, r *http.Request) error {
	if err := s.ExpireSnapshot(r.PathValue("snapshot")); err != nil {
		return notFound("Snapshot")
	}
	writeJSON(w, http.StatusOK, struct{}{})
	return nil
}
