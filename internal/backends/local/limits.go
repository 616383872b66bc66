//go:build linux

package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Bounds of every command.
const (
	// processBudget is how many processes and threads the commands of a sandbox may have.
	processBudget = 1024
	// largestProcess bounds the memory of one process on big machines, in bytes.
	largestProcess = 16 << 30
	// sharedMemory is the size of /dev/shm, in bytes.
	sharedMemory = 256 << 20
)

// limits returns the options for prlimit. Memory is bounded by RLIMIT_DATA and not RLIMIT_AS:
// language runtimes reserve far more addresses than they use.
func (c *commandLine) limits() ([]string, error) {
	processes := processBudget
	if !c.asRoot {
		// The kernel counts the user's processes outside the sandbox, too.
		present, err := processesOf(os.Geteuid())
		if err != nil {
			return nil, err
		}
		processes += present
	}
	var machine unix.Sysinfo_t
	if err := unix.Sysinfo(&machine); err != nil {
		return nil, fmt.Errorf("sysinfo: %w", err)
	}
	memory := min(uint64(machine.Totalram)*uint64(machine.Unit)/4*3, largestProcess) //nolint:unconvert // it has 32 bits on some machines
	return []string{
		"--nproc=" + strconv.Itoa(processes),
		"--data=" + strconv.FormatUint(memory, 10),
		"--core=0",
	}, nil
}

// processesOf counts the processes and threads of a user.
func processesOf(uid int) (int, error) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	count := 0
	for _, process := range processes {
		info, err := os.Lstat(process)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if owner, err := ownerOf(info); err != nil || owner != uid {
			continue
		}
		threads, err := os.ReadDir(process + "/task")
		if err != nil { // it ended meanwhile, or another security module hides it
			continue
		}
		count += len(threads)
	}
	return count, nil
}
