package simkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// AdminPath is above what a service does not have: faults, settings, time, and what happened. These
// requests need the token, meet no faults, and are not recorded.
const AdminPath = "/_sandlot/"

// AdminHandler answers an admin request with a value, which is sent as JSON, or with an error, which is
// the client's mistake unless it is an [AdminError].
type AdminHandler func(r *http.Request, body []byte) (any, error)

// AdminError is an error with a status of its own.
type AdminError struct {
	Status  int
	Code    string
	Message string
}

func (e *AdminError) Error() string { return e.Message }

// NotFound is the error of an object that there is not.
func NotFound(what string) error {
	return &AdminError{http.StatusNotFound, "not_found", what + " not found."}
}

// Done is the answer of what has nothing to tell.
type Done struct{}

// ServeAdmin answers an admin request by the routes, whose keys are a method and a path below
// [AdminPath].
func ServeAdmin(w http.ResponseWriter, r *http.Request, body []byte, authorized bool, routes map[string]AdminHandler) {
	var answer any
	var err error
	if !authorized {
		err = &AdminError{http.StatusUnauthorized, "unauthorized", "The admin endpoint needs the token."}
	} else {
		answer, err = adminAnswer(r, body, routes)
	}
	status := http.StatusOK
	if err != nil {
		refusal := &AdminError{http.StatusBadRequest, "bad_request", err.Error()}
		errors.As(err, &refusal)
		status, answer = refusal.Status, map[string]any{"error": map[string]string{"code": refusal.Code, "message": refusal.Message}}
	}
	content, err := json.Marshal(answer)
	if err != nil {
		status, content = http.StatusInternalServerError, []byte(`{"error":{"code":"internal_error","message":"The answer cannot be encoded."}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(content) // the client may be gone, which is its own affair
}

func adminAnswer(r *http.Request, body []byte, routes map[string]AdminHandler) (answer any, err error) {
	mux := http.NewServeMux()
	for pattern, handle := range routes {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+AdminPath+path, func(_ http.ResponseWriter, r *http.Request) { answer, err = handle(r, body) })
	}
	if _, pattern := mux.Handler(r); pattern == "" {
		return nil, NotFound(fmt.Sprintf("The admin endpoint %s %s", r.Method, r.URL.Path))
	}
	mux.ServeHTTP(nil, r) // no handler of ours writes
	return answer, err
}

// DecodeAdmin reads a JSON object, and refuses unknown fields. An empty body is an empty object.
func DecodeAdmin(body []byte, target any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(target); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the body should be one JSON object")
	}
	return nil
}

// CommonAdmin are the routes that all simulators have.
func CommonAdmin[S any](recorder *Recorder, faults *FaultList, clock Clock, settings func() S, configure func(S) error) map[string]AdminHandler {
	waiting := func() any { return map[string]any{"faults": faults.Faults()} }
	return map[string]AdminHandler{
		"GET requests": func(*http.Request, []byte) (any, error) {
			return map[string]any{"requests": append([]Request{}, recorder.Requests()...)}, nil
		},
		"DELETE requests": func(*http.Request, []byte) (any, error) {
			recorder.ResetRequests()
			return Done{}, nil
		},
		"GET faults": func(*http.Request, []byte) (any, error) { return waiting(), nil },
		"POST faults": func(_ *http.Request, body []byte) (any, error) {
			var fault Fault
			if err := DecodeAdmin(body, &fault); err != nil {
				return nil, err
			}
			if err := faults.Inject(fault); err != nil {
				return nil, err
			}
			return waiting(), nil
		},
		"DELETE faults": func(*http.Request, []byte) (any, error) {
			faults.ClearFaults()
			return waiting(), nil
		},
		"GET settings": func(*http.Request, []byte) (any, error) { return settings(), nil },
		// All settings are replaced.
		"PUT settings": func(_ *http.Request, body []byte) (any, error) {
			var given S
			if err := DecodeAdmin(body, &given); err != nil {
				return nil, err
			}
			if err := configure(given); err != nil {
				return nil, err
			}
			return settings(), nil
		},
		"POST clock/advance": func(_ *http.Request, body []byte) (any, error) { return advance(clock, body) },
	}
}

// advance moves a virtual clock; the answer comes when all that fell due is done.
func advance(clock Clock, body []byte) (any, error) {
	var given struct {
		Duration int64 `json:"duration"` // ms
	}
	if err := DecodeAdmin(body, &given); err != nil {
		return nil, err
	}
	virtual, ok := clock.(*VirtualClock)
	if !ok {
		return nil, errors.New("the simulator goes by the wall clock")
	}
	if given.Duration < 0 {
		return nil, errors.New("`duration` should be >= 0")
	}
	virtual.Advance(time.Duration(given.Duration) * time.Millisecond)
	return map[string]int64{"now": virtual.Now().UnixMilli()}, nil
}
