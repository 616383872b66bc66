package docker

import (
	"io"
	"net/http"
	"strings"
	"sync"
)

// inTurns passes on the archive calls about one container one after the other. The engine mounts the
// container's file system for each of them and unmounts it after; where calls overlapped, Engine
// 20.10 was seen to answer with archives that were cut short or empty, and with success.
type inTurns struct {
	next  http.RoundTripper
	mu    sync.Mutex
	turns map[string]chan struct{}
}

// RoundTrip waits for its turn, which lasts until the answer is read or closed.
func (t *inTurns) RoundTrip(request *http.Request) (*http.Response, error) {
	effect := effectOf(request.Method, request.URL)
	if !strings.HasSuffix(effect.Action, "/archive") {
		return t.next.RoundTrip(request)
	}
	turn := t.turn(effect.Object)
	select {
	case turn <- struct{}{}:
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
	end := sync.OnceFunc(func() { <-turn })
	response, err := t.next.RoundTrip(request)
	if err != nil || request.Method != http.MethodGet {
		end()
		return response, err
	}
	response.Body = &turnBody{ReadCloser: response.Body, end: end}
	return response, nil
}

func (t *inTurns) turn(container string) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turns[container] == nil {
		t.turns[container] = make(chan struct{}, 1)
	}
	return t.turns[container]
}

// turnBody ends the turn with the answer.
type turnBody struct {
	io.ReadCloser
	end func()
}

func (b *turnBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end()
	}
	return n, err
}

func (b *turnBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
