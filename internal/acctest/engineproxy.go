package acctest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// EngineProxy passes calls on to an engine and records each of them.
type EngineProxy struct {
	Socket string
	mu     sync.Mutex
	calls  []string
	id     string
}

var apiVersion = regexp.MustCompile(`^/v[0-9.]+/`)

// NewEngineProxy starts a proxy in front of an engine, on a socket of its own. It ends with the
// test.
func NewEngineProxy(t testing.TB, engine *Engine) *EngineProxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "sl") // t.TempDir is too long for the address of a socket
	if err != nil {
		t.Fatal(err)
	}
	proxy := &EngineProxy{Socket: filepath.Join(dir, "s")}
	listener, err := net.Listen("unix", proxy.Socket)
	if err != nil {
		t.Fatal(err)
	}
	var dialer net.Dialer
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "engine"})
	forward.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", engine.Socket)
	}}
	forward.FlushInterval = -1 // streams are passed on as they come
	forward.ModifyResponse = proxy.pretend
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxy.record(r)
		forward.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		_ = os.RemoveAll(dir)
	})
	return proxy
}

// Host is the proxy's address as DOCKER_HOST has it.
func (p *EngineProxy) Host() string { return "unix://" + p.Socket }

func (p *EngineProxy) record(r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, r.Method+" "+apiVersion.ReplaceAllString(r.URL.Path, "/"))
}

// Calls returns the calls since the last Forget as "METHOD /path", without the API version.
func (p *EngineProxy) Calls() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

// Writes returns the calls that are no reads.
func (p *EngineProxy) Writes() []string {
	return slices.DeleteFunc(p.Calls(), func(call string) bool {
		method, _, _ := strings.Cut(call, " ")
		return method == http.MethodGet || method == http.MethodHead
	})
}

// PretendID makes the engine tell another id of itself from now on.
func (p *EngineProxy) PretendID(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id = id
}

func (p *EngineProxy) pretend(response *http.Response) error {
	p.mu.Lock()
	id := p.id
	p.mu.Unlock()
	if id == "" || !strings.HasSuffix(response.Request.URL.Path, "/info") {
		return nil
	}
	var info map[string]any
	err := json.NewDecoder(response.Body).Decode(&info)
	if err != nil {
		return err
	}
	info["ID"] = id
	raw, err := json.Marshal(info)
	if err != nil {
		return err
	}
	response.Body = io.NopCloser(bytes.NewReader(raw))
	response.ContentLength = int64(len(raw))
	response.Header.Set("Content-Length", strconv.Itoa(len(raw)))
	return nil
}

// Forget drops what was recorded.
func (p *EngineProxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = nil
}
