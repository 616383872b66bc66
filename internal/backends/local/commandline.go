//go:build linux

package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// insideID is the uid and gid that commands see as their own.
const insideID = "1000"

// sourcesDir is where the outer bubblewrap shows host paths to the inner one.
const sourcesDir = "/s"

// commandLine collects the arguments of bubblewrap. They reach it through a file descriptor, so
// that neither secrets nor host paths stand in the argument list of a process.
//
// As an ordinary user one bubblewrap is enough. As root the command has to run as another user,
// who cannot pass the closed folders above the data directory. So an outer bubblewrap, still
// root, binds the wanted paths into an empty tree and leaves the rest to an inner one, which
// setpriv starts as that user.
type commandLine struct {
	tools   tools
	asRoot  bool
	uid     int
	inner   []string
	outer   []string
	sources map[string]string
	files   []*os.File // become descriptors 3, 4, …
}

func (c *commandLine) add(arguments ...string) { c.inner = append(c.inner, arguments...) }

// mounted adds an operation on a path inside that takes no source.
func (c *commandLine) mounted(operation, path string) { c.add(operation, path) }

// bind adds a bind mount of a host path.
func (c *commandLine) bind(operation, hostPath, path string) {
	c.add(operation, c.source(hostPath), path)
}

// source returns where bubblewrap finds a host path.
func (c *commandLine) source(hostPath string) string {
	if !c.asRoot || hostPath == "/usr" || strings.HasPrefix(hostPath, "/usr/") {
		return hostPath
	}
	if c.sources == nil {
		c.sources = map[string]string{}
	}
	shown, known := c.sources[hostPath]
	if !known {
		shown = sourcesDir + "/" + strconv.Itoa(len(c.sources))
		c.sources[hostPath] = shown
		c.outer = append(c.outer, "--bind", hostPath, shown)
	}
	return shown
}

// pass hands a file to the process and returns its descriptor there.
func (c *commandLine) pass(file *os.File) string {
	c.files = append(c.files, file)
	return strconv.Itoa(2 + len(c.files))
}

// memory makes a file that lives in memory only and hands it to the process.
func (c *commandLine) memory(content []byte) (string, error) {
	descriptor, err := unix.MemfdCreate("sandlot", unix.MFD_CLOEXEC)
	if err != nil {
		return "", fmt.Errorf("memfd_create: %w", err)
	}
	file := os.NewFile(uintptr(descriptor), "memory")
	if _, err := file.WriteAt(content, 0); err != nil {
		return "", errors.Join(err, file.Close())
	}
	return c.pass(file), nil
}

// file puts a small read-only file into the sandbox. Its folder must be one of the sandbox's own.
func (c *commandLine) file(path string, content []byte) error {
	descriptor, err := c.memory(content)
	if err != nil {
		return err
	}
	c.add("--perms", "0444", "--file", descriptor, path)
	return nil
}

// cover replaces a file that a read-only folder has.
func (c *commandLine) cover(path string, content []byte) error {
	descriptor, err := c.memory(content)
	if err != nil {
		return err
	}
	c.add("--perms", "0444", "--ro-bind-data", descriptor, path)
	return nil
}

// isolate adds what is the same for every command.
func (c *commandLine) isolate(mode, hostname string) {
	c.add("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
	if mode != backends.NetworkHost {
		c.add("--unshare-net")
	}
	c.add("--disable-userns", "--cap-drop", "ALL", "--uid", insideID, "--gid", insideID,
		"--hostname", hostname, "--new-session", "--die-with-parent", "--clearenv")
}

// argv returns the whole command line. It is complete: nothing may be added afterwards.
func (c *commandLine) argv(limits []string, command []string) ([]string, error) {
	inner, err := c.memory(joinArguments(c.inner))
	if err != nil {
		return nil, err
	}
	argv := append([]string{c.tools.prlimit}, limits...)
	argv = append(argv, "--")
	if !c.asRoot {
		argv = append(argv, c.tools.bubblewrap, "--args", inner, "--")
		return append(argv, command...), nil
	}
	bubblewrap, setpriv := c.source(c.tools.bubblewrap), c.source(c.tools.setpriv)
	stage, err := hostLinks("/")
	if err != nil {
		return nil, err
	}
	// --dev-bind of /proc keeps the mount flags that the kernel wants to see before it lets an
	// ordinary user mount another one. bubblewrap itself needs an empty /tmp to begin with.
	stage = append(stage, "--ro-bind-try", "/nix", "/nix", "--dev-bind", "/dev", "/dev", "--dev-bind", "/proc", "/proc",
		"--perms", "0755", "--tmpfs", "/tmp", "--dir", sourcesDir)
	if info, err := os.Lstat("/etc/ld.so.cache"); err == nil && info.Mode().IsRegular() {
		stage = append(stage, "--ro-bind", "/etc/ld.so.cache", "/etc/ld.so.cache")
	}
	stage = append(stage, c.outer...)
	stage = append(stage, "--die-with-parent", "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP")
	outer, err := c.memory(joinArguments(stage))
	if err != nil {
		return nil, err
	}
	uid := strconv.Itoa(c.uid)
	argv = append(argv, c.tools.bubblewrap, "--args", outer, "--",
		setpriv, "--reuid", uid, "--regid", uid, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--pdeathsig", "KILL", "--",
		bubblewrap, "--args", inner, "--")
	return append(argv, command...), nil
}

func joinArguments(arguments []string) []byte {
	if len(arguments) == 0 {
		return nil
	}
	return []byte(strings.Join(arguments, "\x00") + "\x00")
}

func (c *commandLine) close() error {
	var errs []error
	for _, file := range c.files {
		errs = append(errs, file.Close())
	}
	c.files = nil
	return errors.Join(errs...)
}

// hostLinks returns the arguments that show the programs and libraries below root: /usr, and
// /bin, /lib and their like as that system has them, as links or as directories.
func hostLinks(root string) ([]string, error) {
	arguments := []string{"--ro-bind", filepath.Join(root, "usr"), "/usr"}
	for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		path := filepath.Join(root, name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return nil, err
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return nil, err
			}
			arguments = append(arguments, "--symlink", target, "/"+name)
		case info.IsDir():
			arguments = append(arguments, "--ro-bind", path, "/"+name)
		}
	}
	return arguments, nil
}
