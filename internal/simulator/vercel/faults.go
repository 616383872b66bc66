package vercel

import (
	"net/http"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// Fault changes the answers to requests. The first fault of a request counts. Paths lack the prefix /api.
type Fault = simkit.Fault

// Values of Fault.Cut.
const (
	CutBefore = simkit.CutBefore
	CutAfter  = simkit.CutAfter
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

func writeFault(w http.ResponseWriter, fault Fault) {
	writeJSON(w, fault.Status, errorBody{errorDetail{Code: fault.Code, Message: fault.Message}})
}

// endStream writes the error as the last line of a log.
func endStream(w http.ResponseWriter, fault Fault) {
	stream := newLineWriter(w)
	stream.begun = true
	_ = stream.write(logLine{Stream: "error", Data: errorDetail{fault.Code, fault.Message}})
}
