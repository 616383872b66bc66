package vercel

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Fault changes the answers to requests. The first fault of a request counts.
type Fault struct {
	// Method is that of the requests; empty is any.
	Method string `json:"method,omitempty"`
	// Path is a pattern without the prefix /api, where * stands for a segment or a part of one, and a
	// last ** for any rest: /v2/sandboxes/sessions/*/cmd. Empty is any.
	Path string `json:"path,omitempty"`
	// Query are parameters that the request must have.
	Query map[string]string `json:"query,omitempty"`
	// Skip lets that many requests pass first.
	Skip int `json:"skip,omitempty"`
	// Count is how many requests it meets; 0 means 1, less means all.
	Count int `json:"count,omitempty"`

	// Latency in ms passes before anything else.
	Latency int64 `json:"latency,omitempty"`
	// Status answers with this instead of the service.
	Status int `json:"status,omitempty"`
	// Code and Message make the error of the answer. Header are further headers, Retry-After for one.
	Code    string            `json:"code,omitempty"`
	Message string            `json:"message,omitempty"`
	Header  map[string]string `json:"header,omitempty"`
	// Body is sent instead of an error, with the content type of Header, or as HTML.
	Body string `json:"body,omitempty"`
	// Endless repeats Body until the client goes away.
	Endless bool `json:"endless,omitempty"`
	// Effect lets the service do its work before the answer is replaced.
	Effect bool `json:"effect,omitempty"`
	// Cut breaks the connection off, CutBefore or CutAfter the effect, and nothing is answered.
	Cut string `json:"cut,omitempty"`
	// CutAfterLines breaks the connection off when the answer has that many lines, or ends early. With
	// a Code the stream ends with a line that has this error instead.
	CutAfterLines int `json:"cutAfterLines,omitempty"`
}

// Values of [Fault.Cut].
const (
	CutBefore = "before"
	CutAfter  = "after"
)

// ImageNotReady answers the next creates as the service does while it prepares an image.
func ImageNotReady(count int) Fault {
	return Fault{
		Method: http.MethodPost, Path: "/v*/sandboxes", Count: count,
		Status: http.StatusConflict, Code: "image_not_ready", Message: "The image is still being prepared.",
	}
}

// TransitionWindow answers the next requests to sessions as if they were about to stop.
func TransitionWindow(count int) Fault {
	return Fault{
		Method: http.MethodPost, Path: "/v2/sandboxes/sessions/**", Count: count,
		Status: http.StatusUnprocessableEntity, Code: codeStopping, Message: "The sandbox is stopping.",
	}
}

// TokenRevokedAfter lets that many requests pass and refuses all later ones.
func TokenRevokedAfter(requests int) Fault {
	return Fault{Skip: requests, Count: -1, Status: http.StatusForbidden, Code: codeForbidden, Message: "Not authorized: the token was revoked."}
}

func (f *Fault) check() error {
	if f.Cut != "" && f.Cut != CutBefore && f.Cut != CutAfter {
		return fmt.Errorf("unknown cut %q", f.Cut)
	}
	if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
		return fmt.Errorf("a status of %d cannot be answered", f.Status)
	}
	if f.Skip < 0 || f.Latency < 0 || f.CutAfterLines < 0 {
		return errors.New("numbers must not be negative")
	}
	if f.Endless && f.Body == "" {
		return errors.New("an endless answer needs a body to repeat")
	}
	if _, err := path.Match(f.Path, "/"); err != nil {
		return fmt.Errorf("path pattern %q: %w", f.Path, err)
	}
	return nil
}

func (f *Fault) meets(r *http.Request) bool {
	if f.Method != "" && f.Method != r.Method {
		return false
	}
	query := r.URL.Query()
	for name, value := range f.Query {
		if !slices.Contains(query[name], value) {
			return false
		}
	}
	return f.Path == "" || pathMatches(f.Path, r.URL.Path)
}

func pathMatches(pattern, actual string) bool {
	if beginning, open := strings.CutSuffix(pattern, "/**"); open {
		depth := strings.Count(beginning, "/")
		segments := strings.Split(actual, "/")
		if len(segments) <= depth+1 {
			return false
		}
		pattern, actual = beginning, strings.Join(segments[:depth+1], "/")
	}
	matched, err := path.Match(pattern, actual)
	return err == nil && matched
}

