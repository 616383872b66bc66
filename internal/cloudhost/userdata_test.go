package cloudhost

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/ssh"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// parsedUserData is what cloud-init reads. Its strict form has no other keys.
type parsedUserData struct {
	DisableRoot   bool              `yaml:"disable_root"`
	SSHPasswords  bool              `yaml:"ssh_pwauth"`
	SSHDeleteKeys bool              `yaml:"ssh_deletekeys"`
	SSHKeys       map[string]string `yaml:"ssh_keys"`
	Users         []struct {
		Name           string   `yaml:"name"`
		LockPassword   bool     `yaml:"lock_passwd"`
		AuthorizedKeys []string `yaml:"ssh_authorized_keys"`
	} `yaml:"users"`
	WriteFiles []struct {
		Path        string `yaml:"path"`
		Owner       string `yaml:"owner"`
		Permissions string `yaml:"permissions"`
		Content     string `yaml:"content"`
	} `yaml:"write_files"`
	RunCmd [][]string `yaml:"runcmd"`
}

func sampleUserData(t *testing.T, packages string, further ...string) (*known, keyPair, string) {
	t.Helper()
	client, hostKey := mustKeyPair(t), mustKeyPair(t)
	k := &known{contents: contents{DockerPackages: packages, AuthorizedKeys: further, ClientKey: client.public}}
	text, err := userData(k, hostKey)
	if err != nil {
		t.Fatal(err)
	}
	return k, hostKey, text
}

func mustKeyPair(t *testing.T) keyPair {
	t.Helper()
	pair, err := newKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func TestUserData(t *testing.T) {
	t.Parallel()
	for _, packages := range []string{PackagesDocker, PackagesDistribution, PackagesNone} {
		t.Run(packages, func(t *testing.T) {
			t.Parallel()
			further := mustKeyPair(t).public + " someone's laptop: #1"
			k, hostKey, text := sampleUserData(t, packages, further)
			if !strings.HasPrefix(text, "#cloud-config\n") || len(text) > 32768 {
				t.Errorf("it begins with %q and has %d bytes", text[:20], len(text))
			}
			if !strings.Contains(text, "\n  ed25519_private: |\n    -----BEGIN OPENSSH PRIVATE KEY-----\n") {
				t.Error("the host key is no literal block")
			}
			var parsed parsedUserData
			decoder := yaml.NewDecoder(strings.NewReader(text))
			decoder.KnownFields(true) // cloud-init accepts a misspelled key silently
			if err := decoder.Decode(&parsed); err != nil {
				t.Fatal(err)
			}
			if parsed.DisableRoot || parsed.SSHPasswords || !parsed.SSHDeleteKeys {
				t.Errorf("it sets %+v", parsed)
			}
			if len(parsed.SSHKeys) != 2 || parsed.SSHKeys["ed25519_private"] != hostKey.private || parsed.SSHKeys["ed25519_public"] != hostKey.public {
				t.Error("the host key is not the one that was given, byte for byte")
			}
			signer, err := ssh.ParsePrivateKey([]byte(parsed.SSHKeys["ed25519_private"]))
			if err != nil || publicLine(signer.PublicKey()) != parsed.SSHKeys["ed25519_public"] {
				t.Errorf("the halves do not belong together: %v", err)
			}
			if len(parsed.Users) != 1 || parsed.Users[0].Name != "root" || !parsed.Users[0].LockPassword ||
				len(parsed.Users[0].AuthorizedKeys) != 1 || parsed.Users[0].AuthorizedKeys[0] != k.ClientKey {
				t.Errorf("the users are %+v", parsed.Users)
			}
			files := map[string]string{}
			for _, file := range parsed.WriteFiles {
				files[file.Path] = file.Content
				if file.Owner != "root:root" || strings.HasPrefix(file.Path, "/usr/local/sbin/") != (file.Permissions == "0755") {
					t.Errorf("%s: %s %s", file.Path, file.Owner, file.Permissions)
				}
			}
			for path, want := range map[string]string{
				hostProgram: hostScript, bootstrapPath: bootstrapScript, "/etc/sandlot/metadata.nft": metadataRules,
				"/etc/systemd/system/sandlot-metadata-guard.service": metadataUnit, "/etc/sandlot/authorized_keys": further + "\n",
			} {
				if files[path] != want {
					t.Errorf("%s is not as it was given:\n%s", path, files[path])
				}
			}
			if len(parsed.RunCmd) != 1 || strings.Join(parsed.RunCmd[0], " ") != bootstrapPath+" "+packages {
				t.Errorf("it runs %q", parsed.RunCmd)
			}
			schema(t, text)
		})
	}
}

// schema asks the real cloud-init.
func schema(t *testing.T, text string) {
	t.Helper()
	program, err := exec.LookPath("cloud-init")
	testkit.Need(t, "cloud-init", err == nil, "apt-get install cloud-init")
	file := filepath.Join(t.TempDir(), "user-data")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), program, "schema", "--config-file", file).CombinedOutput(); err != nil {
		t.Errorf("cloud-init schema: %v: %s", err, output)
	}
}

