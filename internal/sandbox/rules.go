package sandbox

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/distribution/reference"
)

// The rules below judge single values, without any I/O. Each error states what is allowed.

var (
	environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	volumeName      = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]{0,30}[a-z0-9])?$`)
	userName        = regexp.MustCompile(`^([a-z_][a-z0-9_-]{0,31}|[0-9]{1,10})(:([a-z_][a-z0-9_-]{0,31}|[0-9]{1,10}))?$`)
	capabilityName  = regexp.MustCompile(`^[A-Z][A-Z_]*$`)
)

// maxEnvironmentValue is what Linux allows for one string of an environment, name included.
const maxEnvironmentValue = 128 << 10

// CheckEnvironmentName judges the name of a variable.
func CheckEnvironmentName(name string) error {
	if !environmentName.MatchString(name) {
		return fmt.Errorf("%q is not the name of an environment variable: allowed are letters, digits and underscores, not starting with a digit", name)
	}
	return nil
}

// CheckEnvironmentValue judges the value of a variable. The error does not repeat the value.
func CheckEnvironmentValue(name, value string) error {
	switch {
	case strings.ContainsRune(value, 0):
		return fmt.Errorf("the value of %s holds a NUL byte, which no environment can carry", name)
	case len(name)+len(value) >= maxEnvironmentValue:
		return fmt.Errorf("the value of %s is too long: name and value together may have at most %d bytes", name, maxEnvironmentValue-2)
	}
	return nil
}

// CheckPort judges a port number inside the sandbox or on the host.
func CheckPort(port int64) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("%d is not a port: allowed are 1 to 65535", port)
	}
	return nil
}

// CheckAbsolutePath judges a path that must be absolute and clean.
func CheckAbsolutePath(p string) error {
	switch {
	case strings.ContainsRune(p, 0):
		return errors.New("the path holds a NUL byte")
	case strings.ContainsAny(p, "\n\r"):
		return errors.New("the path holds a line break")
	case !path.IsAbs(p):
		return fmt.Errorf("%q is not an absolute path", p)
	case path.Clean(p) != p:
		return fmt.Errorf("%q is not a clean path: write %q", p, path.Clean(p))
	case len(p) > maxPathLength:
		return fmt.Errorf("the path is longer than %d bytes", maxPathLength)
	}
	return nil
}

// reservedTargets are paths inside a sandbox that the backends make themselves.
var reservedTargets = []string{"/proc", "/sys", "/dev"}

// CheckTarget judges where something is mounted inside a sandbox.
func CheckTarget(target string) error {
	if err := CheckAbsolutePath(target); err != nil {
		return err
	}
	if target == "/" {
		return errors.New("the root of the sandbox cannot be mounted over")
	}
	for _, reserved := range reservedTargets {
		if Within(reserved, target) {
			return fmt.Errorf("%s belongs to the system of the sandbox: nothing can be mounted there", reserved)
		}
	}
	return nil
}

// engineSockets are the sockets through which a container engine, and so the host, can be
// controlled.
var engineSockets = []string{
	"/var/run/docker.sock", "/run/docker.sock",
	"/run/containerd/containerd.sock", "/var/run/containerd/containerd.sock",
	"/run/podman/podman.sock", "/var/run/podman/podman.sock",
}

// ExposesEngine returns the engine socket that a mount of source would show, "" when none. socket
// is the socket that the provider itself uses, if any.
func ExposesEngine(source, socket string) string {
	for _, known := range append([]string{socket}, engineSockets...) {
		if known != "" && Within(path.Clean(source), known) {
			return known
		}
	}
	return ""
}

// CheckMountSource judges the host side of a mount. dataDir is where Sandlot keeps its own files;
// neither it, nor what lies in it, nor a directory above it may be mounted.
func CheckMountSource(source, dataDir string) error {
	if err := CheckAbsolutePath(source); err != nil {
		return err
	}
	if dataDir == "" {
		return nil
	}
	dataDir = path.Clean(dataDir)
	if Within(source, dataDir) || Within(dataDir, source) {
		return fmt.Errorf("%q would show the sandbox the data directory %s, which holds other sandboxes and secrets", source, dataDir)
	}
	return nil
}

// CheckRootfs judges the directory of a root file system on the host.
func CheckRootfs(dir string) error {
	if dir == "/" {
		return errors.New("the root file system of the host itself cannot be used: leave the source out for the host's system")
	}
	return CheckAbsolutePath(dir)
}

// CheckEngineAddress judges the address of a container engine by its form.
func CheckEngineAddress(address string) error {
	scheme, rest, _ := strings.Cut(address, "://")
	if !slices.Contains([]string{"unix", "tcp", "ssh", "http", "https", "npipe", "fd"}, scheme) || rest == "" {
		return fmt.Errorf("%q is not the address of an engine: write for example \"unix:///var/run/docker.sock\", \"tcp://192.0.2.1:2376\" or \"ssh://user@host\"", address)
	}
	return nil
}

// CheckVolumeName judges the name of a named volume.
func CheckVolumeName(name string) error {
	if !volumeName.MatchString(name) {
		return fmt.Errorf("%q is not a volume name: allowed are lower-case letters, digits, hyphens and underscores, at most 32 characters", name)
	}
	return nil
}

// CheckUser judges `user`: a name or uid, and a group or gid after a colon.
func CheckUser(user string) error {
	if !userName.MatchString(user) {
		return fmt.Errorf("%q is not a user: allowed are a name or uid, optionally followed by a colon and a group or gid", user)
	}
	return nil
}

// CheckLinuxCapability judges the name of a Linux capability, without the CAP_ prefix.
func CheckLinuxCapability(name string) error {
	if !capabilityName.MatchString(name) || strings.HasPrefix(name, "CAP_") || name == "ALL" {
		return fmt.Errorf("%q is not a Linux capability: write its upper-case name without CAP_, for example %q; ALL is not accepted", name, "NET_RAW")
	}
	return nil
}

// LabelPrefix starts the labels that Sandlot keeps for itself.
const LabelPrefix = "sandlot."

// CheckLabel judges a user's label.
func CheckLabel(key, value string) error {
	switch {
	case key == "":
		return errors.New("the name of a label is empty")
	case strings.HasPrefix(key, LabelPrefix):
		return fmt.Errorf("%q starts with %q, which is kept for Sandlot's own labels", key, LabelPrefix)
	case strings.ContainsAny(key+value, "\x00\n\r"):
		return fmt.Errorf("the label %q holds a NUL byte or a line break", key)
	case len(key) > 253 || len(value) > 4096:
		return fmt.Errorf("the label %q is too long: a name may have 253 bytes, a value 4096", key)
	}
	return nil
}

// ParseDuration reads a Go duration string that must not be negative.
func ParseDuration(text string) (time.Duration, error) {
	duration, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration: write a number and a unit, for example \"90s\", \"30m\" or \"2h\"", text)
	}
	if duration < 0 {
		return 0, fmt.Errorf("%q is negative", text)
	}
	return duration, nil
}

// CheckLimit judges how long something may take at most: a duration of one second or more.
func CheckLimit(text string) error {
	duration, err := ParseDuration(text)
	if err != nil {
		return err
	}
	if duration < time.Second {
		return fmt.Errorf("%q is shorter than one second", text)
	}
	return nil
}

// CheckArgv judges an argument vector.
func CheckArgv(argv []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return errors.New("a command needs at least the name of a program")
	}
	for _, argument := range argv {
		if strings.ContainsRune(argument, 0) {
			return errors.New("an argument holds a NUL byte")
		}
	}
	return nil
}

// CheckDataDir judges the provider's data directory, which ends up in file names that ssh reads.
func CheckDataDir(dir string) error {
	if strings.ContainsAny(dir, "\n\r\x00%") {
		return errors.New("the data directory may hold no line break, NUL byte or % sign")
	}
	if !path.IsAbs(dir) {
		return fmt.Errorf("%q is not an absolute path", dir)
	}
	return nil
}

// CheckOwner judges the provider's owner, which is written into labels.
func CheckOwner(owner string) error {
	if owner == "" || len(owner) > 128 || strings.ContainsAny(owner, "\x00\n\r") || strings.TrimSpace(owner) != owner {
		return fmt.Errorf("%q is not an owner: allowed are 1 to 128 bytes without line breaks and without space around them", owner)
	}
	return nil
}

// CheckImage judges an OCI image reference.
func CheckImage(image string) error {
	if _, err := reference.ParseDockerRef(image); err != nil {
		return fmt.Errorf("%q is not an image reference (%w): write for example \"debian:12-slim\" or one with a digest", image, err)
	}
	return nil
}

// SameImage tells whether two references mean the same image name, with the default host,
// repository and tag filled in.
func SameImage(a, b string) bool {
	if a == b {
		return true
	}
	first, errA := reference.ParseDockerRef(a)
	second, errB := reference.ParseDockerRef(b)
	return errA == nil && errB == nil && first.String() == second.String()
}

// SocketOf returns the path of the socket in an engine's address, "" when it is not one.
func SocketOf(address string) string {
	socket, isSocket := strings.CutPrefix(address, "unix://")
	if !isSocket {
		return ""
	}
	return socket
}
