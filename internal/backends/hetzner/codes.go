package hetzner

import (
	"net/http"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// meaning is what a code says to somebody who did not write the API.
type meaning struct {
	kind           backends.ErrorKind
	detail, remedy string
}

const (
	applyAgain    = "Apply again later."
	checkToken    = "Check the token: it belongs to one project, and needs permission to read and write."
	anotherChoice = "Choose another server type or location, or try again later."
)

// meanings are the codes of section 2.1. A code that is not among them is judged by its status.
var meanings = map[Code]meaning{
	"json_error":                     {backends.Invalid, "The API could not read the request.", "Please report this: it is a fault of the provider."},
	"unauthorized":                   {backends.Unauthorized, "The API does not know the token.", checkToken},
	"token_readonly":                 {backends.Unauthorized, "The token may only read.", checkToken},
	"forbidden":                      {backends.Unauthorized, "The token does not permit this.", checkToken},
	"maintenance":                    {backends.Conflict, "The platform is under maintenance.", applyAgain},
	"resource_limit_exceeded":        {backends.NoCapacity, "A limit of the project is reached.", "Remove what is not needed, or ask the platform to raise the limit."},
	"not_found":                      {backends.NotFound, "The API says that it does not exist.", ""},
	"method_not_allowed":             {backends.Unsupported, "The API does not offer this.", "Check the endpoint."},
	"uniqueness_error":               {backends.AlreadyExists, "A resource of the project has that name or key already.", ""},
	"conflict":                       {backends.Conflict, "The resource was changed at the same moment.", applyAgain},
	"deprecated_api_endpoint":        {backends.Unsupported, "The API does not offer this any more.", "Upgrade the provider."},
	"resource_unavailable":           {backends.NoCapacity, "The platform has none of these there now, or not for this project.", anotherChoice},
	"primary_ip_version_mismatch":    {backends.Invalid, "The address is of the wrong family.", ""},
	"invalid_input":                  {backends.Invalid, "The API rejects a value.", "Check that server type, location and image are offered together."},
	"service_error":                  {backends.Failed, "A service behind the API failed.", applyAgain},
	"unsupported_error":              {backends.Unsupported, "The resource cannot do that.", ""},
	"placement_error":                {backends.NoCapacity, "The platform found no place for the server.", anotherChoice},
	"primary_ip_assigned":            {backends.Conflict, "The address is attached to a server already.", ""},
	"primary_ip_datacenter_mismatch": {backends.Invalid, "The address is in another location than the server.", ""},
	"server_not_stopped":             {backends.Conflict, "The server would have to be off for this.", ""},
	"server_has_ipv4":                {backends.Conflict, "The server has an IPv4 address already.", ""},
	"server_has_ipv6":                {backends.Conflict, "The server has an IPv6 address already.", ""},
	"primary_ip_already_assigned":    {backends.Conflict, "The address is attached to a server already.", ""},
	"must_be_unassigned":             {backends.Conflict, "The address is still attached.", applyAgain},
	"server_is_load_balancer_target": {backends.Conflict, "A load balancer targets the address.", "Take the server out of the load balancer."},
	"invalid_server_type":            {backends.Invalid, "The server type does not fit, or is not offered any more.", ""},
	"locked":                         {backends.Conflict, "Another action of the platform holds the resource.", applyAgain},
	"protected":                      {backends.Conflict, "Deletion protection is on.", "Lift the protection in the console of the platform, if it is meant to go."},
	"rate_limit_exceeded":            {backends.RateLimited, "The project has made too many requests.", applyAgain},
	"server_error":                   {backends.Failed, "The platform failed.", applyAgain},
	"bad_gateway":                    {backends.Failed, "The platform's gateway failed.", applyAgain},
	"unavailable":                    {backends.Failed, "The platform is not available.", applyAgain},
	"timeout":                        {backends.TimedOut, "The platform did not answer in time.", applyAgain},
	"unknown_error":                  {backends.Failed, "The platform failed without a reason.", applyAgain},
	"action_failed":                  {backends.Failed, "The platform accepted it and then failed.", applyAgain},
	"robot_unavailable":              {backends.Failed, "A service behind the API is not available.", applyAgain},
	"resource_locked":                {backends.Conflict, "The platform has locked the resource.", "Ask the platform's support."},
	"resource_in_use":                {backends.Conflict, "The resource is in use.", ""},
}

// explain judges an answer by its code, else by its status. Messages have changed over the years.
func explain(answer *APIError) (backends.ErrorKind, string, string) {
	if known, ok := meanings[answer.Code]; ok {
		return known.kind, known.detail, known.remedy
	}
	kind, detail := backends.Failed, "The API refused with a code that this version does not know."
	switch {
	case answer.Action != "":
		detail = meanings["action_failed"].detail
	case answer.Code == "" && answer.Status < http.StatusInternalServerError:
		detail = "The answer is not one of this API. Check the endpoint."
	case answer.Status == http.StatusGatewayTimeout:
		kind, detail = backends.TimedOut, meanings["timeout"].detail
	case answer.Status >= http.StatusInternalServerError:
		detail = "The platform failed."
	}
	switch answer.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		kind = backends.Unauthorized
	case http.StatusTooManyRequests:
		kind = backends.RateLimited
	}
	return kind, detail, applyAgain
}
