package testkit

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// supervisor runs a server until its own input ends, which it does with the test binary, however
// that ends. Told to stop, it leaves the server's folder for a later start.
const supervisor = `
folder=$1 signal=$2
shift 2
"$@" >>"$folder/log" 2>&1 </dev/null &
line=
read -r line
kill -s "$signal" $!
wait $!
[ "$line" = stop ] || rm -rf "$folder"
`

// service is a server that the tests run themselves, in a folder of its own.
type service struct {
	folder string
	signal string // ends it at once
	argv   []string

	command *exec.Cmd
	input   io.WriteCloser
}

// newServiceFolder makes a folder for the user that the server runs as. It has a short name, as it
// may hold a socket.
func newServiceFolder(name string) (string, error) {
	folder, err := os.MkdirTemp("/tmp", "sandlot-"+name+"-")
	if err != nil {
		return "", err
	}
	if account := unprivileged(); account != nil {
		err = os.Chown(folder, int(account.Uid), int(account.Gid))
	}
	return folder, err
}

// writeServiceFile writes a file that the server can read.
func writeServiceFile(folder, name, content string) error {
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return err
	}
	if account := unprivileged(); account != nil {
		return os.Chown(path, int(account.Uid), int(account.Gid))
	}
	return nil
}

// unprivileged is whom root runs servers as that refuse to run as root, nil for everybody else.
func unprivileged() *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	return nil
}

// serviceCommand is a command as the user that the server runs as.
func serviceCommand(folder, program string, arguments ...string) *exec.Cmd {
	command := exec.Command(program, arguments...)
	command.Dir = folder
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + folder}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: unprivileged()}
	return command
}

func (s *service) start() (err error) {
	arguments := append([]string{"-c", supervisor, "sh", s.folder, s.signal}, s.argv...)
	s.command = serviceCommand(s.folder, "/bin/sh", arguments...)
	if s.input, err = s.command.StdinPipe(); err != nil {
		return err
	}
	return s.command.Start()
}

// stop ends the server; its folder stays.
func (s *service) stop() error {
	_, err := io.WriteString(s.input, "stop\n")
	_ = s.command.Wait()
	return err
}

// remove ends the server and removes its folder.
func (s *service) remove() {
	_ = s.input.Close()
	_ = s.command.Wait()
	_ = os.RemoveAll(s.folder)
}

func (s *service) log() string {
	content, err := os.ReadFile(filepath.Join(s.folder, "log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// freePort is a port of this machine's loopback that nobody uses now.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// findProgram looks a program up on PATH and then in folders that are often not on it.
func findProgram(name string, patterns ...string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(pattern, name))
		if err == nil && len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

func fatalIf(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
