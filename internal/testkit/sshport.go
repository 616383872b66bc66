package testkit

import (
	"net"
	"testing"
)

// SSHPort ends a test that needs servers at port 22 of loopback addresses where nobody may listen there.
func SSHPort(t testing.TB) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.127.127.127:22")
	if err == nil {
		err = listener.Close()
	}
	Need(t, "port22", err == nil, "run as root, or allow it with: sudo sysctl -w net.ipv4.ip_unprivileged_port_start=22")
}
