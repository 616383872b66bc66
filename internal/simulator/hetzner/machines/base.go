package machines

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/debian"
)

const (
	suite = "trixie"
	// repository has the images in the engine.
	repository = "sandlot-machine"
)

//go:embed recipe
var recipe embed.FS

// masked are the units that have no place in a container.
var masked = []string{
	"systemd-udevd.service", "systemd-udevd-kernel.socket", "systemd-udevd-control.socket", "systemd-udev-trigger.service",
	"systemd-sysctl.service", "systemd-modules-load.service", "console-getty.service", "getty@.service",
	"systemd-networkd-wait-online.service", "networking.service", "systemd-networkd.service", "systemd-networkd.socket", "systemd-firstboot.service",
}

// system is the base: what a server of the service has before cloud-init runs.
func system(folder string, sources []string) debian.Bootstrap {
	b := debian.Bootstrap{
		Suite: suite, Variant: "minbase", Sources: sources, Dir: folder,
		Include: []string{
			"systemd-sysv", "dbus", "iproute2", "ca-certificates", "openssh-server", "cloud-init", "sudo", "netbase", "procps", "locales",
		},
		Options: []string{
			`--aptopt=APT::Install-Recommends "false"`, `--aptopt=Acquire::Languages "none"`,
			"--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=force-unsafe-io",
			"--customize-hook=upload entry.sh /entry.sh",
			"--customize-hook=upload 90_machine.cfg /etc/cloud/cloud.cfg.d/90_machine.cfg",
			`--customize-hook=mkdir -p "$1/etc/systemd/system/docker.service.d" "$1/usr/local/lib/sandlot"`,
			"--customize-hook=upload images.conf /etc/systemd/system/docker.service.d/images.conf",
			"--customize-hook=upload load-images.py /usr/local/lib/sandlot/load-images.py",
			// The option of mmdebstrap that stays behind would make packages behave as on no real server.
			`--customize-hook=chmod 755 "$1/entry.sh"; : > "$1/etc/fstab"; : > "$1/etc/machine-id"; rm -f "$1"/etc/ssh/ssh_host_* "$1"/etc/apt/apt.conf.d/99mmdebstrap`,
			`--customize-hook=for unit in ` + strings.Join(masked, " ") + `; do ln -sf /dev/null "$1/etc/systemd/system/$unit"; done`,
		},
	}
	return b
}

// recipeKey changes with everything that goes into the base, and each week, as packages do. The week
// stands in it.
func recipeKey(now time.Time) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(recipe, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := recipe.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
		return err
	})
	if err != nil {
		return "", err
	}
	fmt.Fprintf(sum, "%q", system("", nil))
	return hex.EncodeToString(sum.Sum(nil))[:12] + weekOf(now), nil
}

func weekOf(now time.Time) string {
	year, week := now.ISOWeek()
	return fmt.Sprintf("-%d-%02d", year, week)
}

// baseImage returns the reference of the base, which it makes when neither the engine nor the cache has
// it. One process makes it at a time.
func (m *Machines) baseImage(ctx context.Context) (string, error) {
	reference := repository + ":base-" + m.key
	unlock, err := m.lockCache(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if found, err := exists(ctx, "image", reference); found || err != nil {
		return reference, err
	}
	cached := filepath.Join(m.options.CacheDir, "base-"+m.key+".tar")
	if _, err := os.Stat(cached); errors.Is(err, fs.ErrNotExist) {
		m.options.Log("Making a root file system of Debian 13 (about two minutes, once a week)")
		if err := m.makeBase(ctx, cached); err != nil {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	archive, err := os.Open(cached)
	if err != nil {
		return "", err
	}
	defer archive.Close()
	_, err = dockerWith(ctx, archive, "import", "--change", `CMD ["/entry.sh"]`, "--change", "ENV container=docker", "-", reference)
	return reference, err
}

// lockCache keeps other processes from making the same.
func (m *Machines) lockCache(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(m.options.CacheDir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(m.options.CacheDir, "lock"))
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return nil, fmt.Errorf("wait for the cache of root file systems: %w", err)
	}
	return func() { _ = lock.Close() }, nil
}

// makeBase writes the archive in one step, and removes what was made in other weeks.
func (m *Machines) makeBase(ctx context.Context, to string) error {
	folder, err := os.MkdirTemp("", "sandlot-base-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, name := range []string{"entry.sh", "90_machine.cfg", "images.conf", "load-images.py"} {
		content, err := recipe.ReadFile("recipe/" + name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	sources, err := debian.CopySources(suite, folder)
	if err != nil {
		return fmt.Errorf("copy the apt sources of this machine: %w", err)
	}
	archive, err := os.CreateTemp(m.options.CacheDir, "new-*.tar")
	if err != nil {
		return err
	}
	err = system(folder, sources).Write(ctx, archive)
	err = errors.Join(err, archive.Close())
	if err == nil {
		err = m.dropOld(ctx, weekOf(time.Now()))
	}
	if err == nil {
		err = os.Rename(archive.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(archive.Name()))
	}
	return nil
}

// dropOld removes archives and images of other weeks. Those of other recipes may be in use by somebody
// who has another version of this file, and images by machines that still exist.
func (m *Machines) dropOld(ctx context.Context, week string) error {
	files, err := filepath.Glob(filepath.Join(m.options.CacheDir, "base-*.tar"))
	for _, file := range files {
		if !strings.Contains(file, week) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	listed, listErr := docker(ctx, "image", "ls", "--format", "{{.Repository}}:{{.Tag}}", repository)
	err = errors.Join(err, listErr)
	for _, image := range strings.Fields(listed) {
		if strings.Contains(image, week) {
			continue
		}
		if _, removeErr := docker(ctx, "image", "rm", image); removeErr != nil && !strings.Contains(removeErr.Error(), "is using") {
			err = errors.Join(err, removeErr)
		}
	}
	return err
}
