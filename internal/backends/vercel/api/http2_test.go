package api

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// TestHTTP2: the service speaks HTTP/2, where streams break off without their connection. The rules
// for what is sent again, and for what may have happened, are the same.
func TestHTTP2(t *testing.T) {
	var inner http.HandlerFunc
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { inner(w, r) }))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	transport := backends.WebTransport()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	transport.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	transport.TLSClientConfig.RootCAs = roots
	config := testConfig(s.URL)
	config.Transport = transport
	c := newClient(t, config)

	calls := 0
	inner = func(w http.ResponseWriter, r *http.Request) {
		if calls++; r.ProtoMajor != 2 {
			t.Errorf("got %s", r.Proto)
		}
		if calls < 3 {
			panic(http.ErrAbortHandler)
		}
		reply(w, 200, stateObject())
	}
	if err := read(t, c); err != nil || calls != 3 {
		t.Errorf("got %v after %d calls", err, calls)
	}
	calls = 0
	err := create(t, c)
	wantKind(t, err, backends.Failed)
	if !Ambiguous(err) || calls != 1 {
		t.Errorf("got %v after %d calls", err, calls)
	}

	first := ndjson(object{"command": commandObject()})
	stream := first + shortLog
	inner = command(partial(stream, len(stream)-3, false), partial(otherLog, len(otherLog), true), ended)
	var got collector
	over, err := c.RunCommand(t.Context(), "sbx_S", CommandRequest{Command: "x"}, got.take)
	if err != nil || *over.ExitCode != 3 {
		t.Errorf("got %+v and %v", over, err)
	}
	got.want(t, "HTTP/2")
}
