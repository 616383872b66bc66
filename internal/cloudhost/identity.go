package cloudhost

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// secret names a private key of a host: in the store, sealed, and as a file.
type secret struct{ name, file, what string }

var (
	clientSecret = secret{"ssh_client_key", fileClientKey, "private key"}
	hostSecret   = secret{"ssh_host_key", fileHostKey, "injected host key"}
)

// keyPair is an ed25519 key in the forms that OpenSSH reads.
type keyPair struct {
	private string // PEM, ends with a line break
	public  string // authorized_keys form, without comment and line break
}

func newKeyPair() (keyPair, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return keyPair{}, fmt.Errorf("make a key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return keyPair{}, fmt.Errorf("encode a key: %w", err)
	}
	half, err := ssh.NewPublicKey(public)
	if err != nil {
		return keyPair{}, fmt.Errorf("encode a key: %w", err)
	}
	return keyPair{private: string(pem.EncodeToMemory(block)), public: publicLine(half)}, nil
}

func publicLine(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// parsePublic reads a key of the only type that hosts have.
func parsePublic(line string) (ssh.PublicKey, error) {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err == nil && key.Type() != ssh.KeyAlgoED25519 {
		err = errors.New("it is not an ed25519 key")
	}
	return key, err
}

// checkKeyring refuses hosts whose keys would lie readable in a database.
func (m *Manager) checkKeyring() error {
	if !m.SharedStore || !m.Keyring.Empty() {
		return nil
	}
	return refuse(CodeKeyringRequired,
		"Make one with `age-keygen` and set it as the provider's `store { encryption_key }`, or as SANDLOT_ENCRYPTION_KEY.",
		"The records are in a database, and the private keys of a cloud host are kept there only when they are encrypted. No encryption key is set.")
}

// makeKeys makes both pairs of a host that has none yet, and keeps them before anything knows of them.
func (m *Manager) makeKeys(ctx context.Context, k *known) error {
	client, err := newKeyPair()
	if err != nil {
		return err
	}
	host, err := newKeyPair()
	if err != nil {
		return err
	}
	for _, kept := range []struct {
		secret
		keyPair
	}{{clientSecret, client}, {hostSecret, host}} {
		if err := m.keepPrivate(ctx, k, kept.secret, kept.private); err != nil {
			return err
		}
	}
	k.ClientKey, k.HostKeys, k.InjectedKey = client.public, []string{host.public}, host.public
	return m.write(ctx, k)
}

// keepPrivate stores a private key where it belongs: sealed in the store with a keyring, else in a file.
func (m *Manager) keepPrivate(ctx context.Context, k *known, which secret, private string) error {
	if m.Keyring.Empty() {
		return m.writeFile(ctx, k.ID, which.file, private)
	}
	sealed, err := m.Keyring.Seal([]byte(private))
	if err != nil {
		return err
	}
	return m.Store.PutSecret(ctx, k.Record, which.name, sealed)
}

// private reads a private key and checks that it is the one whose public half is known.
func (m *Manager) private(ctx context.Context, k *known, which secret, public string) (string, ssh.Signer, error) {
	private, err := m.readPrivate(ctx, k, which)
	if err != nil {
		return "", nil, err
	}
	signer, err := ssh.ParsePrivateKey([]byte(private))
	if private == "" || err != nil || publicLine(signer.PublicKey()) != public {
		return "", nil, refuse(CodeKeysMissing,
			"Use the `data_dir` or the database that the host was made with. Without its keys a host can still be put to sleep, woken and purged.",
			"The %s of %s is neither in the store nor among the files on this machine.", which.what, k.id())
	}
	return private, signer, nil
}

func (m *Manager) readPrivate(ctx context.Context, k *known, which secret) (string, error) {
	sealed, err := m.Store.Secret(ctx, k.ID, which.name)
	if errors.Is(err, store.ErrNotFound) {
		return m.readFile(k.ID, which.file)
	}
	if err != nil {
		return "", err
	}
	opened, err := m.Keyring.Open(sealed)
	if err == nil {
		return string(opened), nil
	}
	// The file that ssh uses is as good, where there is one.
	if private, fileErr := m.readFile(k.ID, which.file); fileErr == nil && private != "" {
		return private, nil
	}
	return "", fmt.Errorf("open the %s of %s: %w", which.what, k.id(), err)
}

// dropInjected removes the private half of a host key that was rotated away.
func (m *Manager) dropInjected(ctx context.Context, k *known) error {
	if err := m.Store.DeleteSecret(ctx, k.Record, hostSecret.name); err != nil {
		return err
	}
	return m.removeFile(ctx, k.ID, hostSecret.file)
}

// writeSSHFiles brings the files that `ssh -F` needs up to date. Without the private key at hand the
// others are written all the same.
func (m *Manager) writeSSHFiles(ctx context.Context, k *known) error {
	if k.IPv4 == "" || k.ClientKey == "" {
		return nil
	}
	private, _, err := m.private(ctx, k, clientSecret, k.ClientKey)
	if err != nil && !errors.Is(err, CodeKeysMissing) {
		return err
	}
	for _, file := range []struct{ name, content string }{
		{fileClientKey, private},
		{fileClientPub, k.ClientKey + "\n"},
		{fileKnownHosts, k.knownHosts()},
		{fileConfig, m.sshConfig(k)},
	} {
		if file.content == "" {
			continue
		}
		if there, err := m.readFile(k.ID, file.name); err == nil && there == file.content {
			continue
		}
		if err := m.writeFile(ctx, k.ID, file.name, file.content); err != nil {
			return fmt.Errorf("write the SSH files of %s: %w", k.id(), err)
		}
	}
	return nil
}

// knownHosts pins the keys to the address.
func (k *known) knownHosts() string {
	var lines strings.Builder
	for _, key := range k.HostKeys {
		fmt.Fprintf(&lines, "%s %s\n", k.IPv4, key)
	}
	return lines.String()
}

// sshConfig is strict: the pinned key or none, our key or none, nothing forwarded, nothing asked.
func (m *Manager) sshConfig(k *known) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Written by Sandlot for the cloud host %s.\n", k.Name)
	fmt.Fprintf(&b, "Host %s %s\n", k.Name, k.IPv4)
	for _, option := range [][2]string{
		{"HostName", k.IPv4},
		{"User", loginUser},
		{"Port", sshPort},
		{"IdentityFile", `"` + m.path(k.ID, fileClientKey) + `"`},
		{"IdentitiesOnly", "yes"},
		{"IdentityAgent", "none"},
		{"UserKnownHostsFile", `"` + m.path(k.ID, fileKnownHosts) + `"`},
		{"GlobalKnownHostsFile", "/dev/null"},
		{"StrictHostKeyChecking", "yes"},
		{"CheckHostIP", "no"},
		{"UpdateHostKeys", "no"},
		{"HostKeyAlgorithms", ssh.KeyAlgoED25519},
		{"PreferredAuthentications", "publickey"},
		{"PasswordAuthentication", "no"},
		{"KbdInteractiveAuthentication", "no"},
		{"ForwardAgent", "no"},
		{"ForwardX11", "no"},
		{"BatchMode", "yes"},
	} {
		fmt.Fprintf(&b, "  %s %s\n", option[0], option[1])
	}
	return b.String()
}

