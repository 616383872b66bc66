package vercel

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// handler answers one kind of request. It writes nothing before it returns an error.
type handler func(w http.ResponseWriter, r *http.Request) error

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
		writeError(w, fail(http.StatusRequestEntityTooLarge, codeBadRequest, "The body cannot be read or is too large: %v", err))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if strings.HasPrefix(r.URL.Path, adminPath) {
		s.serveAdmin(w, r, body)
		return
	}
	s.Record(r, body)
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api")
	r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, "/api")
	s.Around(w, r, func(w http.ResponseWriter) {
		if err := s.admit(r); err != nil {
			writeError(w, err)
			return
		}
		if err := s.tidy(); err != nil {
			writeError(w, err)
			return
		}
		s.endpoints.ServeHTTP(w, r)
	})
}

// authorized tells whether the request bears the token.
func (s *Simulator) authorized(r *http.Request) bool {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return bearer && subtle.ConstantTimeCompare([]byte(token), []byte(s.config.Token)) == 1
}

// admit checks the token and the team.
func (s *Simulator) admit(r *http.Request) error {
	if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		return fail(http.StatusUnauthorized, codeForbidden, "The request is missing an authentication token.")
	}
	if !s.authorized(r) {
		return &apiError{status: http.StatusForbidden, code: codeForbidden, message: "Not authorized: the token is not valid."}
	}
	query := r.URL.Query()
	if query.Get("teamId") == s.config.Team || s.config.TeamSlug != "" && query.Get("slug") == s.config.TeamSlug {
		return nil
	}
	return fail(http.StatusForbidden, codeForbidden, "Not authorized: the token does not open the team.")
}

// project resolves an id or slug; parameter is where it was to stand.
func (s *Simulator) project(given, parameter string) (string, error) {
	if given == "" {
		return "", badRequest("should have required property `%s`", parameter)
	}
	found := slices.IndexFunc(s.config.Projects, func(p Project) bool { return p.ID == given || p.Slug == given })
	if found < 0 {
		return "", notFound("Project")
	}
	return s.config.Projects[found].ID, nil
}

// serve makes an [http.Handler] that reports the error.
func serve(handle handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			if errors.Is(err, errClientGone) {
				return
			}
			writeError(w, err)
		}
	})
}

// errClientGone: nobody waits for the answer any more.
var errClientGone = errors.New("the client went away")

func (s *Simulator) readBody(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body) // it is in memory
	return body
}
