//go:build linux

package local

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// watch follows what bubblewrap reports about one command: its first process, and the status
// it ended with. No status means that the command was never executed, or was killed.
type watch struct {
	reports *os.File // read end
	release *os.File // write end: the command starts when something is written here
	network *egressRun
	done    chan struct{}

	mutex    sync.Mutex
	process  int // descriptor of the sandbox's first process, -1 while unknown
	killed   bool
	exitCode *int
}

// newWatch adds the arguments for the reports to line. The command is held back until its first
// process is known, so that it can be ended whatever happens.
func newWatch(line *commandLine) (*watch, error) {
	reports, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	reader, release, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, reports.Close(), writer.Close())
	}
	line.add("--json-status-fd", line.pass(writer), "--block-fd", line.pass(reader))
	return &watch{reports: reports, release: release, process: -1}, nil
}

// follow runs right after the start. It connects the network, if wanted, lets the command begin,
// and goes on to read in the background.
func (w *watch) follow(ctx context.Context, b *Backend, op operation, line *commandLine, group *guard, network *egress) error {
	if err := line.close(); err != nil { // our copies, or the reports would never end
		return err
	}
	decoder := json.NewDecoder(w.reports)
	var first struct {
		Process int `json:"child-pid"`
	}
	if decoder.Decode(&first) != nil || first.Process == 0 {
		return nil //nolint:nilerr // bubblewrap failed early; its own message tells more than this error
	}
	if err := w.found(first.Process); err != nil {
		return err
	}
	if network != nil {
		var err error
		if w.network, err = network.connect(ctx, b, op, first.Process, line); err != nil {
			return err
		}
	}
	if err := group.alsoEnd(first.Process); err != nil {
		return err
	}
	if _, err := w.release.Write([]byte{1}); err != nil {
		return err
	}
	w.done = make(chan struct{})
	go w.read(decoder)
	return nil
}

// read follows the reports to their end, which is that of bubblewrap. The sandbox's first process
// does not outlive it.
func (w *watch) read(decoder *json.Decoder) {
	defer close(w.done)
	defer w.kill()
	for {
		var next struct {
			ExitCode *int `json:"exit-code"`
		}
		if decoder.Decode(&next) != nil {
			return
		}
		if next.ExitCode != nil {
			w.mutex.Lock()
			w.exitCode = next.ExitCode
			w.mutex.Unlock()
		}
	}
}

// found remembers the sandbox's first process. It may have ended already.
func (w *watch) found(pid int) error {
	process, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	w.mutex.Lock()
	w.process = process
	killed := w.killed
	w.mutex.Unlock()
	if killed {
		w.kill()
	}
	return nil
}

// kill ends the sandbox's first process, and with it all of them. That it is gone already, or
// belongs to the kernel by now, is no error.
func (w *watch) kill() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.killed = true
	if w.process >= 0 {
		_ = unix.PidfdSendSignal(w.process, unix.SIGKILL, nil, 0)
	}
}

// stop waits for the last report and disconnects the network.
func (w *watch) stop() {
	if w.done != nil {
		<-w.done
	}
	w.network.stop()
}

// waitGone ends all processes of the sandbox and waits until they are gone.
func (w *watch) waitGone() error {
	w.kill()
	if w.process < 0 {
		return nil
	}
	deadline := time.Now().Add(drainTime)
	for {
		poll := []unix.PollFd{{Fd: int32(w.process), Events: unix.POLLIN}}
		ready, err := unix.Poll(poll, int(time.Until(deadline).Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case ready == 0:
			return errors.New("they do not end")
		default:
			return nil
		}
	}
}

func (w *watch) close() {
	// The descriptors are ours alone and hold nothing that could be lost.
	_ = w.reports.Close()
	_ = w.release.Close()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.process >= 0 {
		_ = unix.Close(w.process)
		w.process = -1
	}
}
