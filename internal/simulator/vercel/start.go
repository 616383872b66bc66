package vercel

import (
	"errors"
	"net"
	"net/http"
	"time"
)

// Server is a simulator that listens.
type Server struct {
	*Simulator
	listener net.Listener
	http     *http.Server
	failed   chan error
	done     chan struct{}
}

// Listen serves a new simulator on a loopback address, "127.0.0.1:0" for any port.
func Listen(address string, config Config) (*Server, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if !loopbackHost(host) {
		return nil, errors.New("the simulator listens on loopback addresses only")
	}
	s, err := New(config)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address) //nolint:noctx // it does not wait
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	server := &Server{
		Simulator: s, listener: listener, failed: make(chan error, 1), done: make(chan struct{}),
		http: &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second},
	}
	go func() {
		defer close(server.done)
		if err := server.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			server.failed <- err
		}
	}()
	return server, nil
}

// Origin is the scheme, host and port, where the address of the service has https://vercel.com.
func (s *Server) Origin() string { return "http://" + s.listener.Addr().String() }

// URL is the base of the API, where clients have https://vercel.com/api.
func (s *Server) URL() string { return s.Origin() + "/api" }

// Token is what requests must bear.
func (s *Server) Token() string { return s.config.Token }

// Failed tells when the server stops by itself.
func (s *Server) Failed() <-chan error { return s.failed }

// Close stops listening, breaks off what is under way, and closes the simulator.
func (s *Server) Close() error {
	err := errors.Join(s.http.Close(), s.Simulator.Close())
	<-s.done
	return err
}

// TB is what Start needs of a test.
type TB interface {
	Helper()
	Cleanup(f func())
	Errorf(format string, arguments ...any)
	Fatalf(format string, arguments ...any)
}

// Start serves a simulator on any port for the length of a test.
func Start(t TB, config Config) *Server {
	t.Helper()
	server, err := Listen("127.0.0.1:0", config)
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
