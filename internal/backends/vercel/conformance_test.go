package vercel_test

import (
	"net"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/conformance"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

func TestConformance(t *testing.T) {
	needExecutor(t)
	// Another working directory than the service's shows whether it is read from the session.
	server := simulator.Start(t, simulator.Config{
		Sources: sources(t, t.TempDir()), WorkingDirectory: "/home/vercel-sandbox/work", Plan: simulator.PlanEnterprise,
	})
	conformance.Run(t, conformance.Harness{
		Name:     "vercel",
		Parallel: true,
		Runtime:  "node24", Git: repository, Tarball: tarball,
		AnyImage: true, NoNetwork: true,
		New: func(conformance.T) backends.Backend { return vercel.New(config(server)) },
		Lacks: func(_ conformance.T, capability string) string {
			if capability == "system_packages" {
				return "commands of the simulator never run as root"
			}
			return ""
		},
		Unreachable:      unreachable,
		UnreachableKinds: []backends.ErrorKind{backends.Failed},
	})
}

// unreachable is a backend at an address where nothing listens.
func unreachable(t conformance.T) backends.Backend {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	return vercel.New(vercel.Config{BaseURL: "http://" + address + "/api", Token: "token", TeamID: "team_x", ProjectID: "prj_x", Retries: -1})
}
