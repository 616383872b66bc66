package vercel

import (
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// Request is one that the simulator received, in the order of arrival. Requests of the admin endpoint
// are not among them.
type Request struct {
	Time   time.Time   `json:"time"`
	Method string      `json:"method"`
	Path   string      `json:"path"` // as sent, with the prefix /api
	Query  url.Values  `json:"query,omitempty"`
	Header http.Header `json:"header"` // without the token
	Body   []byte      `json:"body,omitempty"`
}

// recorder keeps all requests.
type recorder struct {
	mutex    sync.Mutex
	requests []Request
}

func (r *recorder) record(from *http.Request, body []byte) {
	header := from.Header.Clone()
	if header.Get("Authorization") != "" {
		header.Set("Authorization", "(redacted)")
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.requests = append(r.requests, Request{
		Time: time.Now(), Method: from.Method, Path: from.URL.EscapedPath(), Query: from.URL.Query(), Header: header, Body: body,
	})
}

// Requests returns what was received since the last reset.
func (s *Simulator) Requests() []Request {
	s.recorder.mutex.Lock()
	defer s.recorder.mutex.Unlock()
	return slices.Clone(s.recorder.requests)
}

// ResetRequests forgets the requests received so far.
func (s *Simulator) ResetRequests() {
	s.recorder.mutex.Lock()
	defer s.recorder.mutex.Unlock()
	s.recorder.requests = nil
}
