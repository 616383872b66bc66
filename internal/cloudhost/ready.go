package cloudhost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

const (
	// cloudInitTimeout bounds one wait for cloud-init: its own has no end. It is repeated.
	cloudInitTimeout = 60 * time.Second
	// engineGrace is how long the engine may take to come up after cloud-init says that all is done, as
	// after a wake.
	engineGrace = 90 * time.Second
	// reconnects is how often a connection may break while we wait: an upgrade may restart sshd.
	reconnects = 5
)

// commands that are run on a host. Each is one line, takes no input and changes nothing.
const (
	commandMarker  = "test -f " + markerPath
	commandEngine  = "timeout 30 docker version"
	commandCompose = "timeout 30 docker compose version"
	commandRsync   = "timeout 30 rsync --version"
)

func commandCloudInit(bound time.Duration) string {
	return fmt.Sprintf("timeout %d cloud-init status --wait", max(1, int(bound.Seconds())))
}

const bootLogs = "/var/log/cloud-init-output.log on the host says why; `ssh -F` with its ssh_config_path leads there. "

const startOver = "`terraform untaint` and apply resume; the next apply without it replaces the host."

// ready waits until the host is what a user wants of it: it can be logged in to with the pinned key,
// cloud-init has finished, our script too, and the programs answer. It returns the connection.
func (m *Manager) ready(ctx context.Context, k *known) (*shell, error) {
	to, err := m.login(ctx, k)
	if err != nil {
		return nil, err
	}
	for broken := 0; ; broken++ {
		host, err := m.reach(ctx, k.id(), to)
		if err != nil {
			return nil, err
		}
		err = m.probe(ctx, host, k)
		if err == nil {
			return host, nil
		}
		_ = host.Close()
		var refusal *sandbox.Refusal
		if errors.As(err, &refusal) || ctx.Err() != nil || broken == reconnects {
			return nil, asRefusal(ctx, k.id(), err)
		}
	}
}

// asRefusal says of a connection that broke which step it broke in.
func asRefusal(ctx context.Context, id string, err error) error {
	var refusal *sandbox.Refusal
	if errors.As(err, &refusal) {
		return err
	}
	broke := refuse(CodeSSHUnreachable, "Apply again.", "The SSH connection to %s broke while it was asked whether it is ready.", id)
	broke.Err = ctx.Err()
	return broke
}

func (m *Manager) probe(ctx context.Context, host *shell, k *known) error {
	if err := m.waitForCloudInit(ctx, host, k.id()); err != nil {
		return err
	}
	for _, check := range []struct {
		effect, command string
		code            sandbox.Code
		what            string
		skip            bool
	}{
		{"find marker", commandMarker, CodeBootstrap, "cloud-init has finished on %s, but the set-up script has not.", false},
		{"docker version", commandEngine, CodeDocker, "The Docker Engine on %s does not answer.", k.DockerPackages == PackagesNone},
		{"docker compose version", commandCompose, CodeCompose, "Docker on %s has no Compose plugin.", k.DockerPackages == PackagesNone},
		{"rsync version", commandRsync, CodeRsync, "There is no rsync on %s.", false},
	} {
		if check.skip {
			continue
		}
		grace := time.Duration(0)
		if check.code == CodeDocker {
			grace = engineGrace
		}
		ok, err := m.succeeds(ctx, host, check.effect, check.command, grace)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if !ok {
			failed := refuse(check.code, bootLogs+startOver, check.what, k.id())
			failed.Err = ctx.Err()
			return failed
		}
	}
	return nil
}

// succeeds runs a command until it exits with 0, for as long as grace and ctx allow.
func (m *Manager) succeeds(ctx context.Context, host *shell, effect, command string, grace time.Duration) (bool, error) {
	ok := false
	patience, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	err := m.API.Poll(patience, func() (bool, error) {
		result, err := host.run(ctx, effect, command, "", false)
		ok = err == nil && result.status == 0
		return ok, err
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = nil
	}
	return ok, err
}

// waitForCloudInit knows the exit statuses of all versions: 0 and 2 both mean finished, 1 is a failure of
// cloud-init itself, 124 is our own bound (section 15 of the contract).
func (m *Manager) waitForCloudInit(ctx context.Context, host *shell, id string) error {
	for {
		bound := cloudInitTimeout
		if deadline, ok := ctx.Deadline(); ok {
			bound = min(bound, time.Until(deadline))
		}
		result, err := host.run(ctx, "cloud-init status", commandCloudInit(bound), "", false)
		switch {
		case ctx.Err() != nil:
			late := refuse(CodeCloudInit, "Give `timeouts` more time, then `terraform untaint` and apply: that resumes.", "cloud-init on %s did not finish in time.", id)
			late.Err = ctx.Err()
			return late
		case err != nil:
			return err
		case result.status == 0, result.status == 2:
			return nil
		case result.status == 124:
		case result.status == 127:
			return notReady(CodeCloudInit, "Choose an image that has cloud-init: Ubuntu or Debian.", "There is no cloud-init on %s.", id)
		default:
			return notReady(CodeCloudInit, bootLogs+startOver, "cloud-init on %s failed (status %d).", id, result.status)
		}
	}
}
