//go:build linux

package local

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func needEgress(t *testing.T) {
	t.Helper()
	_, err := findEgress(operation{})
	testkit.Need(t, "slirp4netns", err == nil, fmt.Sprint("apt-get install slirp4netns; ", err))
	_, err = exec.LookPath("curl")
	testkit.Need(t, "curl", err == nil, "apt-get install curl")
}

// serve answers with a canary on every address of this machine.
func serve(t *testing.T, address string) (port int) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "canary-of-the-host")
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().(*net.TCPAddr).Port
}

// fetchAll tries addresses from inside and returns those that answered with the canary.
func fetchAll(t *testing.T, b *Backend, name string, port int, hosts ...string) (reached []string) {
	t.Helper()
	for _, host := range hosts {
		result := run(t, b, name, "curl", "-s", "--noproxy", "*", "--max-time", "1", "http://"+net.JoinHostPort(host, strconv.Itoa(port))+"/")
		if strings.Contains(string(result.Stdout), "canary") {
			reached = append(reached, host)
		}
	}
	return reached
}

// metadata is the link-local address that clouds answer on. A test that is root gives it to the
// loopback interface, so that something answers there.
const metadata = "169.254.169.254"

func answerOnMetadata(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	add := exec.Command("ip", "addr", "add", metadata+"/32", "dev", "lo")
	if output, err := add.CombinedOutput(); err != nil {
		t.Skipf("an address cannot be given to the loopback interface: %v: %s", err, output)
	}
	t.Cleanup(func() {
		if output, err := exec.Command("ip", "addr", "del", metadata+"/32", "dev", "lo").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, output)
		}
	})
}

func TestAllowAllClosesTheHostAndLinkLocal(t *testing.T) {
	needEgress(t)
	b := newBackend(t, nil)
	answerOnMetadata(t)
	port := serve(t, "0.0.0.0:0")
	create(t, b, "egress", backends.Spec{Network: backends.Network{Mode: backends.NetworkAllowAll}})
	closed := []string{"127.0.0.1", "127.0.0.53", "localhost", "0.0.0.0", "10.0.2.2", "10.0.2.3", "169.254.0.1", "169.254.0.2", "169.254.0.3", "169.254.0.100", "169.254.255.255", metadata, "::1"}
	if reached := fetchAll(t, b, "egress", port, closed...); len(reached) > 0 {
		t.Errorf("reached the host over %v", reached)
	}
	// The other direction shows that the probes above could have worked: an address of this
	// machine that other machines reach, too, is not closed.
	if own := ownAddress(t); own != "" {
		if reached := fetchAll(t, b, "egress", port, own); len(reached) != 1 {
			t.Errorf("there is no way out to %s: %s", own, shell(t, b, "egress", "cat /proc/net/route"))
		}
	}
	if got := shell(t, b, "egress", "cat /etc/resolv.conf"); got != "nameserver "+egressNameserver {
		t.Errorf("resolv.conf: %q", got)
	}
}

func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.IsGlobalUnicast() && network.IP.To4() != nil {
			return network.IP.String()
		}
	}
	return ""
}

func TestDenyAllReachesNothing(t *testing.T) {
	b := newBackend(t, nil)
	_, err := exec.LookPath("curl")
	testkit.Need(t, "curl", err == nil, "apt-get install curl")
	port := serve(t, "0.0.0.0:0")
	create(t, b, "deny", backends.Spec{})
	hosts := []string{"127.0.0.1", "10.0.2.2", metadata, "::1"}
	if own := ownAddress(t); own != "" {
		hosts = append(hosts, own)
	}
	if reached := fetchAll(t, b, "deny", port, hosts...); len(reached) > 0 {
		t.Errorf("reached the host over %v", reached)
	}
	if got := shell(t, b, "deny", "cat /proc/net/dev | tail -n +3 | cut -d: -f1"); got != "lo" {
		t.Errorf("interfaces: %q", got)
	}
}

func TestHostNetwork(t *testing.T) {
	b := newBackend(t, nil)
	_, err := exec.LookPath("curl")
	testkit.Need(t, "curl", err == nil, "apt-get install curl")
	port := serve(t, "127.0.0.1:0")
	create(t, b, "host", backends.Spec{Network: backends.Network{Mode: backends.NetworkHost}})
	if reached := fetchAll(t, b, "host", port, "127.0.0.1"); len(reached) != 1 {
		t.Error("the host's network is not shared")
	}
}
