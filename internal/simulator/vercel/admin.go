package vercel

import "net/http"

const adminPath = "/_sandlot/"

func (s *Simulator) serveAdmin(w http.ResponseWriter, _ *http.Request) {
	writeError(w, notFound("Endpoint"))
}
