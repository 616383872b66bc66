package simkit

import (
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// Request is one that a simulator received, in the order of arrival. Requests of the admin endpoint
// are not among them.
type Request struct {
	Time   time.Time   `json:"time"`
	Method string      `json:"method"`
	Path   string      `json:"path"` // as sent, with the prefix of the API
	Query  url.Values  `json:"query,omitempty"`
	Header http.Header `json:"header"` // without the token
	Body   []byte      `json:"body,omitempty"`
}

// Recorder keeps all requests.
type Recorder struct {
	mutex    sync.Mutex
	requests []Request
}

// Record adds a request, whose body was read.
func (r *Recorder) Record(from *http.Request, body []byte) {
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
func (r *Recorder) Requests() []Request {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.requests)
}

// ResetRequests forgets the requests received so far.
func (r *Recorder) ResetRequests() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.requests = nil
}
