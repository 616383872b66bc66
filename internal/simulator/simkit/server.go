package simkit

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Service is what a server serves.
type Service interface {
	http.Handler
	Close() error
}

// Server is a simulator that listens.
type Server struct {
	service  Service
	listener net.Listener
	http     *http.Server
	failed   chan error
	done     chan struct{}
}

// Listen serves a new simulator on a loopback address, "127.0.0.1:0" for any port. Nothing is made for
// an address that is not one.
func Listen[S Service](address string, build func() (S, error)) (*Server, S, error) {
	var none S
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, none, err
	}
	if !LoopbackHost(host) {
		return nil, none, errors.New("the simulator listens on loopback addresses only")
	}
	service, err := build()
	if err != nil {
		return nil, none, err
	}
	listener, err := net.Listen("tcp", address) //nolint:noctx // it does not wait
	if err != nil {
		return nil, none, errors.Join(err, service.Close())
	}
	server := &Server{
		service: service, listener: listener, failed: make(chan error, 1), done: make(chan struct{}),
		http: &http.Server{Handler: service, ReadHeaderTimeout: 10 * time.Second},
	}
	go func() {
		defer close(server.done)
		if err := server.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			server.failed <- err
		}
	}()
	return server, service, nil
}

// Origin is the scheme, host and port.
func (s *Server) Origin() string { return "http://" + s.listener.Addr().String() }

// Failed tells when the server stops by itself.
func (s *Server) Failed() <-chan error { return s.failed }

// Close stops listening, breaks off what is under way, and closes the simulator.
func (s *Server) Close() error {
	err := errors.Join(s.http.Close(), s.service.Close())
	<-s.done
	return err
}

// LoopbackHost tells whether a request's Host header names this machine. It keeps pages that a browser
// shows from reaching a simulator by a name of theirs.
func LoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.IsLoopback()
}

// TB is what a simulator needs of a test.
type TB interface {
	Helper()
	Cleanup(f func())
	Errorf(format string, arguments ...any)
	Fatalf(format string, arguments ...any)
}

// ForTest hands on a server that was started, and closes it with the test.
func ForTest[S interface{ Close() error }](t TB, server S, err error) S {
	t.Helper()
	if err != nil {
		t.Fatalf("start the simulator: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("close the simulator: %v", err)
		}
	})
	return server
}
