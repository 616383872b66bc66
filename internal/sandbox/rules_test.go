package sandbox

import (
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func TestRules(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 5000)
	for _, rule := range []struct {
		name string
		rule func(string) error
		good []string
		bad  []string
	}{
		{
			"environment name", CheckEnvironmentName,
			[]string{"A", "_", "a1", "PATH", "_A_1"},
			[]string{"", "1A", "A-B", "A=B", "A B", "A.B", "é", "A\x00", "A\n", "=A"},
		},
		{
			"environment value", func(value string) error { return CheckEnvironmentValue("A", value) },
			// 128 KiB with the name, the sign and the terminating NUL.
			[]string{"", "a b", "a\nb", "=", "é", strings.Repeat("a", 128<<10-3)},
			[]string{"\x00", "a\x00b", strings.Repeat("a", 128<<10-1)},
		},
		{
			"absolute path", CheckAbsolutePath,
			[]string{"/", "/a", "/a b", "/a/..b", "/é", "/" + long[:4094]},
			[]string{"", "a", "./a", "../a", "/a/", "//a", "/a//b", "/a/./b", "/a/../b", "/..", "/a\x00", "/a\nb", "/a\rb", "/" + long[:4095]},
		},
		{
			"root file system", CheckRootfs,
			[]string{"/srv/root", "/a"},
			[]string{"", "/", "a", "/a/", "/a/../b", "/.."},
		},
		{
			"engine address", CheckEngineAddress,
			[]string{"unix:///var/run/docker.sock", "tcp://127.0.0.1:2375", "ssh://me@host", "npipe:////./pipe/docker_engine"},
			[]string{"", "unix", "unix://", "docker.sock", "/var/run/docker.sock", "127.0.0.1:2375", "ftp://host", "://x"},
		},
		{
			"time limit", CheckLimit,
			[]string{"1s", "90m", "1000ms"},
			[]string{"", "0s", "0", "999ms", "-1s", "1d", "5"},
		},
		{
			"target", CheckTarget,
			[]string{"/workspace", "/a", "/home/agent/x", "/procession", "/development", "/system"},
			[]string{"", "a", "/", "/proc", "/proc/x", "/sys", "/sys/fs/cgroup", "/dev", "/dev/shm", "/a/", "/a/../proc"},
		},
		{
			"volume name", CheckVolumeName,
			[]string{"a", "0", "cache", "a-b_c", long[:32]},
			[]string{"", "A", "-a", "a-", "_a", "a.b", "a/b", "..", long[:33]},
		},
		{
			"user", CheckUser,
			[]string{"root", "0", "1000", "agent", "_apt", "1000:1000", "agent:staff", "1000:staff", "www-data"},
			[]string{"", ":", "a:", ":a", "a:b:c", "Agent", "a b", "-a", "1a", "12345678901", "a/b", "a\n", "é"},
		},
		{
			"capability", CheckLinuxCapability,
			[]string{"NET_RAW", "SYS_ADMIN", "CHOWN"},
			[]string{"", "net_raw", "CAP_NET_RAW", "ALL", "NET RAW", "NET-RAW", "1"},
		},
		{
			"label name", func(key string) error { return CheckLabel(key, "v") },
			[]string{"a", "a.b/c", "Sandlot", "sandlot", "x.sandlot.y", "é", long[:253]},
			[]string{"", "sandlot.", "sandlot.owner", "a\nb", "a\x00", "a\rb", long[:254]},
		},
		{
			"label value", func(value string) error { return CheckLabel("a", value) },
			[]string{"", "v", "sandlot.x", long[:4096]},
			[]string{"a\nb", "a\x00", "a\rb", long[:4097]},
		},
		{
			"data directory", CheckDataDir,
			[]string{"/", "/a", "/a b/c", "/a/../b", "/é"},
			[]string{"", "a", "./a", "~/a", "/a%h", "/a\nb", "/a\rb", "/a\x00b"},
		},
		{
			"owner", CheckOwner,
			[]string{"a", "Team A", "platform@example.com", long[:128]},
			[]string{"", " ", " a", "a ", "\ta", "a\nb", "a\x00b", long[:129]},
		},
		{
			"image", CheckImage,
			[]string{
				"debian", "debian:12-slim", "ghcr.io/a/b:c", "localhost:5000/a",
				"debian@sha256:" + strings.Repeat("a", 64),
			},
			[]string{"", " ", "Debian", "debian:", "a b", "http://a/b", "debian@sha256:abc", "../a", ":tag", "a//b"},
		},
	} {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			for _, value := range rule.good {
				if err := rule.rule(value); err != nil {
					t.Errorf("%.60q is refused: %v", value, err)
				}
			}
			for _, value := range rule.bad {
				if rule.rule(value) == nil {
					t.Errorf("%.60q is accepted", value)
				}
			}
		})
	}
}

func TestCheckEnvironmentValueKeepsItSecret(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"hunter2\x00", strings.Repeat("hunter2", 1<<16)} {
		if err := CheckEnvironmentValue("A", value); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error repeats the value, or is none: %.100v", err)
		}
	}
}

func TestCheckPort(t *testing.T) {
	t.Parallel()
	for port, ok := range map[int64]bool{-1: false, 0: false, 1: true, 80: true, 65535: true, 65536: false, 1 << 40: false} {
		if err := CheckPort(port); (err == nil) != ok {
			t.Errorf("CheckPort(%d) = %v, want ok %v", port, err, ok)
		}
	}
}

