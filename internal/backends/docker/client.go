package docker

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/docker/docker/client"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// engine is the client of one Docker Engine.
type engine struct {
	*client.Client
	endpoint
	observer effects.Observer
}

// connect returns the client, made on the first call. Nothing is sent yet.
func (b *Backend) connect() (*engine, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.engine != nil {
		return b.engine, nil
	}
	found, err := b.config.resolve()
	if err != nil {
		return nil, unusable(err)
	}
	transport := &http.Transport{TLSClientConfig: found.tls, MaxIdleConns: 6, IdleConnTimeout: 15 * time.Second}
	httpClient := &http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}
	options := []client.Opt{client.WithHTTPClient(httpClient), client.WithHost(found.host)}
	if found.dial != nil {
		options = append(options, client.WithDialContext(found.dial))
	}
	options = append(options, client.WithVersionFromEnv(), client.WithAPIVersionNegotiation())
	cli, err := client.NewClientWithOpts(options...)
	if err != nil {
		return nil, unusable(err)
	}
	// The client wants a plain transport while it is made, so the observer is put in front later.
	httpClient.Transport = &inTurns{
		next:  observed{next: httpClient.Transport, observer: b.config.Observer},
		turns: map[string]chan struct{}{},
	}
	b.engine = &engine{Client: cli, endpoint: found, observer: b.config.Observer}
	return b.engine, nil
}

func unusable(err error) error {
	return &backends.Error{
		Kind: backends.Invalid, Backend: backendName, Operation: "connect to the engine",
		Detail: "The address of the engine cannot be used.",
		Remedy: "Check the `docker` block of the provider, DOCKER_HOST, DOCKER_CONTEXT and `docker context ls`.",
		Err:    cut(err),
	}
}

// observed tells the observer of each call that passes it.
type observed struct {
	next     http.RoundTripper
	observer effects.Observer
}

// RoundTrip sends the request between the two calls of the observer.
func (o observed) RoundTrip(request *http.Request) (*http.Response, error) {
	var response *http.Response
	err := o.observer.Do(request.Context(), effectOf(request.Method, request.URL), func() error {
		var err error
		response, err = o.next.RoundTrip(request) //nolint:bodyclose // a transport hands the body on
		return err
	})
	if err == nil && response.StatusCode == http.StatusInsufficientStorage {
		return nil, errors.Join(errFull, response.Body.Close())
	}
	return response, err
}

// collections are the kinds of object that the engine's paths name. After each comes an id or
// a name, unless what follows is one of the verbs.
var collections = map[string]map[string]bool{
	"containers": {"create": true, "json": true, "prune": true},
	"images":     {"create": true, "json": true, "load": true, "get": true},
	"volumes":    {"create": true, "prune": true},
	"networks":   {"create": true, "prune": true},
	"exec":       {},
}

// effectOf names a call: its action without version, ids and names, and apart from that the object.
// Bodies are never looked at, since they hold secrets.
func effectOf(method string, address *url.URL) effects.Effect {
	parts := strings.Split(strings.Trim(address.Path, "/"), "/")
	if len(parts) > 1 && strings.HasPrefix(parts[0], "v1.") {
		parts = parts[1:]
	}
	object := ""
	if verbs, ok := collections[parts[0]]; ok && len(parts) > 1 && !verbs[parts[1]] {
		if parts[0] == "images" {
			// An image reference has slashes of its own; only its last part can be a verb.
			last := len(parts)
			if verb := parts[last-1]; last > 2 && (verb == "json" || verb == "history" || verb == "tag") {
				last--
			}
			object = strings.Join(parts[1:last], "/")
			parts = append([]string{parts[0], "{id}"}, parts[last:]...)
		} else {
			object, parts[1] = parts[1], "{id}"
		}
	}
	query := address.Query()
	for _, key := range []string{"name", "fromImage", "container", "repo", "path"} {
		if value := query.Get(key); value != "" {
			object = strings.TrimPrefix(object+" "+value, " ")
		}
	}
	return effects.Effect{
		System: backendName,
		Action: method + " /" + strings.Join(parts, "/"),
		Object: object,
		Write:  method != http.MethodGet && method != http.MethodHead,
	}
}

// cleanupTime bounds what is put back or removed after a failure, when the caller's context may
// be over already.
const cleanupTime = 60 * time.Second

// detached returns a context that outlives the caller's, for cleaning up, and for short calls that
// make something: when such a call is canceled, the engine may well finish it, and nobody knows.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
}
