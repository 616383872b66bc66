package docker_test

import (
	"path/filepath"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/conformance"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/docker"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func TestConformance(t *testing.T) {
	image := testkit.DockerImage(t)
	conformance.Run(t, conformance.Harness{
		Name:     "docker",
		Parallel: true,
		Source:   backends.Source{Image: image},
		New: func(t conformance.T) backends.Backend {
			return closed(t, docker.New(docker.Config{}))
		},
		Unreachable: func(t conformance.T) backends.Backend {
			return closed(t, docker.New(docker.Config{Host: "unix://" + filepath.Join(t.TempDir(), "absent.sock")}))
		},
		LoseCompute: loseContainer,
	})
}

// closed ends the backend's idle connections after the test.
func closed(t conformance.T, backend *docker.Backend) *docker.Backend {
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Errorf("close the backend: %v", err)
		}
	})
	return backend
}

// loseContainer removes a sandbox's container as somebody at the engine's command line would.
func loseContainer(t conformance.T, name string) {
	t.Helper()
	engine, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatalf("connect to the engine: %v", err)
	}
	defer func() {
		if err := engine.Close(); err != nil {
			t.Errorf("close the connection: %v", err)
		}
	}()
	if err := engine.ContainerRemove(t.Context(), name, container.RemoveOptions{Force: true}); err != nil {
		t.Fatalf("remove the container: %v", err)
	}
}
