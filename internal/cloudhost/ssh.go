package cloudhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

const (
	loginUser = "root"
	sshPort   = "22"
	// handshakeTimeout bounds one attempt to log in.
	handshakeTimeout = 20 * time.Second
	// longestOutput bounds what is read of a command's output, in bytes. None of it is ever shown.
	longestOutput = 64 << 10
)

var (
	errOtherHostKey = errors.New("the host shows another key than the pinned one")
	errRefusedKey   = errors.New("the host refuses our key")
)

// login is what a connection needs.
type login struct {
	name, address string
	signer        ssh.Signer
	// pins are the keys that the host may show.
	pins []ssh.PublicKey
}

// login prepares one with the keys of a record.
func (m *Manager) login(ctx context.Context, k *known) (login, error) {
	_, signer, err := m.private(ctx, k, clientSecret, k.ClientKey)
	if err != nil {
		return login{}, err
	}
	to := login{name: k.Name, address: k.IPv4, signer: signer}
	for _, line := range k.HostKeys {
		key, err := parsePublic(line)
		if err != nil {
			return login{}, fmt.Errorf("the record of %s holds a host key that cannot be read: %w", k.id(), err)
		}
		to.pins = append(to.pins, key)
	}
	return to, nil
}

// only narrows the pins to one key.
func (l login) only(key ssh.PublicKey) login {
	l.pins = []ssh.PublicKey{key}
	return l
}

// shell is a connection to a host that showed one of the pinned keys.
type shell struct {
	*ssh.Client
	name    string
	hostKey ssh.PublicKey
	observe effects.Observer
}

// dial makes one attempt. The error is, or wraps, errOtherHostKey, errRefusedKey, or one of the network.
func (m *Manager) dial(ctx context.Context, to login) (*shell, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	var made *shell
	err := m.Observer.Do(ctx, sshEffect("connect", to.name, false), func() error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(to.address, sshPort))
		if err != nil {
			return err
		}
		made, err = handshake(ctx, conn, to)
		return err
	})
	if err != nil {
		return nil, err
	}
	made.observe = m.Observer
	return made, nil
}

func handshake(ctx context.Context, conn net.Conn, to login) (*shell, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var shown ssh.PublicKey
	config := &ssh.ClientConfig{
		User: loginUser, Auth: []ssh.AuthMethod{ssh.PublicKeys(to.signer)},
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			for _, pin := range to.pins {
				if bytes.Equal(pin.Marshal(), key.Marshal()) {
					shown = key
					return nil
				}
			}
			return errOtherHostKey
		},
	}
	raw, channels, requests, err := ssh.NewClientConn(conn, conn.RemoteAddr().String(), config)
	if err != nil {
		_ = conn.Close()
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errOtherHostKey), isAlgorithmMismatch(err):
			return nil, errOtherHostKey
		case shown != nil && !errors.Is(err, io.EOF) && !isNetwork(err):
			return nil, errRefusedKey
		}
		return nil, err
	}
	return &shell{Client: ssh.NewClient(raw, channels, requests), name: to.name, hostKey: shown}, nil
}

// isAlgorithmMismatch tells of a host that has no ed25519 key at all.
func isAlgorithmMismatch(err error) bool {
	var mismatch *ssh.AlgorithmNegotiationError
	return errors.As(err, &mismatch)
}

func isNetwork(err error) bool {
	var network net.Error
	return errors.As(err, &network)
}

// ran is how a command on the host ended.
type ran struct {
	status int
	output []byte // of its standard output, cut
}

// run runs a command by the login shell and waits for it. A status other than 0 is no error. What the
// command prints is at most looked at, never shown: it comes from a machine that others work on.
func (s *shell) run(ctx context.Context, effect, command, input string, write bool) (result ran, err error) {
	err = s.observe.Do(ctx, sshEffect(effect, s.name, write), func() error {
		result, err = s.session(ctx, command, input)
		return err
	})
	return result, err
}

func (s *shell) session(ctx context.Context, command, input string) (ran, error) {
	session, err := s.NewSession()
	if err != nil {
		return ran{}, err
	}
	defer func() { _ = session.Close() }()
	// A connection that hangs answers no close of a session either.
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	output := &capped{left: longestOutput}
	session.Stdout = output
	session.Stdin = bytes.NewReader([]byte(input))
	err = session.Run(command)
	var exit *ssh.ExitError
	switch {
	case err == nil:
		return ran{output: output.Bytes()}, nil
	case ctx.Err() != nil:
		return ran{}, ctx.Err()
	case errors.As(err, &exit):
		return ran{status: exit.ExitStatus(), output: output.Bytes()}, nil
	}
	return ran{}, err
}

// capped keeps the first bytes of what is written to it.
type capped struct {
	bytes.Buffer
	left int
}

func (c *capped) Write(p []byte) (int, error) {
	kept := p[:min(len(p), c.left)]
	c.left -= len(kept)
	_, err := c.Buffer.Write(kept)
	return len(p), err
}

func sshEffect(action, name string, write bool) effects.Effect {
	return effects.Effect{System: "ssh", Action: action, Object: name, Write: write}
}

// reach logs in as soon as the host lets us, for as long as ctx allows. Another key than the pinned one
// ends it at once: whoever shows it is not our host.
func (m *Manager) reach(ctx context.Context, id string, to login) (*shell, error) {
	var made *shell
	var last error
	err := m.API.Poll(ctx, func() (bool, error) {
		var err error
		if made, err = m.dial(ctx, to); err == nil {
			return true, nil
		}
		if errors.Is(err, errOtherHostKey) {
			return false, err
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		return false, nil
	})
	if err == nil {
		return made, nil
	}
	return nil, cannotReach(id, to.address, err, last)
}

func cannotReach(id, address string, err, last error) error {
	switch {
	case errors.Is(err, errOtherHostKey):
		return refuse(CodeHostKeyMismatch,
			"Either something else answers at its address, or its key was replaced by hand. Nothing was sent to it. Look at the host through the console of the platform; if it is not yours any more, purge it and create it again.",
			"The SSH server of %s at %s shows another key than the one that is pinned.", id, address)
	case errors.Is(last, errRefusedKey):
		return refuse(CodeSSHAuthentication,
			"Look at /root/.ssh/authorized_keys and at the settings of sshd through the console of the platform.",
			"The SSH server of %s at %s refuses the dedicated key of the host.", id, address)
	}
	refusal := refuse(CodeSSHUnreachable,
		"Check that nothing between here and there closes port 22, and that the host runs; then apply again.",
		"%s cannot be reached by SSH at %s.", id, address)
	if errors.Is(err, context.Canceled) {
		refusal.Err = context.Canceled
	} else if errors.Is(err, context.DeadlineExceeded) {
		refusal.Err = context.DeadlineExceeded
	}
	return refusal
}

// notReady is the failure of one step.
func notReady(code sandbox.Code, remedy, format string, arguments ...any) error {
	return refuse(code, remedy, format, arguments...)
}
