package hetzner

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// apiError is an answer that is not a success.
type apiError struct {
	status  int
	code    string
	message string
	details any
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.code, e.message) }

// Codes of errors.
const (
	codeJSON               = "json_error"
	codeUnauthorized       = "unauthorized"
	codeReadOnly           = "token_readonly"
	codeForbidden          = "forbidden"
	codeLimitExceeded      = "resource_limit_exceeded"
	codeNotFound           = "not_found"
	codeMethod             = "method_not_allowed"
	codeUniqueness         = "uniqueness_error"
	codeDeprecated         = "deprecated_api_endpoint"
	codeUnavailable        = "resource_unavailable"
	codeVersionMismatch    = "primary_ip_version_mismatch"
	codeInvalid            = "invalid_input"
	codeUnsupported        = "unsupported_error"
	codePlacement          = "placement_error"
	codeIPAssigned         = "primary_ip_assigned"
	codeDatacenterMismatch = "primary_ip_datacenter_mismatch"
	codeNotStopped         = "server_not_stopped"
	codeHasIPv4            = "server_has_ipv4"
	codeHasIPv6            = "server_has_ipv6"
	codeAlreadyAssigned    = "primary_ip_already_assigned"
	codeMustBeUnassigned   = "must_be_unassigned"
	codeInvalidServerType  = "invalid_server_type"
	codeLocked             = "locked"
	codeProtected          = "protected"
	codeRateLimit          = "rate_limit_exceeded"
	codeServerError        = "server_error"
)

func fail(status int, code, format string, arguments ...any) *apiError {
	return &apiError{status: status, code: code, message: fmt.Sprintf(format, arguments...)}
}

func unprocessable(code, format string, arguments ...any) *apiError {
	return fail(http.StatusUnprocessableEntity, code, format, arguments...)
}

type fieldDetail struct {
	Name     string   `json:"name"`
	Messages []string `json:"messages,omitempty"`
}

type fieldDetails struct {
	Fields []fieldDetail `json:"fields"`
}

// invalid is an error of one field.
func invalid(field, format string, arguments ...any) *apiError {
	problem := fmt.Sprintf(format, arguments...)
	err := unprocessable(codeInvalid, "invalid input in field '%s'", field)
	err.details = fieldDetails{[]fieldDetail{{field, []string{problem}}}}
	return err
}

// invalidAlone is one that names no field, as the service answers for what two fields do not allow
// together.
func invalidAlone(format string, arguments ...any) *apiError {
	err := unprocessable(codeInvalid, format, arguments...)
	err.details = struct{}{}
	return err
}

func missing(field string) *apiError { return invalid(field, "Missing data for required field.") }

func notFound(what string, id any) *apiError {
	return fail(http.StatusNotFound, codeNotFound, "%s with ID '%v' not found", what, id)
}

func taken(field string) *apiError {
	err := fail(http.StatusConflict, codeUniqueness, "%s is already used", field)
	err.details = fieldDetails{[]fieldDetail{{Name: field}}}
	return err
}

func limitExceeded(limit string) *apiError {
	err := fail(http.StatusForbidden, codeLimitExceeded, "project limit exceeded")
	err.details = struct {
		Limits []fieldDetail `json:"limits"`
	}{[]fieldDetail{{Name: limit}}}
	return err
}

func protected(what string) *apiError {
	return fail(http.StatusLocked, codeProtected, "%s is protected", what)
}

type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details"`
}

// writeError answers with an error. One that is not ours is a fault of the simulator itself.
func writeError(w http.ResponseWriter, err error) {
	var known *apiError
	if !errors.As(err, &known) {
		known = fail(http.StatusInternalServerError, codeServerError, "The simulator failed: %v", err)
	}
	writeJSON(w, known.status, errorBody{errorDetail{known.code, known.message, known.details}})
}

// writeFault answers with the error of a fault.
func writeFault(w http.ResponseWriter, fault simkit.Fault) {
	detail := errorDetail{Code: fault.Code, Message: fault.Message}
	if fault.Details != nil {
		detail.Details = fault.Details
	}
	writeJSON(w, fault.Status, errorBody{detail})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	content, err := json.Marshal(value)
	if err != nil {
		status, content = http.StatusInternalServerError, []byte(`{"error":{"code":"server_error","message":"The answer cannot be encoded.","details":null}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(content) // the client may be gone, which is its own affair
}
