package vercel

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// apiError is an answer that is not a success.
type apiError struct {
	status  int
	code    string
	message string
	header  http.Header
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.code, e.message) }

// Codes of errors.
const (
	codeBadRequest       = "bad_request"
	codeForbidden        = "forbidden"
	codeNotFound         = "not_found"
	codeTimeoutInvalid   = "sandbox_timeout_invalid"
	codeSnapshotNotFound = "snapshot_not_found"
	codeRegionMismatch   = "snapshot_region_mismatch"
	codeNoExecutable     = "executable_not_found"
	codeStopped          = "sandbox_stopped"
	codeFailed           = "sandbox_failed"
	codeStopping         = "sandbox_stopping"
	codeSnapshotting     = "sandbox_snapshotting"
	codeRateLimited      = "rate_limited"
	codeInternal         = "internal_server_error"
	// codeUnsupported is the simulator's own: the service could do it, the simulator cannot.
	codeUnsupported = "simulator_unsupported"
)

func fail(status int, code, format string, arguments ...any) *apiError {
	return &apiError{status: status, code: code, message: fmt.Sprintf(format, arguments...)}
}

func badRequest(format string, arguments ...any) *apiError {
	return fail(http.StatusBadRequest, codeBadRequest, "Invalid request: "+format, arguments...)
}

func notFound(what string) *apiError {
	return fail(http.StatusNotFound, codeNotFound, "%s not found.", what)
}

func unsupported(format string, arguments ...any) *apiError {
	return fail(http.StatusBadRequest, codeUnsupported, "The simulator cannot do this: "+format, arguments...)
}

func snapshotGone(id string) *apiError {
	return fail(http.StatusGone, codeSnapshotNotFound, "Snapshot %s does not exist, expired or was deleted.", id)
}

type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// writeError answers with an error. One that is not ours is a fault of the simulator itself.
func writeError(w http.ResponseWriter, err error) {
	var known *apiError
	if !errors.As(err, &known) {
		known = fail(http.StatusInternalServerError, codeInternal, "The simulator failed: %v", err)
	}
	for name, values := range known.header {
		w.Header()[name] = values
	}
	writeJSON(w, known.status, errorBody{errorDetail{Code: known.code, Message: known.message}})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	content, err := json.Marshal(value)
	if err != nil {
		status, content = http.StatusInternalServerError, []byte(`{"error":{"code":"internal_server_error","message":"The answer cannot be encoded."}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(content) // the client may be gone, which is its own affair
}
