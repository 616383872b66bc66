package sshguest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/ssh"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
)

// disk is what stays of a machine when it is off. Keys are private ones in PEM form.
type disk struct {
	// HostKey is the one at /etc/ssh/ssh_host_ed25519_key, NextKey the one that it is to be replaced by.
	HostKey string `json:"hostKey"`
	NextKey string `json:"nextKey,omitempty"`
	// Authorized are those that root's key file had at first, Further those that were added by `authorize`.
	Authorized []string `json:"authorized"`
	Further    []string `json:"further,omitempty"`
	// Bootstrapped is true when the user data runs a set-up script.
	Bootstrapped bool `json:"bootstrapped"`
}

// cloudConfig is what a guest reads of the user data, as cloud-init would.
type cloudConfig struct {
	SSHKeys struct {
		Private string `yaml:"ed25519_private"`
	} `yaml:"ssh_keys"`
	Users []struct {
		Name string   `yaml:"name"`
		Keys []string `yaml:"ssh_authorized_keys"`
	} `yaml:"users"`
	RunCmd     []any `yaml:"runcmd"`
	WriteFiles []struct {
		Path    string `yaml:"path"`
		Content string `yaml:"content"`
	} `yaml:"write_files"`
}

// furtherKeysPath is the file whose keys the set-up script authorizes.
const furtherKeysPath = "/etc/sandlot/authorized_keys"

// newDisk does what the first boot does.
func newDisk(from hetzner.Machine) (disk, error) {
	made := disk{Authorized: from.PublicKeys}
	var config cloudConfig
	if bytes.HasPrefix(from.UserData, []byte("#cloud-config\n")) {
		if err := yaml.Unmarshal(from.UserData, &config); err != nil {
			return made, fmt.Errorf("the user data of server %d is no YAML", from.ServerID)
		}
	}
	for _, user := range config.Users {
		if user.Name == "root" {
			made.Authorized = append(made.Authorized, user.Keys...)
		}
	}
	made.Bootstrapped = len(config.RunCmd) > 0
	for _, file := range config.WriteFiles {
		if file.Path == furtherKeysPath {
			made.Further = keyLines(file.Content)
		}
	}
	made.HostKey = config.SSHKeys.Private
	if made.HostKey == "" {
		var err error
		made.HostKey, err = newKey()
		return made, err
	}
	return made, nil
}

func newKey() (string, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(block)), nil
}

// keyLines are the lines of a text that hold a key.
func keyLines(text string) []string {
	var keys []string
	for line := range bytes.Lines([]byte(text)) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			keys = append(keys, string(line))
		}
	}
	return keys
}

func (g *Guests) file(serverID int64) string {
	return filepath.Join(g.config.Dir, strconv.FormatInt(serverID, 10)+".json")
}

func (g *Guests) save(serverID int64, of *machine) error {
	if g.config.Dir == "" {
		return nil
	}
	content, err := json.Marshal(of.disk)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(g.config.Dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(g.file(serverID), content, 0o600)
}

// load reads a disk that was kept, nil when there is none.
func (g *Guests) load(serverID int64) (*disk, error) {
	if g.config.Dir == "" {
		return nil, nil
	}
	content, err := os.ReadFile(g.file(serverID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var kept disk
	return &kept, json.Unmarshal(content, &kept)
}

func (g *Guests) forget(serverID int64) error {
	if g.config.Dir == "" {
		return nil
	}
	if err := os.Remove(g.file(serverID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
