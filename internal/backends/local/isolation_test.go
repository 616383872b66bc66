//go:build linux

package local

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func TestIsolation(t *testing.T) {
	t.Setenv("SANDLOT_CANARY", "canary-of-the-environment")
	b := newBackend(t, nil)
	create(t, b, "other", backends.Spec{})
	shell(t, b, "other", "echo canary > file")
	create(t, b, "inside", backends.Spec{Environment: map[string]string{"A": "b"}})

	abstract, err := net.Listen("unix", fmt.Sprintf("@sandlot-test-%d", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = abstract.Close() }()

	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"host home":         "ls " + home,
		"data directory":    "ls " + b.config.DataDir,
		"its parent":        "ls " + filepath.Dir(b.config.DataDir),
		"other sandbox":     "cat " + b.sandboxDir("other") + "/workspace/file",
		"secrets file":      "find / -name secrets.json -o -name sandbox.json 2>/dev/null | grep .",
		"shadow":            "cat /etc/shadow || cat /etc/gshadow",
		"host's passwd":     "grep -v -e ^root -e ^agent -e ^nobody /etc/passwd",
		"environment":       "env | grep -i -e canary -e ^SANDLOT; cat /proc/1/environ | grep -a -i canary",
		"host paths":        "cat /proc/*/cmdline | tr '\\0' '\\n' | grep -e '[/]" + b.config.DataDir[1:] + "'",
		"host processes":    "cat /proc/*/cmdline | grep -a '[l]ocal.test'",
		"abstract sockets":  "grep -F sandlot-test /proc/net/unix",
		"capabilities":      "grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | grep -v 0000000000000000",
		"privileges":        "grep NoNewPrivs /proc/self/status | grep -v 1",
		"namespaces":        "unshare -U true || unshare -m true || unshare -n true",
		"mounting":          "mount -t tmpfs none /workspace",
		"devices":           "mknod disk b 8 0",
		"write to the root": "touch /x || mkdir /etc/x || touch /dev/x || touch /usr/x || touch /home/x || touch /run/x || touch /proc/x",
		"system tunables":   "echo 1 > /proc/sys/kernel/panic",
		"descriptors":       "ls /proc/self/fd | grep -v -x -e 0 -e 1 -e 2 -e 3",
		"other folders":     "ls -A /var /mnt /srv /opt /media /boot /sys 2>/dev/null | grep -v -e :$ -e ^$ -e ^tmp$",
		"engine socket":     "ls /run/docker.sock /var/run/docker.sock",
		"cores":             "grep 'Max core file size' /proc/self/limits | grep -v ' 0  *0 '",
		"terminal":          "echo x > /dev/tty",
	} {
		t.Run(name, func(t *testing.T) {
			result := run(t, b, "inside", "sh", "-c", script)
			if result.ExitCode == 0 {
				t.Errorf("%s: succeeded: %s", script, result.Stdout)
			}
		})
	}
	if got := shell(t, b, "inside", "ls -A / | tr '\\n' ' '"); !strings.HasPrefix(strings.TrimSpace(got), "bin dev etc home") {
		t.Errorf("root: %s", got)
	}
	// As the same user also on the host: the sandbox's own, never root.
	shell(t, b, "inside", "touch /workspace/owned")
	info, err := os.Lstat(filepath.Join(b.sandboxDir("inside"), workspaceDir, "owned"))
	if err != nil {
		t.Fatal(err)
	}
	owner, err := ownerOf(info)
	if err != nil {
		t.Fatal(err)
	}
	if b.asRoot() && owner < firstUID || !b.asRoot() && owner != os.Geteuid() {
		t.Errorf("the file belongs to %d", owner)
	}
}

func TestCertificatesAndTools(t *testing.T) {
	b := newBackend(t, nil)
	create(t, b, "tools", backends.Spec{})
	if _, err := os.Stat("/etc/ssl/certs/ca-certificates.crt"); err == nil {
		shell(t, b, "tools", "head -c 10 /etc/ssl/certs/ca-certificates.crt")
	}
	shell(t, b, "tools", "awk 'BEGIN { exit 0 }'; getent passwd agent; getent hosts localhost; echo x > /dev/null; head -c 1 /dev/urandom; test -w /dev/shm && touch ~/x /tmp/x /dev/shm/x")
}

func TestForkBombIsBounded(t *testing.T) {
	b := newBackend(t, nil)
	create(t, b, "bomb", backends.Spec{})
	start := time.Now()
	_, err := b.Exec(t.Context(), "bomb", backends.Command{
		Argv: []string{"sh", "-c", "bomb() { bomb | bomb & }; bomb; sleep 60"}, Timeout: 2 * time.Second,
	})
	if err == nil {
		t.Log("the bomb's shell ended by itself")
	} else {
		wantKind(t, err, backends.TimedOut)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
	wantNoProcess(t, "bomb() {")
	shell(t, b, "bomb", "true")
}

// wantNoProcess checks that no process of this machine has text in its arguments.
func wantNoProcess(t *testing.T, text string) {
	t.Helper()
	if found := processesWith(t, text); len(found) > 0 {
		t.Errorf("%d processes are left: %v", len(found), found)
	}
}

func processesWith(t *testing.T, text string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil && bytes.Contains(content, []byte(text)) {
			found = append(found, file)
		}
	}
	return found
}

func TestMemoryIsBounded(t *testing.T) {
	b := newBackend(t, nil)
	create(t, b, "memory", backends.Spec{})
	limits := shell(t, b, "memory", "grep -e 'Max data size' -e 'Max processes' /proc/self/limits")
	if strings.Contains(limits, "unlimited") {
		t.Errorf("no bound: %s", limits)
	}
}

func TestSecretsStayInTheirFile(t *testing.T) {
	const secret = "secret-4f1c9d7e"
	b := newBackend(t, nil)
	create(t, b, "secret", backends.Spec{Secrets: map[string]string{"TOKEN": secret}})
	done := make(chan string)
	go func() {
		result, err := b.Exec(t.Context(), "secret", backends.Command{
			Argv: []string{"sh", "-c", "echo begun > started; sleep 1; printf %s \"$TOKEN\" | sha256sum"}, Environment: map[string]string{"MORE": secret},
		})
		done <- fmt.Sprint(string(result.Stdout), err)
	}()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := b.StatFile(t.Context(), "secret", "/workspace/started"); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command does not start")
		}
	}
	wantNoProcess(t, secret)
	wantOnlyIn(t, b.config.DataDir, secret, filepath.Join(b.sandboxDir("secret"), secretsFile))
	if got := <-done; !strings.HasPrefix(got, "6ab1f2") && !strings.Contains(got, "-") {
		t.Errorf("the command printed %q", got)
	}
	if _, err := b.CreateSnapshot(t.Context(), marksOf("secret"), "of-secret"); err != nil {
		t.Fatal(err)
	}
	wantOnlyIn(t, b.config.DataDir, secret, filepath.Join(b.sandboxDir("secret"), secretsFile))
	info, err := os.Lstat(filepath.Join(b.sandboxDir("secret"), secretsFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func wantOnlyIn(t *testing.T, root, text string, allowed ...string) {
	t.Helper()
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		isAllowed := len(allowed) > 0 && path == allowed[0]
		if bytes.Contains(content, []byte(text)) != isAllowed {
			t.Errorf("%s holds the text: %v", path, !isAllowed)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
