package vercel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/local"
)

// insideRun is where commands find their pipes.
const insideRun = "/run/sandbox"

// machine runs the commands of one session in a sandbox of the local backend.
type machine struct {
	backend *local.Backend
	marks   backends.Marks
	run     string // the folder that commands see at insideRun
	home    string
	user    string

	// context ends with the machine.
	context context.Context
	cancel  context.CancelFunc
	mutex   sync.Mutex // guards the beginning of commands against the end of the machine
	running sync.WaitGroup
}

// enter announces a command, which has to call leave, unless the machine has ended.
func (m *machine) enter() (leave func(), err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if err := m.context.Err(); err != nil {
		return nil, err
	}
	m.running.Add(1)
	return m.running.Done, nil
}

// machineOf returns the machine of a running session, which its first command makes.
func (s *Simulator) machineOf(ctx context.Context, sn *session) (*machine, error) {
	sn.booting.Lock()
	defer sn.booting.Unlock()
	s.mutex.Lock()
	present, err := sn.machine, usableSession(sn)
	s.mutex.Unlock()
	if err != nil || present != nil {
		return present, err
	}
	made, err := s.newMachine(ctx, sn)
	if err != nil {
		return nil, fmt.Errorf("the executor does not start: %w", err)
	}
	s.mutex.Lock()
	err = usableSession(sn)
	if s.closed {
		err = errClientGone
	}
	if err == nil {
		sn.machine = made
	}
	s.mutex.Unlock()
	if err != nil {
		return nil, errors.Join(err, made.close())
	}
	return made, nil
}

// halt ends all processes of a session. The mutex is not held.
func (s *Simulator) halt(sn *session) error {
	sn.booting.Lock()
	defer sn.booting.Unlock()
	s.mutex.Lock()
	present := sn.machine
	sn.machine = nil
	s.mutex.Unlock()
	if present == nil {
		return nil
	}
	return present.close()
}

func (s *Simulator) newMachine(ctx context.Context, sn *session) (*machine, error) {
	m := &machine{backend: s.executor, run: s.runFolder(sn.ID), home: "/home/" + sn.User, user: sn.User}
	m.marks = backends.Marks{Owner: "simulator", Name: sn.ID, Kind: backends.Session, Record: sn.ID}
	m.context, m.cancel = context.WithCancel(context.Background())
	disk := s.sessionDisk(sn.ID)
	if err := errors.Join(removeDisk(m.run), os.MkdirAll(m.run, 0o700), os.Chmod(m.run, 0o777)); err != nil { //nolint:gosec // commands run as another user
		return nil, err
	}
	if err := mountPoint(filepath.Join(disk, diskHome), m.home, sn.Cwd); err != nil {
		return nil, err
	}
	accounts, err := m.writeAccounts()
	if err != nil {
		return nil, err
	}
	mounts := []backends.Mount{
		{Source: filepath.Join(disk, diskWork), Target: sn.Cwd},
		{Source: filepath.Join(disk, diskHome), Target: m.home},
		{Source: filepath.Join(disk, diskTmp), Target: "/tmp"},
		{Source: m.run, Target: insideRun},
		{Source: accounts, Target: "/etc/passwd", ReadOnly: true},
	}
	// Folders that the executor has and the service has not: what was written there would be lost.
	for _, path := range []string{"/workspace", "/home/agent"} {
		if path != sn.Cwd && path != m.home {
			mounts = append(mounts, backends.Mount{Source: filepath.Join(s.dir, "none"), Target: path, ReadOnly: true})
		}
	}
	// One may be left from before a restart.
	if err := m.backend.Delete(ctx, m.marks, backends.DeleteOptions{}); err != nil {
		return nil, err
	}
	if _, err := m.backend.Create(ctx, m.marks, backends.Spec{Mounts: mounts}); err != nil {
		return nil, err
	}
	if err := m.own(ctx, disk); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// mountPoint makes the folder on the disk where a working directory below the home will be. Commands of
// earlier sessions wrote there, so [os.Root] keeps links from leading out.
func mountPoint(folder, home, directory string) error {
	below, found := strings.CutPrefix(directory, home+"/")
	if !found {
		return nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	return errors.Join(root.MkdirAll(below, 0o755), root.Close())
}

// writeAccounts names the one user as the service does.
func (m *machine) writeAccounts() (string, error) {
	path := filepath.Join(filepath.Dir(m.run), filepath.Base(m.run)+".passwd")
	content := "root:x:0:0:root:/root:/bin/sh\n" + m.user + ":x:1000:1000::" + m.home + ":/bin/sh\n"
	return path, os.WriteFile(path, []byte(content), 0o644) //nolint:gosec // it is shown to commands
}

// own gives the disk to the user that commands run as, which only the executor knows: it is another
// one for each sandbox when the simulator is run by root.
func (m *machine) own(ctx context.Context, disk string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	if _, err := m.exec(ctx, backends.Command{Argv: []string{"touch", insideRun + "/owner"}, WorkingDirectory: "/"}); err != nil {
		return err
	}
	info, err := os.Lstat(filepath.Join(m.run, "owner"))
	if err != nil {
		return err
	}
	uid, gid, err := ownerOf(info)
	if err != nil {
		return err
	}
	return filepath.WalkDir(disk, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == disk {
			return err
		}
		return os.Lchown(path, uid, gid) //nolint:gosec // nothing runs in the tree yet
	})
}

// exec runs a command to its end.
func (m *machine) exec(ctx context.Context, command backends.Command) (backends.ExecResult, error) {
	leave, err := m.enter()
	if err != nil {
		return backends.ExecResult{}, err
	}
	defer leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.context, cancel)()
	return m.backend.Exec(ctx, m.marks.Name, command)
}

// environment is what commands find besides what they are given.
func (m *machine) environment() map[string]string {
	return map[string]string{"HOME": m.home, "USER": m.user, "LOGNAME": m.user, "TMPDIR": "/tmp"}
}

// close ends all commands and removes what the executor has. The disk stays.
func (m *machine) close() error {
	m.mutex.Lock()
	m.cancel()
	m.mutex.Unlock()
	m.running.Wait()
	err := m.backend.Delete(context.Background(), m.marks, backends.DeleteOptions{})
	return errors.Join(err, removeDisk(m.run), os.Remove(m.run+".passwd"))
}
