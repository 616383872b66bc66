package vercel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// pipe is a named one, so that a process in other namespaces can open it.
type pipe struct {
	// keeper holds the pipe open for writing, so that the reader does not see its end before the
	// process has opened it.
	keeper *os.File
	reader *os.File
}

// openPipes makes pipes in a folder. Reading from them does not block a thread.
func openPipes(folder string, names ...string) (map[string]pipe, error) {
	pipes := map[string]pipe{}
	for _, name := range names {
		made, err := openPipe(filepath.Join(folder, name))
		if err != nil {
			for _, one := range pipes {
				err = errors.Join(err, one.keeper.Close(), one.reader.Close())
			}
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
		pipes[name] = made
	}
	return pipes, nil
}

func openPipe(path string) (pipe, error) {
	const mode = 0o666 // the other end belongs to another user
	if err := errors.Join(unix.Mkfifo(path, mode), os.Chmod(path, mode)); err != nil {
		return pipe{}, err
	}
	keeper, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		return pipe{}, err
	}
	reader, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return pipe{}, errors.Join(err, keeper.Close())
	}
	return pipe{keeper: keeper, reader: reader}, nil
}

// ownerOf returns whom a file belongs to.
func ownerOf(info fs.FileInfo) (uid, gid int, err error) {
	status, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, 0, fmt.Errorf("%s: its owner cannot be read", info.Name())
	}
	return int(status.Uid), int(status.Gid), nil
}
