package hetzner

import (
	"net/http"
	"strings"
)

// Leaks names the requests since the last reset that hold one of the secrets: in the path, the query, a
// header or the body. User data belong to the create and the rebuild of a server, so what is a secret
// there is none of the client's leaks; everywhere else it is.
func (s *Simulator) Leaks(secrets ...string) []string {
	var found []string
	for _, one := range s.Requests() {
		said := one.Path + " " + one.Query.Encode()
		for _, values := range one.Header {
			said += " " + strings.Join(values, " ")
		}
		if !strings.HasSuffix(one.Path, "/servers") && !strings.HasSuffix(one.Path, "/actions/rebuild") || one.Method != http.MethodPost {
			said += " " + string(one.Body)
		}
		for _, secret := range secrets {
			if secret != "" && strings.Contains(said, secret) {
				found = append(found, one.Method+" "+one.Path)
				break
			}
		}
	}
	return found
}
