package conformance

import (
	"bufio"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// routes returns the interfaces that have an IPv4 route inside.
func (b *box) routes() []string {
	b.t.Helper()
	var interfaces []string
	lines := bufio.NewScanner(strings.NewReader(b.run(backends.Command{Argv: []string{"cat", "/proc/net/route"}})))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 1 && fields[0] != "Iface" && fields[0] != "lo" {
			interfaces = append(interfaces, fields[0])
		}
	}
	return interfaces
}

// exerciseMode creates a sandbox in a network mode and brings another one there and back.
func (e *env) exerciseMode(t T, mode string, check func(*box)) {
	b := e.create(t, func(s *backends.Spec) { s.Network.Mode = mode })
	want := func(b *box) {
		t.Helper()
		if got := b.get().Spec.Network.Mode; got != mode {
			t.Errorf("the network mode is %q, want %q", got, mode)
		}
		check(b)
	}
	want(b)
	b.stop()
	b.start()
	want(b)
	for _, other := range e.capabilities.NetworkModes {
		if other == mode || e.harness.Lacks != nil && e.harness.Lacks(t, "network_"+strings.ReplaceAll(other, "-", "_")) != "" {
			continue
		}
		b.sh("echo kept > file")
		b.reconfigure(func(s *backends.Spec) { s.Network.Mode = other })
		if got := b.get().Spec.Network.Mode; got != other {
			t.Errorf("the network mode is %q, want %q", got, other)
		}
		b.reconfigure(func(s *backends.Spec) { s.Network.Mode = mode })
		want(b)
		b.wantFile("file", []byte("kept\n"))
	}
}

func exerciseDenyAll(t T, e *env) {
	e.exerciseMode(t, backends.NetworkDenyAll, func(b *box) {
		if routes := b.routes(); len(routes) > 0 {
			t.Errorf("with no network there are routes over %q", routes)
		}
	})
	if e.capabilities.NetworkModes[0] == backends.NetworkDenyAll {
		if routes := e.create(t).routes(); len(routes) > 0 {
			t.Errorf("by default there are routes over %q", routes)
		}
	}
}

func exerciseAllowAll(t T, e *env) {
	hasRoute := func(b *box) {
		t.Helper()
		if e.harness.NoNetwork {
			return
		}
		if len(b.routes()) == 0 {
			t.Errorf("with network there is no route")
		}
	}
	e.exerciseMode(t, backends.NetworkAllowAll, hasRoute)
	if e.capabilities.NetworkModes[0] == backends.NetworkAllowAll {
		hasRoute(e.create(t))
	}
}

// exerciseRestricted checks what is told of the lists of a restricted mode.
func exerciseRestricted(t T, e *env) {
	e.exerciseMode(t, backends.NetworkRestricted, func(*box) {})
	wanted := backends.Network{
		Mode: backends.NetworkRestricted, AllowDomains: []string{"example.com", "*.example.org"},
		AllowCIDRs: []string{"192.0.2.0/24"}, DenyCIDRs: []string{"192.0.2.128/25"},
	}
	b := e.create(t, func(s *backends.Spec) { s.Network = wanted })
	want := func() {
		t.Helper()
		wantSame(t, "the network", b.get().Spec.Network, b.spec.Network)
	}
	want()
	b.reconfigure(func(s *backends.Spec) { s.Network.AllowDomains, s.Network.DenyCIDRs = []string{"example.net"}, nil })
	want()
	b.stop()
	want()
	b.reconfigure(func(s *backends.Spec) { s.Network = wanted })
	b.start()
	want()
	for _, other := range e.capabilities.NetworkModes {
		if other == backends.NetworkRestricted {
			continue
		}
		lists := wanted
		lists.Mode = other
		_, err := e.backend.Reconfigure(e.ctx(t), b.marks, e.spec(func(s *backends.Spec) { s.Network = lists }))
		e.wantRefusal(t, "Reconfigure with lists in the mode "+other, err, "network.mode")
	}
	want()
}

