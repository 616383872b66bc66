package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// errorReport is the body of an error (section 5.7).
type errorReport struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// reportedError reads an error body; the zero value when it has another form.
func reportedError(body []byte) errorReport {
	var envelope struct {
		Error errorReport `json:"error"`
	}
	if json.Unmarshal(body, &envelope) != nil {
		return errorReport{}
	}
	return envelope.Error
}

// classify maps an answer to a kind by the table of section 9.2. message is the API's own,
// to be looked at and not to be shown.
func classify(call call, found *ResponseError, message string) (kind backends.ErrorKind, detail, remedy string) {
	switch status := found.Status; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return backends.Unauthorized, "The API refused the token for this team and project.",
			"Check that the token is valid and that its scope covers the team and the project. A new token can take a moment to work."
	case status == http.StatusPaymentRequired:
		return backends.NoCapacity, "The team's plan or billing does not allow it.", "Check billing and limits of the team at Vercel."
	case status == http.StatusNotFound && found.Code != CodeNotFound:
		// Absence is only what the API itself says, not what a proxy or another server answers.
		return backends.Failed, "It answered 404, but not in the form of the API.", "Check that `base_url` is the address of the API."
	case status == http.StatusNotFound && (call.template == createPath || call.template == createWithRuntimePath):
		return backends.Invalid, "The project does not exist in this team, or the token cannot see it.", "Check `project_id` and `team_id`."
	case status == http.StatusNotFound:
		return backends.NotFound, "It does not exist.", ""
	}
	return classifyState(call, found, message)
}

// classifyState maps the answers that speak about the state of an object.
func classifyState(call call, found *ResponseError, message string) (kind backends.ErrorKind, detail, remedy string) {
	switch {
	case call.names() && found.Code == CodeBadRequest && strings.Contains(strings.ToLower(message), messageOfTakenNameMarker):
		return backends.AlreadyExists, "A sandbox of this name exists in the project.", "Import it if it is yours, or choose another name."
	case found.Code == CodeTimeoutInvalid:
		return backends.Invalid, "The timeout is longer than the team's plan allows.", "Choose a shorter `timeout`."
	case found.Code == CodeStopping || found.Code == CodeSnapshotting:
		return backends.NotRunning, "The session is being stopped or saved.", ""
	case found.Status == http.StatusGone && call.ofSession:
		return backends.NotRunning, "The session is over.", ""
	case found.Status == http.StatusGone:
		return backends.Expired, "The snapshot that it starts from has expired or was deleted.", ""
	case found.Code == CodeImageNotReady:
		return backends.Conflict, "The platform is still preparing the image.", "Try again in some minutes."
	case found.Status == http.StatusConflict:
		return backends.Conflict, "It is in use or changes just now.", ""
	case found.Status == http.StatusTooManyRequests:
		return backends.RateLimited, "A quota of the team is used up: requests, sandboxes that run at once, or vCPUs started within a minute.",
			"Lower Terraform's -parallelism, stop sandboxes that are not needed, or try again later."
	case found.Status == http.StatusRequestEntityTooLarge:
		return backends.Invalid, "The request is larger than the API accepts.", ""
	case found.Status == http.StatusBadRequest || found.Status == http.StatusUnprocessableEntity,
		found.Code == CodeSnapshotRegion, found.Code == CodeExecutableNotFound:
		return backends.Invalid, "The API rejects a value.", ""
	case found.Status == http.StatusGatewayTimeout || found.Status == http.StatusRequestTimeout:
		return backends.TimedOut, "The API did not finish in time.", ""
	case found.Status >= 300 && found.Status < 400:
		return backends.Failed, "It answered with a redirect, which is not followed.", "Check that `base_url` is the address of the API."
	default:
		return backends.Failed, "The API reports an error.", ""
	}
}
