package machines

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
)

// preinstalled is the user data by which a machine gets Docker, and what else hosts install, once, for all
// those that have it from the start.
const preinstalled = `#cloud-config
packages: [docker.io, docker-cli, docker-compose, docker-buildx, nftables, rsync]
`

// forget makes the disk of a machine that of none, so that cloud-init begins anew on each copy.
const forget = `set -e
cloud-init clean --logs
rm -f /etc/ssh/ssh_host_* /root/.ssh/authorized_keys
: > /etc/machine-id
apt-get clean`

// installTime is how long the packages may take.
const installTime = 10 * time.Minute

// preinstalledImage returns the reference of the system with Docker, which it makes when the engine has
// none.
func (m *Machines) preinstalledImage(ctx context.Context, base string) (reference string, err error) {
	sum := sha256.Sum256([]byte(preinstalled + forget))
	reference = fmt.Sprintf("%s:docker-%s-%x", repository, m.key, sum[:6])
	unlock, err := m.lockCache(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if found, err := exists(ctx, "image", reference); found || err != nil {
		return reference, err
	}
	m.options.Log("Installing Docker in a machine, once for all (about a minute)")
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	const template = -1
	address, err := m.Reserve()
	if err != nil {
		return "", err
	}
	machine := hetzner.Machine{ServerID: template, Name: "template", Address: address, Image: bootable, UserData: []byte(preinstalled), Stopped: func() {}}
	defer func() {
		err = errors.Join(err, m.Delete(context.WithoutCancel(ctx), template), m.Release(address))
	}()
	if err := m.boot(ctx, machine, base); err != nil {
		return "", err
	}
	name := m.container(template)
	if output, err := docker(ctx, "exec", name, "cloud-init", "status", "--wait", "--long"); err != nil {
		return "", fmt.Errorf("install Docker by cloud-init: %w: %s", err, output)
	}
	if _, err := docker(ctx, "exec", name, "sh", "-c", forget); err != nil {
		return "", err
	}
	if _, err := docker(ctx, "stop", name); err != nil {
		return "", err
	}
	_, err = docker(ctx, "commit", name, reference)
	return reference, err
}