// exerciseHostNetwork compares the network namespace with that of this process, since sandboxes
// that share the host's network live on this machine.
func exerciseHostNetwork(t T, e *env) {
	const namespace = "/proc/self/ns/net"
	host, err := os.Readlink(namespace)
	if err != nil {
		t.Fatalf("read the network namespace: %v", err)
	}
	e.exerciseMode(t, backends.NetworkHost, func(b *box) {
		if inside := b.sh("ls -l " + namespace); !strings.HasSuffix(inside, host) {
			t.Errorf("the network is another one than the host's %s: %s", host, inside)
		}
	})
}

// address returns the host and port of an endpoint, which may be a URL.
func address(endpoint string) (host, port string, err error) {
	if parsed, err := url.Parse(endpoint); err == nil && parsed.Host != "" {
		endpoint = parsed.Host
		if parsed.Port() == "" && parsed.Scheme == "https" {
			endpoint += ":443"
		}
	}
	return net.SplitHostPort(endpoint)
}

// wantEndpoint checks that a published port has an address, and returns it.
func (b *box) wantEndpoint(key string, loopback bool) (hostPort string) {
	b.t.Helper()
	endpoint, ok := b.get().Endpoints[key]
	if !ok {
		b.t.Fatalf("there is no endpoint %s: %v", key, b.get().Endpoints)
	}
	host, port, err := address(endpoint)
	if err != nil || port == "" || port == "0" {
		b.t.Fatalf("the endpoint %s is %q: %v", key, endpoint, err)
	}
	if ip := net.ParseIP(host); loopback && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		b.t.Errorf("the endpoint %s is %q, which is not on the loopback interface", key, endpoint)
	}
	return net.JoinHostPort(host, port)
}

// wantReachable answers on a port inside, where a program for that is there, and connects from here.
func (b *box) wantReachable(hostPort string, inside int) {
	b.t.Helper()
	if b.harness.NoNetwork {
		return
	}
	if b.sh("command -v nc > /dev/null && nc --help 2>&1 | grep -q BusyBox && echo yes || echo no") != "yes" {
		return
	}
	b.sh("(while :; do echo answer | nc -l -p " + strconv.Itoa(inside) + " > /dev/null; done) > /dev/null 2>&1 < /dev/null &")
	eventually(b.t, "an answer from "+hostPort, 20*time.Second, func() bool {
		connection, err := net.DialTimeout("tcp", hostPort, time.Second)
		if err != nil {
			return false
		}
		answer := make([]byte, 6)
		err = connection.SetReadDeadline(time.Now().Add(2 * time.Second))
		n := 0
		if err == nil {
			n, err = connection.Read(answer)
		}
		return connection.Close() == nil && err == nil && string(answer[:n]) == "answer"
	})
}

func sortedPorts(ports []backends.Port) []backends.Port {
	sorted := slices.Clone(ports)
	for i := range sorted {
		if sorted[i].Protocol == "" {
			sorted[i].Protocol = "tcp"
		}
	}
	slices.SortFunc(sorted, func(a, b backends.Port) int {
		if a.Port != b.Port {
			return a.Port - b.Port
		}
		return strings.Compare(a.Protocol, b.Protocol)
	})
	return sorted
}