func TestCheckArgv(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		argv []string
		ok   bool
	}{
		{[]string{"true"}, true},
		{[]string{"a", ""}, true},
		{[]string{"a", "b c", "$x;"}, true},
		{nil, false},
		{[]string{}, false},
		{[]string{""}, false},
		{[]string{"", "a"}, false},
		{[]string{"a\x00"}, false},
		{[]string{"a", "b\x00"}, false},
	} {
		if err := CheckArgv(test.argv); (err == nil) != test.ok {
			t.Errorf("CheckArgv(%q) = %v, want ok %v", test.argv, err, test.ok)
		}
	}
}

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0s": 0, "0": 0, "90s": 90 * time.Second, "1.5h": 90 * time.Minute, "1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond,
	} {
		if found, err := ParseDuration(text); err != nil || found != want {
			t.Errorf("ParseDuration(%q) = %s, %v, want %s", text, found, err, want)
		}
	}
	for _, text := range []string{"", "5", "-1s", "1 h", "1d", "h", "P1D", "1s ", "9999999999h"} {
		if found, err := ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %s, want an error", text, found)
		}
	}
}

func TestCheckMountSource(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		source, dataDir string
		ok              bool
	}{
		{"/srv/code", "/var/lib/sandlot", true},
		{"/var/lib/sandlot-2", "/var/lib/sandlot", true},
		{"/var/lib/sandlo", "/var/lib/sandlot", true},
		{"/srv", "", true},
		{"/var/lib/sandlot", "/var/lib/sandlot", false},
		{"/var/lib/sandlot", "/var/lib/sandlot/", false},
		{"/var/lib/sandlot", "/var/lib/x/../sandlot", false},
		{"/var/lib/sandlot/local", "/var/lib/sandlot", false},
		{"/var/lib", "/var/lib/sandlot", false},
		{"/", "/var/lib/sandlot", false},
		{"srv", "/var/lib/sandlot", false},
		{"/var/lib/../lib/sandlot", "/var/lib/sandlot", false},
	} {
		if err := CheckMountSource(test.source, test.dataDir); (err == nil) != test.ok {
			t.Errorf("CheckMountSource(%q, %q) = %v, want ok %v", test.source, test.dataDir, err, test.ok)
		}
	}
}

func TestExposesEngine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ source, socket, want string }{
		{"/var/run/docker.sock", "", "/var/run/docker.sock"},
		{"/var/run", "", "/var/run/docker.sock"},
		{"/var/run/", "", "/var/run/docker.sock"},
		{"/var", "", "/var/run/docker.sock"},
		{"/", "", "/var/run/docker.sock"},
		{"/run", "", "/run/docker.sock"},
		{"/run/podman", "", "/run/podman/podman.sock"},
		{"/run/containerd/containerd.sock", "", "/run/containerd/containerd.sock"},
		{"/home/me/engine", "/home/me/engine/docker.sock", "/home/me/engine/docker.sock"},
		{"/home/me/engine", "", ""},
		{"/var/run/docker.sock.d", "", ""},
		{"/srv", "/home/me/engine/docker.sock", ""},
		{"/var/runner", "", ""},
	} {
		if found := ExposesEngine(test.source, test.socket); found != test.want {
			t.Errorf("ExposesEngine(%q, %q) = %q, want %q", test.source, test.socket, found, test.want)
		}
	}
	for address, want := range map[string]string{
		"unix:///var/run/docker.sock": "/var/run/docker.sock", "tcp://127.0.0.1:2375": "", "ssh://host": "", "": "", "unix://": "",
	} {
		if found := SocketOf(address); found != want {
			t.Errorf("SocketOf(%q) = %q, want %q", address, found, want)
		}
	}
}

func TestSameImage(t *testing.T) {
	t.Parallel()
	digest := "@sha256:" + strings.Repeat("a", 64)
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"debian", "debian:latest", true},
		{"debian", "docker.io/library/debian", true},
		{"debian:12", "docker.io/library/debian:12", true},
		{"a/b", "docker.io/a/b:latest", true},
		{"not an image", "not an image", true},
		{"debian:12", "debian:11", false},
		{"debian", "ghcr.io/library/debian", false},
		{"debian", "debian" + digest, false},
		{"debian" + digest, "docker.io/library/debian" + digest, true},
		{"", "debian", false},
		{"not an image", "debian", false},
	} {
		if found := SameImage(test.a, test.b); found != test.want {
			t.Errorf("SameImage(%q, %q) = %v, want %v", test.a, test.b, found, test.want)
		}
		if found := SameImage(test.b, test.a); found != test.want {
			t.Errorf("SameImage(%q, %q) = %v, want %v", test.b, test.a, found, test.want)
		}
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	secrets := map[string]string{"TOKEN": "s3cr3t", "LONGER": "s3cr3t-and-more", "SHORT": "abc", "EMPTY": ""}
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"nothing", "nothing"},
		{"a s3cr3t b", "a (TOKEN redacted) b"},
		{"s3cr3ts3cr3t", "(TOKEN redacted)(TOKEN redacted)"},
		{"abc stays", "abc stays"},
	} {
		if found := backends.Redact(test.text, secrets); found != test.want {
			t.Errorf("Redact(%q) = %q, want %q", test.text, found, test.want)
		}
	}
	// A secret that holds another one leaves nothing of itself, in whichever order a map is walked.
	for range 50 {
		if found := backends.Redact("say s3cr3t-and-more", secrets); strings.Contains(found, "and-more") || strings.Contains(found, "s3cr3t") {
			t.Fatalf("a part of a secret is left: %q", found)
		}
	}
	if found := backends.Redact("say s3cr3t", nil); found != "say s3cr3t" {
		t.Errorf("without secrets the text became %q", found)
	}
}
