package hetzner

import (
	"crypto/subtle"
	"maps"
	"net/http"
	"strconv"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

const adminPath = simkit.AdminPath

// serveAdmin answers what the service does not have. It needs the first token, whatever that may do at
// the service now.
func (s *Simulator) serveAdmin(w http.ResponseWriter, r *http.Request, body []byte) {
	routes := simkit.CommonAdmin(&s.Recorder, &s.FaultList, s.config.Clock, s.CurrentSettings, s.Configure)
	waiting := func() any { return map[string]any{"actionFaults": s.ActionFaults()} }
	done := func(err error) (any, error) { return simkit.Done{}, err }
	maps.Copy(routes, map[string]simkit.AdminHandler{
		"GET inventory":     func(*http.Request, []byte) (any, error) { return s.Inventory(), nil },
		"GET action-faults": func(*http.Request, []byte) (any, error) { return waiting(), nil },
		"POST action-faults": func(_ *http.Request, body []byte) (any, error) {
			var fault ActionFault
			if err := simkit.DecodeAdmin(body, &fault); err != nil {
				return nil, err
			}
			if err := s.InjectAction(fault); err != nil {
				return nil, err
			}
			return waiting(), nil
		},
		"DELETE action-faults": func(*http.Request, []byte) (any, error) {
			s.ClearActionFaults()
			return waiting(), nil
		},
		"POST rate-limit/exhaust": func(*http.Request, []byte) (any, error) {
			s.ExhaustRateLimit()
			return simkit.Done{}, nil
		},
		"PUT token": func(_ *http.Request, body []byte) (any, error) {
			var given struct {
				Token  string `json:"token"`
				Access Access `json:"access"`
			}
			if err := simkit.DecodeAdmin(body, &given); err != nil {
				return nil, err
			}
			return done(s.SetToken(given.Token, given.Access))
		},
		"PUT servers/{id}/guest": func(r *http.Request, body []byte) (any, error) {
			var given Guest
			if err := simkit.DecodeAdmin(body, &given); err != nil {
				return nil, err
			}
			return done(s.SetGuest(pathID(r), given))
		},
		"POST servers/{id}/status": func(r *http.Request, body []byte) (any, error) {
			var given struct {
				Status string `json:"status"`
			}
			if err := simkit.DecodeAdmin(body, &given); err != nil {
				return nil, err
			}
			return done(s.BreakServer(pathID(r), given.Status))
		},
		"DELETE servers/{id}": func(r *http.Request, _ []byte) (any, error) { return done(s.LoseServer(pathID(r))) },
		"POST primary_ips/{id}/attach": func(r *http.Request, body []byte) (any, error) {
			var given struct {
				Server int64 `json:"server"`
			}
			if err := simkit.DecodeAdmin(body, &given); err != nil {
				return nil, err
			}
			return done(s.AttachPrimaryIP(pathID(r), given.Server))
		},
		"POST actions/{id}/end": func(r *http.Request, _ []byte) (any, error) { return done(s.EndAction(pathID(r))) },
		"POST foreign/servers": func(_ *http.Request, body []byte) (any, error) {
			var given Foreign
			if err := simkit.DecodeAdmin(body, &given); err != nil {
				return nil, err
			}
			id, err := s.AddForeignServer(given)
			return map[string]int64{"id": id}, err
		},
	})
	given := []byte(r.Header.Get("Authorization"))
	authorized := subtle.ConstantTimeCompare(given, []byte("Bearer "+s.config.Token)) == 1
	simkit.ServeAdmin(w, r, body, authorized, routes)
}

// pathID is the id in the path; 0, which nothing has, when it is none.
func pathID(r *http.Request) int64 {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0
	}
	return id
}