// faults are those that wait for their requests.
type faults struct {
	mutex   sync.Mutex
	waiting []*Fault
}

// Inject adds faults behind those that wait already.
func (s *Simulator) Inject(added ...Fault) error {
	for i := range added {
		if err := added[i].check(); err != nil {
			return err
		}
	}
	s.faults.mutex.Lock()
	defer s.faults.mutex.Unlock()
	for _, one := range added {
		if one.Count == 0 {
			one.Count = 1
		}
		s.faults.waiting = append(s.faults.waiting, &one)
	}
	return nil
}

// Faults returns the faults that still wait.
func (s *Simulator) Faults() []Fault {
	s.faults.mutex.Lock()
	defer s.faults.mutex.Unlock()
	waiting := []Fault{}
	for _, one := range s.faults.waiting {
		waiting = append(waiting, *one)
	}
	return waiting
}

// ClearFaults removes the faults that still wait.
func (s *Simulator) ClearFaults() {
	s.faults.mutex.Lock()
	defer s.faults.mutex.Unlock()
	s.faults.waiting = nil
}

// next returns the fault of a request; nil when there is none.
func (f *faults) next(r *http.Request) *Fault {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for i, one := range f.waiting {
		if !one.meets(r) {
			continue
		}
		if one.Skip > 0 {
			one.Skip--
			continue
		}
		if one.Count > 0 {
			one.Count--
		}
		if one.Count == 0 {
			f.waiting = slices.Delete(f.waiting, i, i+1)
		}
		found := *one
		return &found
	}
	return nil
}

// around answers a request, with its fault if there is one.
func (f *faults) around(w http.ResponseWriter, r *http.Request, answer func(http.ResponseWriter)) {
	fault := f.next(r)
	if fault == nil {
		answer(w)
		return
	}
	select {
	case <-time.After(time.Duration(fault.Latency) * time.Millisecond):
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
	switch {
	case fault.Cut == CutBefore:
		panic(http.ErrAbortHandler)
	case fault.Cut == CutAfter:
		answer(&unheard{})
		panic(http.ErrAbortHandler)
	case fault.Status != 0 || fault.Endless:
		if fault.Effect {
			answer(&unheard{})
		}
		fault.replace(w)
	case fault.CutAfterLines > 0:
		answer(&cutWriter{ResponseWriter: w, left: fault.CutAfterLines})
		if fault.Code == "" {
			panic(http.ErrAbortHandler)
		}
		stream := newLineWriter(w)
		stream.begun = true
		_ = stream.write(logLine{Stream: "error", Data: errorDetail{fault.Code, fault.Message}})
	default:
		answer(w)
	}
}

// replace answers instead of the service.
func (f *Fault) replace(w http.ResponseWriter) {
	for name, value := range f.Header {
		w.Header().Set(name, value)
	}
	status := f.Status
	if status == 0 {
		status = http.StatusOK
	}
	if f.Body == "" {
		writeJSON(w, status, errorBody{errorDetail{Code: f.Code, Message: f.Message}})
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	w.WriteHeader(status)
	for {
		if _, err := w.Write([]byte(f.Body)); err != nil || !f.Endless {
			return
		}
	}
}

// unheard takes an answer that nobody gets.
type unheard struct{ header http.Header }

// Header implements [http.ResponseWriter].
func (u *unheard) Header() http.Header {
	if u.header == nil {
		u.header = http.Header{}
	}
	return u.header
}

// WriteHeader implements [http.ResponseWriter].
func (*unheard) WriteHeader(int) {}

// Write implements [http.ResponseWriter].
func (*unheard) Write(content []byte) (int, error) { return len(content), nil }

// Flush implements [http.Flusher].
func (*unheard) Flush() {}

// errCut ends an answer that is to break off.
var errCut = errors.New("the answer breaks off here")

// cutWriter lets a number of lines pass.
type cutWriter struct {
	http.ResponseWriter
	left int
}

// Write implements [http.ResponseWriter].
func (c *cutWriter) Write(content []byte) (int, error) {
	if c.left <= 0 {
		return 0, errCut
	}
	c.left -= bytes.Count(content, []byte("\n"))
	return c.ResponseWriter.Write(content)
}

// Unwrap lets [http.ResponseController] flush.
func (c *cutWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
