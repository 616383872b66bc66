package testkit

import (
	"net/http"
	"os"
	"testing"
)

// DeadProxy is an address at which nobody listens. A process that has it as its proxy reaches nothing but
// loopback addresses by https.
const DeadProxy = "http://127.0.0.1:9"

// Offline runs the tests of a package in which no request may leave the machine: a client that a test
// forgot to point at a simulator fails, also when the environment holds valid credentials. The tests of
// a suite that is opted in to by variable, set to "1", do reach what they are meant for.
func Offline(m *testing.M, variable string) {
	if variable == "" || os.Getenv(variable) != "1" {
		for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
			if err := os.Setenv(name, DeadProxy); err != nil {
				panic(err)
			}
		}
		for _, name := range []string{"NO_PROXY", "no_proxy"} {
			if err := os.Unsetenv(name); err != nil {
				panic(err)
			}
		}
		// The variables are read once, here.
		if request, err := http.NewRequest(http.MethodGet, "https://example.com", nil); err == nil {
			if proxy, err := http.ProxyFromEnvironment(request); err != nil || proxy == nil || proxy.String() != DeadProxy {
				panic("the proxy of the environment was read before Offline")
			}
		}
	}
	os.Exit(m.Run())
}
