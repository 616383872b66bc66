package machines

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
)

// bootable is the one system image that there are machines for.
const bootable = "debian-13"

// Machines are containers of the local Docker Engine.
type Machines struct {
	options Options
	id      string
	dir     string
	key     string
	image   string
	subnet  netip.Prefix
	// ctx ends the watches.
	ctx    context.Context
	cancel context.CancelFunc
	active sync.WaitGroup

	mutex    sync.Mutex
	reserved map[netip.Addr]bool
	watches  map[int64]context.CancelFunc
}

var _ hetzner.Guests = (*Machines)(nil)

// New prepares the image and the network. What the machine that it runs on lacks is an error.
func New(ctx context.Context, options Options) (*Machines, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := missing(ctx); err != nil {
		return nil, err
	}
	m := &Machines{options: options, id: options.ID, dir: options.Dir, reserved: map[netip.Addr]bool{}, watches: map[int64]context.CancelFunc{}}
	if m.key, err = recipeKey(time.Now()); err != nil {
		return nil, err
	}
	if m.id == "" {
		m.id = strings.ToLower(rand.Text())[:12]
		if m.dir, err = os.MkdirTemp("", "sandlot-machines-"); err != nil {
			return nil, err
		}
	} else if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return nil, err
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	if err := m.prepare(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *Machines) prepare(ctx context.Context) error {
	if err := m.ensureNetwork(ctx); err != nil {
		return fmt.Errorf("make a network: %w", err)
	}
	if len(m.options.Images) > 0 {
		if _, err := docker(ctx, append([]string{"save", "--output", m.archive()}, m.options.Images...)...); err != nil {
			return fmt.Errorf("save the images: %w", err)
		}
	}
	base, err := m.baseImage(ctx)
	if err != nil {
		return fmt.Errorf("make the system: %w", err)
	}
	m.image = base
	if m.options.Preinstalled {
		if m.image, err = m.preinstalledImage(ctx, base); err != nil {
			return fmt.Errorf("make the system with Docker: %w", err)
		}
	}
	return nil
}

// Close stops watching. Without an id that was given, it removes all machines, and what they had.
func (m *Machines) Close() error {
	m.cancel()
	m.active.Wait()
	if m.options.ID != "" {
		return nil
	}
	return errors.Join(m.RemoveAll(context.Background()), os.RemoveAll(m.dir))
}

// RemoveAll removes everything from the engine that carries the id.
func (m *Machines) RemoveAll(ctx context.Context) error {
	var all error
	for _, kind := range []struct{ list, remove []string }{
		{[]string{"container", "ls", "--all"}, []string{"container", "rm", "--force", "--volumes"}},
		{[]string{"volume", "ls"}, []string{"volume", "rm", "--force"}},
		{[]string{"network", "ls"}, []string{"network", "rm"}},
	} {
		found, err := m.listed(ctx, kind.list...)
		if err == nil && len(found) > 0 {
			_, err = docker(ctx, append(kind.remove, found...)...)
		}
		all = errors.Join(all, err)
	}
	return all
}

// container is the name of a server's container; its volume has the disk of the Docker inside.
func (m *Machines) container(serverID int64) string {
	return "sandlot-" + m.id + "-" + strconv.FormatInt(serverID, 10)
}

// archive has the images that machines are given.
func (m *Machines) archive() string { return filepath.Join(m.dir, "images.tar") }

func (m *Machines) volume(serverID int64) string { return m.container(serverID) + "-docker" }

// Boot implements [hetzner.Guests].
func (m *Machines) Boot(ctx context.Context, machine hetzner.Machine) error {
	if machine.Image != bootable {
		return fmt.Errorf("there is no machine for the image %q; there is one for %q", machine.Image, bootable)
	}
	return m.boot(ctx, machine, m.image)
}

func (m *Machines) boot(ctx context.Context, machine hetzner.Machine, image string) error {
	if !machine.Address.IsValid() {
		return errors.New("a machine needs an IPv4 address")
	}
	// What an interrupted boot left goes first.
	if err := m.Delete(ctx, machine.ServerID); err != nil {
		return err
	}
	seed, err := m.writeSeed(machine)
	if err != nil {
		return fmt.Errorf("write the user data: %w", err)
	}
	volume := m.volume(machine.ServerID)
	if _, err := docker(ctx, "volume", "create", "--label", m.label(), volume); err != nil {
		return err
	}
	arguments := []string{
		"run", "--detach", "--name", m.container(machine.ServerID), "--label", m.label(),
		"--hostname", hostname(machine.Name), "--network", m.networkName(), "--ip", machine.Address.String(),
		"--stop-signal", "SIGRTMIN+3", "--stop-timeout", "60",
		"--cap-add", "SYS_ADMIN", "--cap-add", "NET_ADMIN", "--cap-add", "SYS_PTRACE", "--cap-add", "SYSLOG",
		"--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined", "--security-opt", "systempaths=unconfined",
		"--cgroupns=private", "--tmpfs", "/run:exec,mode=755", "--tmpfs", "/run/lock", "--tmpfs", "/tmp:exec",
		"--volume", seed + ":/var/lib/cloud/seed/nocloud:ro", "--volume", volume + ":/var/lib/docker",
	}
	if len(m.options.Images) > 0 {
		arguments = append(arguments, "--volume", m.archive()+":/usr/share/sandlot/images.tar:ro")
	}
	_, err = docker(ctx, append(arguments, image)...)
	if err != nil {
		return err
	}
	m.watch(machine)
	return nil
}

// PowerOn implements [hetzner.Guests].
func (m *Machines) PowerOn(ctx context.Context, machine hetzner.Machine) error {
	name := m.container(machine.ServerID)
	address, err := docker(ctx, "inspect", "--format", fmt.Sprintf("{{(index .NetworkSettings.Networks %q).IPAMConfig.IPv4Address}}", m.networkName()), name)
	if err != nil {
		return err
	}
	if address != machine.Address.String() {
		return fmt.Errorf("the machine has the address %s and cannot take %s", address, machine.Address)
	}
	if _, err := docker(ctx, "start", name); err != nil {
		return err
	}
	m.watch(machine)
	return nil
}

// Shutdown implements [hetzner.Guests]: systemd takes the signal for the power button.
func (m *Machines) Shutdown(ctx context.Context, serverID int64) error {
	_, err := docker(ctx, "kill", "--signal", "RTMIN+3", m.container(serverID))
	return err
}

// PowerOff implements [hetzner.Guests].
func (m *Machines) PowerOff(ctx context.Context, serverID int64) error {
	m.unwatch(serverID)
	running, err := m.running(ctx, serverID)
	if err != nil || !running {
		return err
	}
	_, err = docker(ctx, "kill", "--signal", "KILL", m.container(serverID))
	if running, stateErr := m.running(ctx, serverID); stateErr == nil && !running {
		return nil // it stopped by itself meanwhile
	}
	return err
}

// Delete implements [hetzner.Guests].
func (m *Machines) Delete(ctx context.Context, serverID int64) error {
	m.unwatch(serverID)
	_, containerErr := docker(ctx, "container", "rm", "--force", m.container(serverID))
	if containerErr != nil && strings.Contains(containerErr.Error(), "No such container") {
		containerErr = nil
	}
	_, volumeErr := docker(ctx, "volume", "rm", "--force", m.volume(serverID))
	return errors.Join(containerErr, volumeErr, os.RemoveAll(m.seedFolder(serverID)))
}

// Adopt implements [hetzner.Guests].
func (m *Machines) Adopt(ctx context.Context, machine hetzner.Machine) (bool, error) {
	running, err := m.running(ctx, machine.ServerID)
	if err == nil && running {
		m.watch(machine)
	}
	return running, err
}

// running tells whether a machine runs; one that does not exist does not.
func (m *Machines) running(ctx context.Context, serverID int64) (bool, error) {
	name := m.container(serverID)
	found, err := exists(ctx, "container", name)
	if err != nil || !found {
		return false, err
	}
	state, err := docker(ctx, "inspect", "--format", "{{.State.Running}}", name)
	return state == "true", err
}

// watch tells the simulator when a machine stops by itself.
func (m *Machines) watch(machine hetzner.Machine) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if stop := m.watches[machine.ServerID]; stop != nil {
		stop()
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.watches[machine.ServerID] = cancel
	m.active.Go(func() {
		defer cancel()
		_, err := docker(ctx, "wait", m.container(machine.ServerID))
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			m.options.Log(fmt.Sprintf("The machine of server %d is not watched any more: %v", machine.ServerID, err))
			return
		}
		machine.Stopped()
	})
}

func (m *Machines) unwatch(serverID int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if stop := m.watches[serverID]; stop != nil {
		stop()
		delete(m.watches, serverID)
	}
}
