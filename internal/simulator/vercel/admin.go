package vercel

import (
	"maps"
	"net/http"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

const adminPath = simkit.AdminPath

func (s *Simulator) serveAdmin(w http.ResponseWriter, r *http.Request, body []byte) {
	routes := simkit.CommonAdmin(&s.Recorder, &s.FaultList, s.config.Clock, s.currentSettings, s.Configure)
	maps.Copy(routes, map[string]simkit.AdminHandler{
		"GET inventory": func(*http.Request, []byte) (any, error) { return s.Inventory(), nil },
		"POST snapshots/{snapshot}/expire": func(r *http.Request, _ []byte) (any, error) {
			if s.ExpireSnapshot(r.PathValue("snapshot")) != nil {
				return nil, simkit.NotFound("Snapshot")
			}
			return simkit.Done{}, nil
		},
	})
	simkit.ServeAdmin(w, r, body, s.authorized(r), routes)
}
