//go:build linux

package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// slirp4netns connects from the host on behalf of the sandbox, so what it forwards is all that
// the sandbox reaches. Its virtual network takes the place of the whole link-local range:
// addresses on the virtual network are answered by slirp4netns alone and never forwarded, which
// closes 169.254.169.254 and its neighbors. An option of its own closes the host's loopback.
//
// pasta cannot take its part: it forwards whatever the sandbox sends, link-local or not.
const (
	egressNetwork    = "169.254.0.0/16"
	egressNameserver = "169.254.0.3"
)

// egress is the program that gives a sandbox a way out.
type egress struct {
	path string
	// tunOpen: ordinary users may open the device. Otherwise root's slirp4netns stays root and
	// relies on the sandbox that it makes for itself.
	tunOpen bool
}

// tunDevice is what slirp4netns needs to make an interface.
const tunDevice = "/dev/net/tun"

func findEgress(op operation) (*egress, error) {
	path, err := exec.LookPath("slirp4netns")
	if err != nil {
		failure := op.on("network.mode").fail(backends.NotInstalled, "The network mode %q needs the program slirp4netns.", backends.NetworkAllowAll)
		failure.Remedy = "Install it: apt-get install slirp4netns"
		failure.Err = err
		return nil, failure
	}
	tun, err := os.Stat(tunDevice)
	if err != nil {
		failure := op.on("network.mode").fail(backends.NotInstalled, "The network mode %q needs the device %s.", backends.NetworkAllowAll, tunDevice)
		failure.Remedy = "Load it: modprobe tun. In a container, pass the device to it."
		failure.Err = err
		return nil, failure
	}
	const readWriteForAll = 0o006
	tunOpen := tun.Mode().Perm()&readWriteForAll == readWriteForAll
	if !tunOpen && os.Geteuid() != 0 {
		failure := op.on("network.mode").fail(backends.Unauthorized, "The device %s is closed to ordinary users.", tunDevice)
		failure.Remedy = "Open it, as most distributions do: chmod 666 " + tunDevice
		return nil, failure
	}
	return &egress{path: path, tunOpen: tunOpen}, nil
}

// egressRun is the program at work for one command.
type egressRun struct {
	command *exec.Cmd
	exit    *os.File // closing it ends the program, also when this process dies
}

// connect joins the network of the sandbox whose first process is pid and returns when it works.
func (e *egress) connect(ctx context.Context, b *Backend, op operation, pid int, line *commandLine) (run *egressRun, err error) {
	if err := waitForLoopback(ctx, pid); err != nil {
		return nil, err
	}
	network, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, network.Close()) }()
	// The process has moved to a user namespace further in by now, or soon will. The one that
	// owns the network is asked for directly.
	owner, err := unix.IoctlRetInt(int(network.Fd()), unix.NS_GET_USERNS)
	if err != nil {
		return nil, fmt.Errorf("owner of the network: %w", err)
	}
	user := os.NewFile(uintptr(owner), "user namespace")
	defer func() { err = errors.Join(err, user.Close()) }()
	ready, readyWriter, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ready.Close()) }()
	exitReader, exit, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, readyWriter.Close())
	}
	stderr := &boundedBuffer{limit: backends.DefaultOutputLimit}
	arguments := []string{
		"--configure", "--mtu=65520", "--disable-host-loopback", "--enable-seccomp", "--cidr=" + egressNetwork,
		"--exit-fd=3", "--ready-fd=4", "--userns-path=/proc/self/fd/5", "--netns-type=path",
	}
	if line.asRoot && !e.tunOpen { // an ordinary user's slirp4netns cannot: the namespace has no root
		arguments = append(arguments, "--enable-sandbox")
	}
	arguments = append(arguments, "/proc/self/fd/6", "tap0")
	command := exec.CommandContext(ctx, e.path, arguments...)
	command.Env = []string{}
	command.Dir = "/"
	command.Stderr = stderr
	command.WaitDelay = drainTime
	command.ExtraFiles = []*os.File{exitReader, readyWriter, user, network}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if line.asRoot && e.tunOpen {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(line.uid), Gid: uint32(line.uid)}
	}
	err = b.do(ctx, "start process", e.path, command.Start)
	err = errors.Join(err, exitReader.Close(), readyWriter.Close())
	if err != nil {
		return nil, errors.Join(err, exit.Close())
	}
	run = &egressRun{command: command, exit: exit}
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		run.stop()
		return nil, op.on("network.mode").fail(backends.Failed, "slirp4netns could not connect the sandbox: %s", firstLine(stderr.bytes()))
	}
	return run, nil
}

// stop ends the program. Its status does not matter: it does its work until it is killed.
func (r *egressRun) stop() {
	if r == nil {
		return
	}
	_ = r.exit.Close()
	_ = r.command.Process.Kill()
	_ = r.command.Wait()
}

// waitForLoopback waits until bubblewrap has set up the loopback interface. slirp4netns would do
// it, too, and whoever comes second fails.
func waitForLoopback(ctx context.Context, pid int) error {
	for {
		addresses, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/fib_trie", pid))
		if err != nil {
			return fmt.Errorf("loopback interface of the sandbox: %w", err)
		}
		if bytes.Contains(addresses, []byte("127.0.0.1")) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}
