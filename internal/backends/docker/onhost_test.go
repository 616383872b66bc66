package docker

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// TestOnHost uses an engine that only a dialer knows the way to, whatever the environment says.
func TestOnHost(t *testing.T) {
	testkit.DockerImage(t)
	socket := strings.TrimPrefix(firstOf(os.Getenv(envHost), "unix:///var/run/docker.sock"), "unix://")
	b := newSerialBench(t)
	t.Setenv(envHost, "tcp://127.0.0.1:1")
	b.backend = New(Config{OnHost: "alpha", Dial: func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}})
	t.Cleanup(func() { b.backend.Close() })
	b.create(b.spec())
	b.must(b.backend.WriteFile(b.ctx(), b.marks.Name, "/workspace/file", []byte("on a host"), 0o644))
	if got := b.sh("cat /workspace/file"); got != "on a host" {
		t.Errorf("inside: %q", got)
	}
	binding, err := b.backend.Binding(b.ctx())
	b.must(err)
	if binding.Description != "cloud host alpha" || b.backend.Name() != "docker@alpha" {
		t.Errorf("the binding is %+v, the name %s", binding, b.backend.Name())
	}
	b.delete(backends.DeleteOptions{})
}

// TestHostOutOfReach: what keeps a dialer from a host reaches the caller as it is.
func TestHostOutOfReach(t *testing.T) {
	t.Parallel()
	asleep := &backends.Error{Kind: backends.HostSleeping, Backend: backendName, Operation: "reach cloud host", Object: "alpha", Remedy: "Wake it."}
	backend := New(Config{OnHost: "alpha", Dial: func(context.Context) (net.Conn, error) { return nil, asleep }})
	_, bindingErr := backend.Binding(t.Context())
	_, getErr := backend.Get(t.Context(), "box")
	_, prepareErr := backend.Prepare(t.Context())
	for operation, err := range map[string]error{"binding": bindingErr, "get": getErr, "prepare": prepareErr, "stop": backend.Stop(t.Context(), "box")} {
		if !errors.Is(err, backends.HostSleeping) {
			t.Errorf("%s: %v", operation, err)
		}
	}
	if found := backend.Probe(t.Context()); found.Available || !strings.Contains(found.Reason, "Wake it.") {
		t.Errorf("the probe says %+v", found)
	}
}
