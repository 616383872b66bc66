package cloudhost

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
)

const (
	// longestUserData is what the API takes, in bytes (section 8.3).
	longestUserData = 32768
	// hostProgram does on a host what we ask for over SSH.
	hostProgram      = "/usr/local/sbin/sandlot-host"
	commandAuthorize = hostProgram + " authorize"
	bootstrapPath    = "/usr/local/sbin/sandlot-bootstrap"
	// markerPath is written last by the set-up script.
	markerPath = "/var/lib/sandlot/bootstrapped"
)

// What the user data installs.
var (
	//go:embed hostfiles/bootstrap.sh
	bootstrapScript string
	//go:embed hostfiles/host.sh
	hostScript string
	//go:embed hostfiles/metadata.nft
	metadataRules string
	//go:embed hostfiles/metadata-guard.service
	metadataUnit string
)

// hostFile is a file that cloud-init writes.
type hostFile struct{ path, mode, content string }

// userData is the cloud-init configuration of a host. It holds the private half of the injected host key,
// so it is a secret until that was rotated away: nothing may log or keep it.
//
// It is written by hand and not by a YAML library, so that the key stays a literal block, byte for byte, as
// the module that reads it wants (section 15).
func userData(k *known, hostKey keyPair) (string, error) {
	var b strings.Builder
	b.WriteString("#cloud-config\n")
	b.WriteString("disable_root: false\nssh_pwauth: false\nssh_deletekeys: true\n")
	b.WriteString("ssh_keys:\n  ed25519_private: |\n")
	b.WriteString(indented(hostKey.private, 4))
	fmt.Fprintf(&b, "  ed25519_public: %s\n", hostKey.public)
	fmt.Fprintf(&b, "users:\n  - name: %s\n    lock_passwd: true\n    ssh_authorized_keys:\n      - %s\n", loginUser, k.ClientKey)
	b.WriteString("write_files:\n")
	for _, file := range []hostFile{
		{"/etc/sandlot/authorized_keys", "0600", lines(k.AuthorizedKeys)},
		{"/etc/sandlot/metadata.nft", "0644", metadataRules},
		{"/etc/systemd/system/sandlot-metadata-guard.service", "0644", metadataUnit},
		{hostProgram, "0755", hostScript},
		{bootstrapPath, "0755", bootstrapScript},
	} {
		fmt.Fprintf(&b, "  - path: %s\n    owner: root:root\n    permissions: '%s'\n", file.path, file.mode)
		if file.content != "" {
			fmt.Fprintf(&b, "    content: |\n%s", indented(file.content, 6))
		}
	}
	fmt.Fprintf(&b, "runcmd:\n  - [%s, %s]\n", bootstrapPath, k.DockerPackages)
	text := b.String()
	return text, checkUserData(k, text)
}

// checkUserData finds what the API or cloud-init would reject, or worse, ignore. No error quotes any of it.
func checkUserData(k *known, text string) error {
	invalid := func(object, detail, remedy string) error {
		return &backends.Error{
			Kind: backends.Invalid, Backend: hetzner.Name, Operation: "set up cloud host", Object: object, Detail: detail, Remedy: remedy,
		}
	}
	if len(text) > longestUserData {
		return invalid("authorized_keys",
			fmt.Sprintf("The set-up of the host is %d bytes too long with them: the platform takes %d.", len(text)-longestUserData, longestUserData),
			"Give fewer keys, and add others once the host runs.")
	}
	if err := errors.Join(CheckAuthorizedKeys(k.AuthorizedKeys), CheckAuthorizedKeys([]string{k.ClientKey})); err != nil {
		return invalid("authorized_keys", err.Error()+".", "")
	}
	for _, packages := range []string{PackagesDocker, PackagesDistribution, PackagesNone} {
		if k.DockerPackages == packages {
			return nil
		}
	}
	return invalid("docker_packages", fmt.Sprintf("%q is none of docker, distribution and none.", k.DockerPackages), "")
}

// lines are texts, one a line.
func lines(all []string) string {
	var b strings.Builder
	for _, each := range all {
		b.WriteString(strings.TrimSpace(each))
		b.WriteByte('\n')
	}
	return b.String()
}

// indented is a text as the body of a YAML block. Empty lines stay empty.
func indented(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimRight(line, "\n") != "" {
			b.WriteString(strings.Repeat(" ", width))
		}
		b.WriteString(line)
	}
	return b.String()
}
