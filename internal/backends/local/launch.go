//go:build linux

package local

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// drainTime is how long the last output is waited for once everything was killed.
const drainTime = 10 * time.Second

// firstExtraDescriptor is the first one after the standard streams.
const firstExtraDescriptor = 3

// launchOptions say what to run in a described sandbox.
type launchOptions struct {
	argv   []string
	limit  int     // bytes kept of each stream
	name   string  // of the sandbox whose run is recorded; empty for none
	egress *egress // the program that connects the sandbox's network, if any
	read   bool    // the run changes nothing
}

// launch runs bubblewrap until the command and all that it started are gone.
func (b *Backend) launch(ctx context.Context, op operation, line *commandLine, options launchOptions) (backends.ExecResult, error) {
	// The kernel ends the child when the *thread* that made it ends. Holding the thread keeps
	// the runtime from giving it to someone who lets it end.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	if err := keepDescriptors(); err != nil {
		return backends.ExecResult{}, op.wrap(err, "The command could not be prepared.")
	}
	watch, err := newWatch(line)
	if err != nil {
		return backends.ExecResult{}, op.wrap(err, "The command could not be prepared.")
	}
	defer watch.close()
	limits, err := line.limits()
	if err != nil {
		return backends.ExecResult{}, op.wrap(err, "The bounds of the command could not be worked out.")
	}
	argv, err := line.argv(limits, options.argv)
	if err != nil {
		return backends.ExecResult{}, op.wrap(err, "The command could not be prepared.")
	}
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Env = []string{}
	command.Dir = "/"
	command.ExtraFiles = line.files
	stdout, stderr := &boundedBuffer{limit: options.limit}, &boundedBuffer{limit: options.limit}
	ended, err := b.supervise(ctx, command, options, stdout, stderr, hooks{
		held: watch.release, kill: watch.kill,
		started: func(group *guard) error { return watch.follow(ctx, b, op, line, group, options.egress) },
	})
	watch.stop()
	if err != nil && len(stderr.bytes()) > 0 { // what bubblewrap says explains why talking to it failed
		return backends.ExecResult{}, setupFailure(op, stderr.bytes(), err)
	}
	if err != nil {
		return backends.ExecResult{}, op.wrap(err, "The command could not be started.")
	}
	if err := watch.waitGone(); err != nil {
		return backends.ExecResult{}, op.wrap(err, "Processes of the command could not be ended.")
	}
	result := backends.ExecResult{
		ExitCode: -1, Stdout: stdout.bytes(), Stderr: stderr.bytes(), Truncated: stdout.truncated() || stderr.truncated(),
	}
	return conclude(ctx, op, result, watch, ended, options.argv[0])
}

// conclude tells the command's own end from a failure to set it up.
func conclude(ctx context.Context, op operation, result backends.ExecResult, watch *watch, ended error, program string) (backends.ExecResult, error) {
	if watch.exitCode != nil {
		result.ExitCode = *watch.exitCode
		return result, nil
	}
	if err := ctx.Err(); err != nil {
		return result, timedOut(op, err)
	}
	if status, message, missing := notExecuted(result.Stderr, program); missing {
		return backends.ExecResult{ExitCode: status, Stderr: []byte(message)}, nil
	}
	return result, setupFailure(op, result.Stderr, ended)
}

func timedOut(op operation, cause error) error {
	if errors.Is(cause, context.Canceled) {
		failure := op.fail(backends.Failed, "The run was interrupted. All processes of the command were ended.")
		failure.Err = cause
		return failure
	}
	failure := op.fail(backends.TimedOut, "The command did not end in time. All of its processes were ended.")
	failure.Err = cause
	return failure
}

// keepDescriptors keeps descriptors that this process inherited from its own parent from being
// handed on. What Go opens itself is never handed on.
func keepDescriptors() error {
	err := unix.CloseRange(firstExtraDescriptor, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil || !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	entries, err := os.ReadDir("/proc/self/fd") // before Linux 5.11
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if descriptor, err := strconv.Atoi(entry.Name()); err == nil && descriptor >= firstExtraDescriptor {
			unix.CloseOnExec(descriptor)
		}
	}
	return nil
}
