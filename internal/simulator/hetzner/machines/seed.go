package machines

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
)

// seedFolder has what cloud-init in the machine of a server reads.
func (m *Machines) seedFolder(serverID int64) string {
	return filepath.Join(m.dir, "seed-"+strconv.FormatInt(serverID, 10))
}

// writeSeed writes the user data as they are, and what the service's metadata say of a server.
func (m *Machines) writeSeed(machine hetzner.Machine) (string, error) {
	folder := m.seedFolder(machine.ServerID)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	// JSON is YAML.
	metadata, err := json.Marshal(struct {
		InstanceID    string   `json:"instance-id"`
		LocalHostname string   `json:"local-hostname"`
		PublicKeys    []string `json:"public-keys,omitempty"`
	}{strconv.FormatInt(machine.ServerID, 10), hostname(machine.Name), machine.PublicKeys})
	if err != nil {
		return "", err
	}
	for name, content := range map[string][]byte{"meta-data": metadata, "user-data": decoded(machine.UserData)} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// decoded takes base64 off, as the service's data source does.
func decoded(userData []byte) []byte {
	if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(userData))); err == nil && len(plain) > 0 {
		return plain
	}
	return userData
}

// hostname is the first part of a server's name: a host name with a dot is cut there at the first boot.
func hostname(name string) string {
	first, _, _ := strings.Cut(name, ".")
	return first
}
