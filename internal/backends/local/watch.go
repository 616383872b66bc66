//go:build linux

package local

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// watch follows what bubblewrap reports about one command: its first process, and the status
// it ended with. No status means that the command was never executed, or was killed.
type watch struct {
	reports  *os.File // read end
	release  *os.File // write end: the command starts when something is written here
	process  int      // descriptor of the sandbox's first process, -1 while unknown
	exitCode *int
	done     chan struct{}
	network  *egressRun
}

// newWatch adds the arguments for the reports to line.
func newWatch(line *commandLine, blocked bool) (*watch, error) {
	w := &watch{process: -1}
	reports, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w.reports = reports
	line.add("--json-status-fd", line.pass(writer))
	if !blocked {
		return w, nil
	}
	reader, release, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, reports.Close())
	}
	w.release = release
	line.add("--block-fd", line.pass(reader))
	return w, nil
}

// follow runs right after the start. It connects the network, if wanted, before the command
// may begin, and goes on to read in the background.
func (w *watch) follow(ctx context.Context, b *Backend, op operation, line *commandLine, network *egress) error {
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
	process, err := unix.PidfdOpen(first.Process, 0)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	if err == nil {
		w.process = process
	}
	if network != nil {
		if w.network, err = network.connect(ctx, b, op, first.Process, line); err != nil {
			return err
		}
		if _, err := w.release.Write([]byte{1}); err != nil {
			return err
		}
	}
	w.done = make(chan struct{})
	go func() {
		defer close(w.done)
		for {
			var next struct {
				ExitCode *int `json:"exit-code"`
			}
			if decoder.Decode(&next) != nil { // the end of the reports
				return
			}
			if next.ExitCode != nil {
				w.exitCode = next.ExitCode
			}
		}
	}()
	return nil
}

// stop waits for the last report and disconnects the network.
func (w *watch) stop() {
	if w.done != nil {
		<-w.done
	}
	w.network.stop()
}

func (w *watch) close() {
	// The descriptors are ours alone and hold nothing that could be lost.
	_ = w.reports.Close()
	if w.release != nil {
		_ = w.release.Close()
	}
	if w.process >= 0 {
		_ = unix.Close(w.process)
	}
}
