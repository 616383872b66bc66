//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// guardScript reads the number of the sandbox's first process and waits for the end of its input,
// which is this process's end at the latest. Then it ends that process and the process group.
const guardScript = `read -r first && read -r rest; test -z "$first" || kill -KILL "$first"; kill -KILL 0`

// guard leads the process group of a command. The kernel and bubblewrap end a command with its
// parent, too, but not at every moment: a process of bubblewrap whose parent dies while both
// are still being set up would wait forever, or run on.
type guard struct {
	command *exec.Cmd
	hold    *os.File
}

// startGuard starts the leader of a new process group. It keeps a copy of held open, unless nil.
func startGuard(held *os.File) (*guard, error) {
	wait, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	command := exec.Command("/bin/sh", "-c", guardScript) //nolint:noctx // it must outlive the context to end the group
	command.Stdin = wait
	command.Env = []string{}
	command.Dir = "/"
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if held != nil {
		command.ExtraFiles = []*os.File{held}
	}
	if err := errors.Join(command.Start(), wait.Close()); err != nil {
		return nil, errors.Join(err, hold.Close())
	}
	return &guard{command: command, hold: hold}, nil
}

func (g *guard) pid() int { return g.command.Process.Pid }

// alsoEnd names a process outside of the group, before that process leaves it.
func (g *guard) alsoEnd(pid int) error {
	_, err := fmt.Fprintln(g.hold, pid)
	return err
}

// endGroup kills the group. The guard is not reaped before, so the number is still the group's.
func (g *guard) endGroup() error {
	err := errors.Join(killGroup(g.pid()), g.hold.Close())
	_ = g.command.Wait() // it was killed, and reports just that
	return err
}

// hooks are what supervise needs of the kind of command it runs. All of them are optional.
type hooks struct {
	// held is kept open by the guard, too.
	held *os.File
	// started is called right after the start.
	started func(*guard) error
	// kill ends what is not in the process group.
	kill func()
}

// supervise starts a command in a guarded process group, leaves its entry, and waits for its end.
// The error is about starting; how it ended is the first result.
func (b *Backend) supervise(ctx context.Context, command *exec.Cmd, options launchOptions, stdout, stderr io.Writer, hooks hooks) (ended, err error) {
	command.Stdout, command.Stderr = stdout, stderr
	command.WaitDelay = drainTime
	var group *guard
	start := func() error {
		if group, err = startGuard(hooks.held); err != nil {
			return err
		}
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group.pid(), Pdeathsig: syscall.SIGKILL}
		command.Cancel = func() error {
			err := killGroup(group.pid())
			if hooks.kill != nil {
				hooks.kill()
			}
			return err
		}
		if err := command.Start(); err != nil {
			return errors.Join(err, group.endGroup())
		}
		return nil
	}
	if options.read {
		err = b.look(ctx, "start process", command.Path, start)
	} else {
		err = b.do(ctx, "start process", b.sandboxDir(options.name), start)
	}
	if err != nil {
		return nil, err
	}
	forget := func() {}
	if options.name != "" {
		forget, err = b.recordRun(ctx, options.name, group.pid())
	}
	if err == nil && hooks.started != nil {
		err = hooks.started(group)
	}
	if err != nil {
		err = errors.Join(err, killGroup(group.pid()))
	}
	ended = command.Wait()
	err = errors.Join(err, group.endGroup())
	forget()
	return ended, err
}
