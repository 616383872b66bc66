package hetzner

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// apiPath is the prefix of the API.
const apiPath = "/v1"

// maxBody bounds the body of a request.
const maxBody = 1 << 20

// call is a request that was admitted.
type call struct {
	request  *http.Request
	body     []byte
	header   http.Header // of the answer
	path     []string    // what the wildcards of the route stand for
	settings Settings
	now      time.Time
}

// reply is a success. A nil object is an answer without a body.
type reply struct {
	status int
	object any
}

// ServeHTTP implements [http.Handler].
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	leave, open := s.enter()
	if !open {
		panic(http.ErrAbortHandler)
	}
	defer leave()
	if !simkit.LoopbackHost(r.Host) {
		writeError(w, fail(http.StatusMisdirectedRequest, codeForbidden, "The simulator answers on loopback addresses only, not as %q.", r.Host))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeError(w, fail(http.StatusRequestEntityTooLarge, codeInvalid, "The body cannot be read or is too large: %v", err))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if strings.HasPrefix(r.URL.Path, adminPath) {
		s.serveAdmin(w, r, body)
		return
	}
	s.Record(r, body)
	id := make([]byte, 16)
	_, _ = rand.Read(id) // documented never to fail
	w.Header().Set("X-Correlation-Id", hex.EncodeToString(id))
	path, ofAPI := strings.CutPrefix(r.URL.Path, apiPath)
	if !ofAPI {
		path = ""
	}
	r.URL.Path = path
	// A fault's answer has the headers of the rate limit as well.
	s.mutex.Lock()
	admitted := s.take(w.Header())
	s.mutex.Unlock()
	s.Around(w, r, func(w http.ResponseWriter) {
		answer, err := s.answer(w.Header(), r, body, admitted)
		switch {
		case err != nil:
			writeError(w, err)
		case answer.object == nil:
			w.WriteHeader(answer.status)
		default:
			s.writeObject(w, answer)
		}
	})
}

// answer checks a request in the order of the service, and lets its handler answer.
func (s *Simulator) answer(header http.Header, r *http.Request, body []byte, admitted bool) (reply, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.saveError != nil {
		return reply{}, s.saveError
	}
	access := s.access(r)
	if access != ReadWrite && access != ReadOnly {
		return reply{}, fail(http.StatusUnauthorized, codeUnauthorized, "unable to authenticate")
	}
	if !admitted {
		return reply{}, fail(http.StatusTooManyRequests, codeRateLimit, "Limit of %d requests per hour reached", s.settings.rateLimit())
	}
	handle, wildcards, err := s.route(r.Method, r.URL.Path)
	if err != nil {
		return reply{}, err
	}
	c := &call{request: r, body: body, header: header, path: wildcards, settings: s.settings, now: s.now()}
	if len(bytes.TrimSpace(body)) > 0 && r.Method != http.MethodGet && !json.Valid(body) {
		return reply{}, fail(http.StatusBadRequest, codeJSON, "the request body contains invalid JSON")
	}
	if access == ReadOnly && r.Method != http.MethodGet {
		if s.settings.LegacyReadOnly {
			return reply{}, fail(http.StatusUnauthorized, codeReadOnly, "the token is only allowed to perform GET requests")
		}
		return reply{}, fail(http.StatusForbidden, codeForbidden, "insufficient permissions: the token is only allowed to perform GET requests")
	}
	answer, err := handle(c)
	if err == nil && r.Method != http.MethodGet {
		s.save()
		err = s.saveError
	}
	return answer, err
}

// access is what the token of a request opens; empty when it is missing or unknown. The mutex is held.
func (s *Simulator) access(r *http.Request) Access {
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer || s.settings.Revoked {
		return ""
	}
	access := Access("")
	for token, opens := range s.tokens {
		if subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1 {
			access = opens
		}
	}
	if access == ReadWrite && s.settings.ReadOnly {
		return ReadOnly
	}
	return access
}

// writeObject answers with an object, and with fields that nobody knows where the settings say so.
func (s *Simulator) writeObject(w http.ResponseWriter, answer reply) {
	if !s.CurrentSettings().UnknownFields {
		writeJSON(w, answer.status, answer.object)
		return
	}
	content, err := json.Marshal(answer.object)
	var known any
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(content))
		decoder.UseNumber()
		err = decoder.Decode(&known)
	}
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, answer.status, withUnknownFields(known))
}

func withUnknownFields(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if name != "labels" {
				value[name] = withUnknownFields(inner)
			}
		}
		value["field_of_the_future"] = map[string]any{"enabled": true, "values": []any{1, "two", nil}}
	case []any:
		for i := range value {
			value[i] = withUnknownFields(value[i])
		}
	}
	return value
}