// The check above can fail.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("cloud-init")
	testkit.Need(t, "cloud-init", err == nil, "apt-get install cloud-init")
	_, _, text := sampleUserData(t, PackagesDocker)
	for name, wrong := range map[string]string{
		"header": strings.TrimPrefix(text, "#cloud-config\n"),
		"key":    strings.Replace(text, "ed25519_private", "ed25519_secret", 1),
	} {
		file := filepath.Join(t.TempDir(), "user-data")
		if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := exec.CommandContext(t.Context(), program, "schema", "--config-file", file).Run(); !errors.As(err, &exit) {
			t.Errorf("%s: cloud-init accepts it: %v", name, err)
		}
	}
}

func TestUserDataRefused(t *testing.T) {
	t.Parallel()
	many := make([]string, 400)
	for i := range many {
		many[i] = mustKeyPair(t).public
	}
	good := contents{DockerPackages: PackagesDocker, ClientKey: mustKeyPair(t).public}
	for name, test := range map[string]struct {
		change func(*contents)
		object string
	}{
		"too long":     {func(c *contents) { c.AuthorizedKeys = many }, "authorized_keys"},
		"no key":       {func(c *contents) { c.AuthorizedKeys = []string{"ssh-ed25519 nonsense"} }, "authorized_keys"},
		"two lines":    {func(c *contents) { c.AuthorizedKeys = []string{many[0] + "\n" + many[1]} }, "authorized_keys"},
		"private half": {func(c *contents) { c.AuthorizedKeys = []string{mustKeyPair(t).private} }, "authorized_keys"},
		"options":      {func(c *contents) { c.AuthorizedKeys = []string{`command="reboot" ` + many[0]} }, "authorized_keys"},
		"packages":     {func(c *contents) { c.DockerPackages = "podman" }, "docker_packages"},
	} {
		wrong := good
		test.change(&wrong)
		_, err := userData(&known{contents: wrong}, mustKeyPair(t))
		var failure *backends.Error
		if !errors.As(err, &failure) || failure.Kind != backends.Invalid || failure.Object != test.object {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Contains(err.Error(), "PRIVATE KEY") || len(err.Error()) > 600 {
			t.Errorf("%s: the error quotes what it is about: %v", name, err)
		}
	}
}

// The set-up scripts are what a shell and shellcheck accept.
func TestScripts(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"bootstrap": bootstrapScript, "host": hostScript} {
		check := exec.CommandContext(t.Context(), "sh", "-n")
		check.Stdin = strings.NewReader(script)
		if output, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, output)
		}
		if !strings.HasPrefix(script, "#!/bin/sh\n") || !strings.Contains(script, "\nset -eu\n") {
			t.Errorf("%s does not end at the first failure", name)
		}
	}
	program, err := exec.LookPath("shellcheck")
	testkit.Need(t, "shellcheck", err == nil, "apt-get install shellcheck")
	for name, script := range map[string]string{"bootstrap": bootstrapScript, "host": hostScript} {
		check := exec.CommandContext(t.Context(), program, "--shell=sh", "--exclude=SC1091", "-")
		check.Stdin = strings.NewReader(script)
		if output, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, output)
		}
	}
	// Section 15 of the contract.
	for _, said := range []string{
		"https://download.docker.com/linux/ubuntu", "https://download.docker.com/linux/debian", "UBUNTU_CODENAME",
		"9DC858229FC7DD38854AE2D88D81803C0EBFCD88", "/etc/apt/keyrings/docker.asc", "/etc/apt/sources.list.d/docker.sources", "Types: deb",
		"Components: stable", "dpkg --print-architecture", "Signed-By: /etc/apt/keyrings/docker.asc", "chmod 0755 /etc/apt/keyrings",
		"docker-ce docker-ce-cli containerd.io docker-buildx-plugin docker-compose-plugin",
		"docker.io docker-compose docker-compose-v2 docker-doc podman-docker containerd runc", "DPkg::Lock::Timeout",
	} {
		if !strings.Contains(bootstrapScript, said) {
			t.Errorf("the set-up script does not say %q", said)
		}
	}
	steps := strings.TrimSpace(bootstrapScript)
	if at := strings.Index(steps, "mv /var/lib/sandlot/bootstrapped.new "+markerPath); at < 0 || len(steps)-at > 100 {
		t.Error("the marker is not what the set-up script writes last")
	}
}

// The rules are what nft accepts, twice in a row.
func TestMetadataRules(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("nft")
	testkit.Need(t, "nftables", err == nil && os.Getuid() == 0, "apt-get install nftables, and run as root")
	check := exec.CommandContext(t.Context(), program, "--check", "--file", "-")
	check.Stdin = bytes.NewReader([]byte(metadataRules + metadataRules))
	if output, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
	for _, address := range []string{"ip daddr 169.254.169.254", "ip6 daddr fe80::a9fe:a9fe"} {
		if strings.Count(metadataRules, address+" meta skuid != 0 counter reject") != 1 || strings.Count(metadataRules, address+" counter drop") != 1 {
			t.Errorf("%s is not closed to users and to containers", address)
		}
	}
}
