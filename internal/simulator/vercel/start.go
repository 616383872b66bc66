package vercel

import "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"

// Server is a simulator that listens.
type Server struct {
	*Simulator
	listening *simkit.Server
}

// Listen serves a new simulator on a loopback address, "127.0.0.1:0" for any port.
func Listen(address string, config Config) (*Server, error) {
	listening, s, err := simkit.Listen(address, func() (*Simulator, error) { return New(config) })
	if err != nil {
		return nil, err
	}
	return &Server{Simulator: s, listening: listening}, nil
}

// Origin is the scheme, host and port, where the address of the service has https://vercel.com.
func (s *Server) Origin() string { return s.listening.Origin() }

// URL is the base of the API, where clients have https://vercel.com/api.
func (s *Server) URL() string { return s.Origin() + "/api" }

// Token is what requests must bear.
func (s *Server) Token() string { return s.config.Token }

// Failed tells when the server stops by itself.
func (s *Server) Failed() <-chan error { return s.listening.Failed() }

// Close stops listening, breaks off what is under way, and closes the simulator.
func (s *Server) Close() error { return s.listening.Close() }

// TB is what Start needs of a test.
type TB = simkit.TB

// Start serves a simulator on any port for the length of a test.
func Start(t TB, config Config) *Server {
	t.Helper()
	server, err := Listen("127.0.0.1:0", config)
	return simkit.ForTest(t, server, err)
}
