package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/hashicorp/go-retryablehttp"
)

// errTooLong: an answer is longer than its bound.
var errTooLong = errors.New("the answer is too long")

// do sends a call and reads its JSON answer into answer, which may be nil.
func (c *Client) do(ctx context.Context, call call, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, call.bounds.total)
	defer cancel()
	current := &exchange{call: call}
	read := readInto(current)
	response, err := c.exchange(ctx, current, read)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if !current.read { // the last of several attempts, given up
		_ = read(response)
	}
	if response.StatusCode >= 300 {
		return c.refused(current, response, current.answer)
	}
	if kind := mediaType(response); kind != "" && !strings.HasSuffix(kind, "json") {
		return c.unreadable(current, fmt.Sprintf("It answered %s instead of JSON.", redact(kind, longestCode, c.secrets(call)...)))
	}
	if answer == nil {
		return nil
	}
	if err := decode(current.answer, answer); err != nil {
		return c.unreadable(current, "The answer cannot be used: "+redact(err.Error(), longestMessage, c.secrets(call)...)+".")
	}
	return nil
}

// stream sends a call and returns the body of an answer of the given media type. Closing the
// body ends the call; until then the call's bounds hold.
func (c *Client) stream(ctx context.Context, call call, kind string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, call.bounds.total)
	current := &exchange{call: call}
	response, err := c.exchange(ctx, current, nil) //nolint:bodyclose // the caller closes it, or the lines below
	if err != nil {
		cancel()
		return nil, err
	}
	body := &closing{ReadCloser: response.Body, then: cancel}
	if response.StatusCode < 300 && mediaType(response) == kind {
		return body, nil
	}
	defer body.Close()
	data, _ := io.ReadAll(io.LimitReader(body, longestErrorBody))
	if response.StatusCode >= 300 {
		return nil, c.refused(current, response, data)
	}
	return nil, c.unreadable(current, "It answered with another content type than "+kind+".")
}

// exchange sends a call, again where that is allowed, and returns the last answer. Errors are
// typed; answers of every status are not errors here.
func (c *Client) exchange(ctx context.Context, current *exchange, read retryablehttp.ResponseHandlerFunc) (*http.Response, error) {
	call := current.call
	path, err := call.path()
	if err != nil {
		return nil, err
	}
	call.query.Set("teamId", c.credentials.team)
	address := c.base.String() + path + "?" + call.query.Encode()
	var body any
	if len(call.body) > 0 {
		body = call.body
	}
	request, err := retryablehttp.NewRequestWithContext(context.WithValue(ctx, exchangeKey{}, current), call.method, address, body)
	if err != nil {
		return nil, invalid(call.operation, call.object, "The request cannot be put together.", "")
	}
	request.Header.Set("User-Agent", c.config.UserAgent)
	request.Header.Set("Content-Type", "application/json") // on all but uploads, reads included (section 3)
	for name, values := range call.header {
		request.Header[name] = values
	}
	request.SetResponseHandler(read)
	response, err := c.http.Do(request)
	if err != nil {
		if response != nil && response.Body != nil {
			response.Body.Close()
		}
		return nil, c.lost(ctx, current, unwrapURL(err))
	}
	return response, nil
}

// readInto reads an answer whole, within the attempt, so that one that is cut can be asked for again.
func readInto(current *exchange) retryablehttp.ResponseHandlerFunc {
	return func(response *http.Response) error {
		defer response.Body.Close()
		longest := current.call.longest
		if longest == 0 {
			longest = longestAnswer
		}
		if response.StatusCode >= 300 {
			longest = longestErrorBody
		}
		var buffer bytes.Buffer
		_, err := io.Copy(&buffer, io.LimitReader(response.Body, longest+1))
		current.answer, current.read = buffer.Bytes(), true
		switch {
		case response.StatusCode >= 300:
			return nil // the status says enough
		case err != nil:
			return err
		case int64(buffer.Len()) > longest:
			return errTooLong
		}
		return nil
	}
}

// mediaType is the answer's content type without parameters.
func mediaType(response *http.Response) string {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return kind
}

// unwrapURL takes off what repeats method and address.
func unwrapURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
