package hetzner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// longestAnswer bounds one answer, in bytes. A page of servers is some hundred KB.
const longestAnswer = 16 << 20

var (
	errTooLong  = errors.New("the answer is longer than any that this API gives")
	errRedirect = errors.New("the answer is a redirection, which this API never gives")
)

// exchange is what is known of a call while it is sent, perhaps several times.
type exchange struct {
	operation, object string
	// secrets must not be quoted in errors, beside the token.
	secrets []string
	// unsure is true once the API may have acted on a request whose answer did not say so.
	unsure atomic.Bool
	// accepted is true once the API accepted a request that writes.
	accepted atomic.Bool
}

type exchangeKey struct{}

// begin makes an exchange: an operation is a verb phrase in plain words.
func begin(ctx context.Context, operation, object string, secrets ...string) (context.Context, *exchange) {
	current := &exchange{operation: operation, object: object, secrets: secrets}
	return context.WithValue(ctx, exchangeKey{}, current), current
}

// transport sends single requests: bounded, and seen by the observer.
type transport struct{ client *Client }

// RoundTrip sends the request between the two calls of the observer.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	current, _ := ctx.Value(exchangeKey{}).(*exchange)
	if current == nil {
		current = &exchange{}
	}
	write := request.Method != http.MethodGet
	if write {
		t.client.listing.drop()
		defer t.client.listing.drop()
	}
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	var response *http.Response
	err := t.client.config.Observer.Do(ctx, effectOf(request, current), func() error {
		var err error
		response, err = t.client.config.Transport.RoundTrip(request.WithContext(ctx)) //nolint:bodyclose // a transport hands the body on
		return err
	})
	if err != nil {
		if write && connected.Load() {
			current.unsure.Store(true)
		}
		return nil, err
	}
	if write && response.StatusCode >= http.StatusInternalServerError {
		current.unsure.Store(true)
	}
	if write && response.StatusCode < 300 {
		current.accepted.Store(true)
	}
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		_ = response.Body.Close()
		return nil, errRedirect
	}
	response.Body = &bounded{ReadCloser: response.Body, left: longestAnswer, write: write, current: current}
	return response, nil
}

// effectOf describes a request: its path without ids, and the id or the name that it is about.
func effectOf(request *http.Request, current *exchange) effects.Effect {
	object := current.object
	_, path, found := strings.Cut(request.URL.Path, "/v1/")
	if !found {
		path = strings.TrimPrefix(request.URL.Path, "/")
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part != "" && strings.Trim(part, "0123456789") == "" {
			object, parts[i] = part, "{id}"
		}
	}
	return effects.Effect{
		System: Name, Action: fmt.Sprintf("%s /%s", request.Method, strings.Join(parts, "/")),
		Object: object, Write: request.Method != http.MethodGet,
	}
}

// bounded is a body that ends with an error after too much of it, and remembers when it was cut short.
type bounded struct {
	io.ReadCloser
	left    int64
	write   bool
	current *exchange
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if b.write && err != nil && !errors.Is(err, io.EOF) {
		b.current.unsure.Store(true)
	}
	return n, err
}

// withoutQuery is an error of the HTTP client without the address that it repeats.
func withoutQuery(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
