package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// call is one request of the API, before it is sent.
type call struct {
	// operation is what the user wants, for errors: "create sandbox".
	operation string
	// object is the name or id concerned.
	object string
	method string
	// template is the path below the base URL, with {…} for each of parts.
	template string
	parts    []string
	query    url.Values
	header   http.Header
	body     []byte
	// write: the request changes something.
	write bool
	// ofSession: the path lies below a session, so that 410 means that the session is over.
	ofSession bool
	// bounds limit how long the call takes.
	bounds bounds
	// longest bounds the answer, in bytes. 0 means [longestAnswer].
	longest int64
	// secrets are values that the API might quote.
	secrets []string
}

// bounds limit a call that the caller's context does not limit.
type bounds struct {
	// total is for everything: all attempts, the waits between them and reading the answer.
	total time.Duration
	// attempt is for one attempt. Only for calls that may be repeated at will. 0 means none.
	attempt time.Duration
	// headers is how long the API may take until its answer begins. 0 means none.
	headers time.Duration
}

// Bounds by kind of call. The longest a session can live is 24 hours (section 11).
var (
	readBounds     = bounds{total: 2 * time.Minute, attempt: 30 * time.Second}
	writeBounds    = bounds{total: 5 * time.Minute}
	transferBounds = bounds{total: 15 * time.Minute, headers: 2 * time.Minute}
	streamBounds   = bounds{total: 24 * time.Hour, headers: 2 * time.Minute}
)

// Bounds of answers, in bytes.
const (
	longestAnswer     = 1 << 20
	longestPage       = 16 << 20
	longestErrorBody  = 64 << 10
	longestStreamLine = 4 << 20
)

// get is a call that only looks.
func get(operation, object, template string, parts ...string) call {
	return call{
		operation: operation, object: object, method: http.MethodGet,
		template: template, parts: parts, query: url.Values{}, bounds: readBounds,
	}
}

// change is a call that changes something.
func change(method, operation, object, template string, parts ...string) call {
	return call{
		operation: operation, object: object, method: method, write: true,
		template: template, parts: parts, query: url.Values{}, bounds: writeBounds,
	}
}

// with sets a query parameter, unless value is empty.
func (c call) with(key, value string) call {
	if value != "" {
		c.query.Set(key, value)
	}
	return c
}

// sending adds a JSON body.
func (c call) sending(body any) (call, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return c, invalid(c.operation, c.object, "The request cannot be written as JSON.", "")
	}
	c.body = data
	return c, nil
}

// path fills the template.
func (c call) path() (string, error) {
	path := c.template
	for _, part := range c.parts {
		if part == "" || part == "." || part == ".." {
			return "", invalid(c.operation, c.object, "An empty name or id, or one of dots, cannot be part of a request.", "")
		}
		before, after, _ := strings.Cut(path, "{")
		_, after, _ = strings.Cut(after, "}")
		path = before + url.PathEscape(part) + after
	}
	return path, nil
}

// effect names the call for the observer: no ids in the action, no query, no body.
func (c call) effect() effects.Effect {
	return effects.Effect{System: backendName, Action: c.method + " " + c.template, Object: c.object, Write: c.write}
}

// names: the call makes a sandbox under a name that may be taken.
func (c call) names() bool {
	return c.template == createPath || c.template == createWithRuntimePath || c.template == forkPath
}

// repeatable: sending it twice does what sending it once does (section 4).
func (c call) repeatable() bool {
	return c.method == http.MethodGet || c.method == http.MethodDelete
}
