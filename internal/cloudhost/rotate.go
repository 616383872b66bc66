package cloudhost

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// rotationGrace is how long sshd may take to show its new key.
const rotationGrace = time.Minute

// The two steps on the host, done by what the user data installed there.
const (
	commandNextKey   = hostProgram + " next-host-key"
	commandSwitchKey = hostProgram + " switch-host-key"
)

// rotate replaces the host key that was injected, which anybody inside can read in the user data for as
// long as the server lives. The new one is made on the host and its private half never leaves it.
//
// It can be cut off and repeated anywhere: whatever key the host may show next is pinned before it can.
// host is a connection to it; the one that is returned replaces it.
func (m *Manager) rotate(ctx context.Context, k *known, host *shell) (*shell, error) {
	if k.InjectedKey == "" {
		return host, nil
	}
	if publicLine(host.hostKey) == k.InjectedKey {
		next, err := m.prepareRotation(ctx, k, host)
		if err != nil {
			return host, err
		}
		if host, err = m.switchKey(ctx, k, host, next); err != nil {
			return host, err
		}
	}
	// This connection has shown the new key, and could not have with the old one alone.
	k.HostKeys = []string{publicLine(host.hostKey)}
	if err := m.write(ctx, k); err != nil {
		return host, err
	}
	if err := m.writeSSHFiles(ctx, k); err != nil {
		return host, err
	}
	if err := m.dropInjected(ctx, k); err != nil {
		return host, err
	}
	k.InjectedKey = ""
	return host, m.write(ctx, k)
}

// prepareRotation has the host make its next key, or tell the one that an earlier run made, and pins both.
func (m *Manager) prepareRotation(ctx context.Context, k *known, host *shell) (ssh.PublicKey, error) {
	injected, err := parsePublic(k.InjectedKey)
	if err != nil {
		return nil, rotationFailed(k.id(), "The record holds an injected key that cannot be read.", err)
	}
	// The program is told the injected key: one that is on disk instead of it was switched to before.
	result, err := host.run(ctx, "make next host key", commandNextKey, publicLine(injected)+"\n", true)
	if err != nil {
		return nil, rotationFailed(k.id(), "The connection broke.", err)
	}
	line := strings.TrimSpace(string(result.output))
	next, err := parsePublic(line)
	if result.status != 0 || err != nil || strings.Contains(line, "\n") || publicLine(next) == k.InjectedKey {
		return nil, rotationFailed(k.id(), "The host made no new key.", nil)
	}
	// The new one last: it is the one whose fingerprint is shown.
	k.HostKeys = []string{k.InjectedKey, publicLine(next)}
	if err := m.write(ctx, k); err != nil {
		return nil, err
	}
	return next, m.writeSSHFiles(ctx, k)
}

// switchKey has sshd use the next key and verifies by a new connection that it does.
func (m *Manager) switchKey(ctx context.Context, k *known, host *shell, next ssh.PublicKey) (*shell, error) {
	result, err := host.run(ctx, "switch host key", commandSwitchKey, "", true)
	if err != nil {
		return host, rotationFailed(k.id(), "The connection broke.", err)
	}
	if result.status != 0 {
		return host, rotationFailed(k.id(), "sshd did not take the new key.", nil)
	}
	to, err := m.login(ctx, k)
	if err != nil {
		return host, err
	}
	to = to.only(next)
	patience, cancel := context.WithTimeout(ctx, rotationGrace)
	defer cancel()
	var fresh *shell
	var last error
	err = m.API.Poll(patience, func() (bool, error) {
		var err error
		fresh, err = m.dial(patience, to)
		if err != nil && patience.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		detail := "The host cannot be reached with the new key."
		if errors.Is(last, errOtherHostKey) {
			detail = "The host goes on showing the old key."
		}
		return host, rotationFailed(k.id(), detail, ctx.Err())
	}
	_ = host.Close()
	return fresh, nil
}

func rotationFailed(id, detail string, cause error) error {
	refusal := refuse(CodeRotation,
		"All keys that it may show are pinned, so nobody is locked out. `terraform untaint` and apply try again.",
		"The host key of %s that its user data carries could not be replaced. %s", id, detail)
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		refusal.Err = cause
	}
	return refusal
}
