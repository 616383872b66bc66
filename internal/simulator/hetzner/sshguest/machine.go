package sshguest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
)

// machine is one guest: a disk, and while it runs a listener and its connections.
type machine struct {
	guests *Guests

	mu       sync.Mutex
	from     hetzner.Machine
	disk     disk
	served   string // the host key that sshd has in memory
	listener net.Listener
	conns    map[net.Conn]bool
}

// start has the machine listen. One that runs goes on running.
func (m *machine) start(from hetzner.Machine) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.from = from
	if m.listener != nil || !from.Address.IsValid() {
		return nil
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(from.Address.String(), port)) //nolint:noctx // it does not wait
	if err != nil {
		return err
	}
	m.listener, m.conns, m.served = listener, map[net.Conn]bool{}, m.disk.HostKey
	go m.accept(listener)
	return nil
}

// stop ends listener and connections. It returns what tells the simulator of it, nil when the machine did
// not run.
func (m *machine) stop() (stopped func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listener == nil {
		return nil
	}
	_ = m.listener.Close()
	for conn := range m.conns {
		_ = conn.Close()
	}
	m.listener, m.conns = nil, nil
	return m.from.Stopped
}

func (m *machine) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		m.mu.Lock()
		open := m.conns != nil
		if open {
			m.conns[conn] = true
		}
		m.mu.Unlock()
		if !open {
			_ = conn.Close()
			return
		}
		go func() {
			m.serve(conn)
			_ = conn.Close()
			m.mu.Lock()
			delete(m.conns, conn)
			m.mu.Unlock()
		}()
	}
}

func (m *machine) serve(conn net.Conn) {
	behavior := m.guests.Behavior()
	if behavior.Silent {
		_, _ = io.Copy(io.Discard, conn)
		return
	}
	config, err := m.config(behavior)
	if err != nil {
		return
	}
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for channel := range channels {
		go m.open(channel)
	}
}

func (m *machine) config(behavior Behavior) (*ssh.ServerConfig, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	shown := m.served
	if behavior.HostKey != "" {
		shown = behavior.HostKey
	}
	signer, err := ssh.ParsePrivateKey([]byte(shown))
	if err != nil {
		return nil, err
	}
	allowed := append(append([]string(nil), m.disk.Authorized...), m.disk.Further...)
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(conn ssh.ConnMetadata, offered ssh.PublicKey) (*ssh.Permissions, error) {
			if conn.User() == "root" && !behavior.RefuseLogin && authorized(allowed, offered) {
				return nil, nil
			}
			return nil, errors.New("not authorized")
		},
	}
	config.AddHostKey(signer)
	return config, nil
}

func authorized(allowed []string, offered ssh.PublicKey) bool {
	for _, line := range allowed {
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
		if err == nil && bytes.Equal(key.Marshal(), offered.Marshal()) {
			return true
		}
	}
	return false
}

func (m *machine) open(channel ssh.NewChannel) {
	switch channel.ChannelType() {
	case "session":
		m.session(channel)
	case "direct-streamlocal@openssh.com":
		m.forward(channel)
	default:
		_ = channel.Reject(ssh.UnknownChannelType, "not here")
	}
}

// forward leads a channel to the engine's socket.
func (m *machine) forward(channel ssh.NewChannel) {
	var asked struct {
		Path      string
		Reserved0 string
		Reserved1 uint32
	}
	if err := ssh.Unmarshal(channel.ExtraData(), &asked); err != nil || asked.Path != "/var/run/docker.sock" || m.guests.config.Engine == "" {
		_ = channel.Reject(ssh.ConnectionFailed, "open failed")
		return
	}
	engine, err := net.Dial("unix", m.guests.config.Engine) //nolint:noctx // it does not wait
	if err != nil {
		_ = channel.Reject(ssh.ConnectionFailed, "open failed")
		return
	}
	defer engine.Close()
	accepted, requests, err := channel.Accept()
	if err != nil {
		return
	}
	defer accepted.Close()
	go ssh.DiscardRequests(requests)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(engine, accepted)
		if half, ok := engine.(*net.UnixConn); ok {
			_ = half.CloseWrite()
		}
	}()
	_, _ = io.Copy(accepted, engine)
	_ = accepted.CloseWrite()
	<-done
}