// exerciseAssignedPorts: every port is public, at an address that stays while the port does.
func exerciseAssignedPorts(t T, e *env) {
	b := e.create(t, func(s *backends.Spec) {
		s.Ports = []backends.Port{{Port: 8080, Public: true}, {Port: 9090, Protocol: "tcp", Public: true}}
	})
	want := func(keys ...string) {
		t.Helper()
		observed := b.get()
		wantSame(t, "the ports", sortedPorts(observed.Spec.Ports), sortedPorts(b.spec.Ports))
		if len(observed.Endpoints) != len(keys) {
			t.Errorf("the endpoints are %v, want %q", observed.Endpoints, keys)
		}
		for _, key := range keys {
			b.wantEndpoint(key, false)
		}
	}
	want("8080/tcp", "9090/tcp")
	kept := b.get().Endpoints["8080/tcp"]
	b.wantReachable(b.wantEndpoint("8080/tcp", false), 8080)
	b.reconfigure(func(s *backends.Spec) {
		s.Ports = []backends.Port{{Port: 8080, Public: true}, {Port: 8081, Public: true}}
	})
	want("8080/tcp", "8081/tcp")
	b.stop()
	want("8080/tcp", "8081/tcp")
	b.start()
	if got := b.get().Endpoints["8080/tcp"]; got != kept {
		t.Errorf("the endpoint is %q, and was %q", got, kept)
	}
	b.reconfigure(func(s *backends.Spec) { s.Ports = nil })
	want()
	for what, port := range map[string]backends.Port{
		"a private port": {Port: 8080}, "a chosen address": {Port: 8080, Public: true, PublishedPort: 8080}, "udp": {Port: 8080, Public: true, Protocol: "udp"},
	} {
		_, err := e.backend.Reconfigure(e.ctx(t), b.marks, e.spec(func(s *backends.Spec) { s.Ports = []backends.Port{port} }))
		e.wantRefusal(t, "Reconfigure with "+what, err, "ports")
	}
}

func exercisePorts(t T, e *env) {
	if e.capabilities.PublicPortsOnly {
		exerciseAssignedPorts(t, e)
		return
	}
	fixed := freePort(t)
	b := e.create(t, func(s *backends.Spec) {
		s.Ports = []backends.Port{{Port: 8080}, {Port: 9090, Protocol: "tcp", PublishedPort: fixed}, {Port: 5353, Protocol: "udp"}}
	})
	wantPorts := func() {
		t.Helper()
		wantSame(t, "the ports", sortedPorts(b.get().Spec.Ports), sortedPorts(b.spec.Ports))
	}
	wantPorts()
	b.wantReachable(b.wantEndpoint("8080/tcp", true), 8080)
	if endpoint := b.wantEndpoint("9090/tcp", true); !strings.HasSuffix(endpoint, ":"+strconv.Itoa(fixed)) {
		t.Errorf("the endpoint is %s, want the port %d", endpoint, fixed)
	}
	b.wantEndpoint("5353/udp", true)
	if count := len(b.get().Endpoints); count != 3 {
		t.Errorf("there are %d endpoints", count)
	}

	b.write("file", []byte("kept"), 0o644)
	b.reconfigure(func(s *backends.Spec) { s.Ports = []backends.Port{{Port: 8081}} })
	wantPorts()
	b.wantReachable(b.wantEndpoint("8081/tcp", true), 8081)
	if count := len(b.get().Endpoints); count != 1 {
		t.Errorf("there are %d endpoints after the change", count)
	}
	b.wantFile("file", []byte("kept"))
	b.stop()
	wantPorts()
	b.reconfigure(func(s *backends.Spec) { s.Ports = nil })
	b.start()
	if observed := b.get(); len(observed.Endpoints) > 0 || len(observed.Spec.Ports) > 0 {
		t.Errorf("after all ports were removed there are %v and %v", observed.Endpoints, observed.Spec.Ports)
	}
}

func exercisePublicPorts(t T, e *env) {
	b := e.create(t, func(s *backends.Spec) { s.Ports = []backends.Port{{Port: 8080, Public: true}} })
	wantSame(t, "the ports", sortedPorts(b.get().Spec.Ports), sortedPorts(b.spec.Ports))
	b.wantReachable(b.wantEndpoint("8080/tcp", false), 8080)
	if e.capabilities.PublicPortsOnly {
		return
	}
	b.reconfigure(func(s *backends.Spec) { s.Ports[0].Public = false })
	wantSame(t, "the ports", sortedPorts(b.get().Spec.Ports), sortedPorts(b.spec.Ports))
	b.wantEndpoint("8080/tcp", true)
}

// freePort returns a port that was free a moment ago.
func freePort(t T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	defer func() {
		if err := listener.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}
