package simkit

import (
	"bytes"
	"encoding/json"
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
	// Path is a pattern without the prefix of the API, where * stands for a segment or a part of one, and a
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
	// Code and Message make the error of the answer, with Details where the service has them. Header are
	// further headers, Retry-After for one.
	Code    string            `json:"code,omitempty"`
	Message string            `json:"message,omitempty"`
	Details json.RawMessage   `json:"details,omitempty"`
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

// FaultList has the faults that wait for their requests, and how the service writes errors.
type FaultList struct {
	// WriteError answers with the error of a fault.
	WriteError func(w http.ResponseWriter, fault Fault)
	// EndStream ends a stream that broke off with the error of a fault; nil where there are no streams.
	EndStream func(w http.ResponseWriter, fault Fault)

	mutex   sync.Mutex
	waiting []*Fault
}

// Inject adds faults behind those that wait already.
func (f *FaultList) Inject(added ...Fault) error {
	for i := range added {
		if err := added[i].check(); err != nil {
			return err
		}
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, one := range added {
		if one.Count == 0 {
			one.Count = 1
		}
		f.waiting = append(f.waiting, &one)
	}
	return nil
}

// Faults returns the faults that still wait.
func (f *FaultList) Faults() []Fault {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	waiting := []Fault{}
	for _, one := range f.waiting {
		waiting = append(waiting, *one)
	}
	return waiting
}

// ClearFaults removes the faults that still wait.
func (f *FaultList) ClearFaults() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.waiting = nil
}

// next returns the fault of a request; nil when there is none.
func (f *FaultList) next(r *http.Request) *Fault {
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

// Around answers a request, with its fault if there is one.
func (f *FaultList) Around(w http.ResponseWriter, r *http.Request, answer func(http.ResponseWriter)) {
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
		f.replace(w, fault)
	case fault.CutAfterLines > 0:
		answer(&cutWriter{ResponseWriter: w, left: fault.CutAfterLines})
		if fault.Code == "" {
			panic(http.ErrAbortHandler)
		}
		f.EndStream(w, *fault)
	default:
		answer(w)
	}
}

// replace answers instead of the service.
func (f *FaultList) replace(w http.ResponseWriter, fault *Fault) {
	for name, value := range fault.Header {
		w.Header().Set(name, value)
	}
	if fault.Status == 0 {
		fault.Status = http.StatusOK
	}
	if fault.Body == "" {
		f.WriteError(w, *fault)
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	w.WriteHeader(fault.Status)
	for {
		if _, err := w.Write([]byte(fault.Body)); err != nil || !fault.Endless {
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