// fingerprint is the pinned key as `ssh-keygen -l` prints it; during a rotation, the key that is to stay.
func (k *known) fingerprint() string {
	if len(k.HostKeys) == 0 {
		return ""
	}
	key, err := parsePublic(k.HostKeys[len(k.HostKeys)-1])
	if err != nil {
		return ""
	}
	return ssh.FingerprintSHA256(key)
}

// Access returns how to log in to a host. It makes no call of the API and writes nothing. Errors:
// [CodeRecordMissing], [CodeIncomplete] while there is no address, [CodeKeysMissing], and those of package
// seal: the keys were sealed with a key that is not at hand.
func (m *Manager) Access(ctx context.Context, recordID string) (Access, error) {
	k, err := m.byID(ctx, recordID)
	if err != nil {
		return Access{}, err
	}
	if k.IPv4 == "" || k.ClientKey == "" {
		return Access{}, incomplete(k.id())
	}
	private, _, err := m.private(ctx, k, clientSecret, k.ClientKey)
	if err != nil {
		return Access{}, err
	}
	return Access{
		User: loginUser, Address: k.IPv4, PrivateKey: private, PublicKey: k.ClientKey,
		KnownHosts: k.knownHosts(), SSHConfig: m.sshConfig(k), SSHConfigPath: m.SSHConfigPath(k.ID),
		HostKeyFingerprint: k.fingerprint(),
	}, nil
}

func incomplete(id string) *sandbox.Refusal {
	return refuse(CodeIncomplete, "Apply again: that resumes its creation.", "%s was never completed.", id)
}
