package sshguest

import (
	"errors"
	"io"
	"maps"
	"regexp"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Behavior is what guests do otherwise than a host that is well. The zero value is a host that is.
type Behavior struct {
	// Silent accepts connections and says nothing.
	Silent bool
	// RefuseLogin refuses every key.
	RefuseLogin bool
	// HostKey is a private key in PEM form that is shown instead of the host's own.
	HostKey string
	// Statuses are the exit statuses of commands, by a part of the command: "cloud-init", "docker version",
	// "docker compose", "rsync", "test -f", "next-host-key", "switch-host-key", "authorize".
	Statuses map[string]int
	// Hang, a part of a command, makes it run until the connection ends.
	Hang string
	// Break, a part of a command, ends the connection once the command has had its effect.
	Break string
	// DeafServer goes on showing the old host key after a switch.
	DeafServer bool
	// Says is printed by every command, on both streams.
	Says string
}

// Behave changes how all machines behave from now on.
func (g *Guests) Behave(behavior Behavior) {
	behavior.Statuses = maps.Clone(behavior.Statuses)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.behavior = behavior
}

// Behavior returns how they behave.
func (g *Guests) Behavior() Behavior {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.behavior
}

// probes are the commands that a host that is well answers with 0. All else is not found.
var probes = []*regexp.Regexp{
	regexp.MustCompile(`^timeout [0-9]+ cloud-init status --wait$`),
	regexp.MustCompile(`^timeout [0-9]+ docker version$`),
	regexp.MustCompile(`^timeout [0-9]+ docker compose version$`),
	regexp.MustCompile(`^timeout [0-9]+ rsync --version$`),
}

const (
	hostProgram = "/usr/local/sbin/sandlot-host "
	marker      = "test -f /var/lib/sandlot/bootstrapped"
)

func (m *machine) session(channel ssh.NewChannel) {
	accepted, requests, err := channel.Accept()
	if err != nil {
		return
	}
	defer accepted.Close()
	for request := range requests {
		if request.Type != "exec" {
			_ = request.Reply(false, nil)
			continue
		}
		var asked struct{ Command string }
		if err := ssh.Unmarshal(request.Payload, &asked); err != nil {
			_ = request.Reply(false, nil)
			return
		}
		_ = request.Reply(true, nil)
		status, alive := m.execute(asked.Command, accepted, requests)
		if alive {
			_, _ = accepted.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
		}
		return
	}
}

// execute answers a command, and tells whether the connection stays.
func (m *machine) execute(command string, channel ssh.Channel, requests <-chan *ssh.Request) (status int, alive bool) {
	behavior := m.guests.note(command)
	if behavior.Hang != "" && strings.Contains(command, behavior.Hang) {
		ssh.DiscardRequests(requests) // ends with the connection
		return 0, false
	}
	if behavior.Says != "" {
		_, _ = io.WriteString(channel, behavior.Says+"\n")
		_, _ = io.WriteString(channel.Stderr(), behavior.Says+"\n")
	}
	for part, given := range behavior.Statuses {
		if strings.Contains(command, part) {
			return given, true
		}
	}
	status = m.answer(command, behavior, channel)
	if behavior.Break != "" && strings.Contains(command, behavior.Break) {
		m.breakOff()
		return 0, false
	}
	return status, true
}

func (m *machine) breakOff() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for conn := range m.conns {
		_ = conn.Close()
	}
}

func (m *machine) answer(command string, behavior Behavior, channel ssh.Channel) int {
	if step, ok := strings.CutPrefix(command, hostProgram); ok {
		return m.host(step, behavior, channel)
	}
	if command == marker {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.disk.Bootstrapped {
			return 0
		}
		return 1
	}
	for _, probe := range probes {
		if probe.MatchString(command) {
			return 0
		}
	}
	return 127
}

// host does what the program does that the user data installs.
func (m *machine) host(step string, behavior Behavior, channel ssh.Channel) int {
	input, err := io.ReadAll(io.LimitReader(channel, 1<<20))
	if err != nil {
		return 1
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch step {
	case "next-host-key":
		err = m.nextHostKey(string(input), channel)
	case "switch-host-key":
		if m.disk.NextKey != "" {
			m.disk.HostKey, m.disk.NextKey = m.disk.NextKey, ""
		}
		if !behavior.DeafServer {
			m.served = m.disk.HostKey
		}
	case "authorize":
		m.disk.Further = keyLines(string(input))
	default:
		return 64
	}
	if err = errors.Join(err, m.guests.save(m.from.ServerID, m)); err != nil {
		return 1
	}
	return 0
}

func (m *machine) nextHostKey(injected string, channel ssh.Channel) error {
	current, err := publicHalf(m.disk.HostKey)
	if err != nil {
		return err
	}
	if current == strings.TrimSpace(injected) {
		if m.disk.NextKey == "" {
			if m.disk.NextKey, err = newKey(); err != nil {
				return err
			}
		}
		if current, err = publicHalf(m.disk.NextKey); err != nil {
			return err
		}
	}
	_, err = io.WriteString(channel, current+"\n")
	return err
}

func publicHalf(private string) (string, error) {
	signer, err := ssh.ParsePrivateKey([]byte(private))
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), nil
}

// HostKey is the public half of the key that a server has on its disk.
func (g *Guests) HostKey(serverID int64) (string, error) {
	found := g.machine(serverID)
	if found == nil {
		return "", errors.New("there is no such machine")
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	return publicHalf(found.disk.HostKey)
}

// Authorized are the keys that may log in to a server.
func (g *Guests) Authorized(serverID int64) []string {
	found := g.machine(serverID)
	if found == nil {
		return nil
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	return append(append([]string(nil), found.disk.Authorized...), found.disk.Further...)
}
