// Package debian makes root file systems of Debian, for tests and simulators.
package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Program makes the file systems.
const Program = "mmdebstrap"

// Bootstrap is what goes into a root file system.
type Bootstrap struct {
	Suite   string   // bookworm, trixie
	Variant string   // minbase, apt
	Include []string // packages besides those of the variant
	// Options are further ones of mmdebstrap.
	Options []string
	// Sources are files of apt sources; none means those that mmdebstrap has for the suite.
	Sources []string
	// Dir is the working directory, against which upload hooks resolve their files.
	Dir string
}

// Write makes a root file system and writes it as a tar archive.
func (b Bootstrap) Write(ctx context.Context, to io.Writer) error {
	arguments := append([]string{"--quiet", "--variant=" + b.Variant, "--include=" + strings.Join(b.Include, ",")}, b.Options...)
	arguments = append(append(arguments, b.Suite, "-"), b.Sources...)
	command := exec.CommandContext(ctx, Program, arguments...)
	command.Dir = b.Dir
	var said bytes.Buffer
	command.Stdout, command.Stderr = to, &said
	if err := command.Run(); err != nil {
		return fmt.Errorf("make a Debian %s: %w: %s", b.Suite, err, said.Bytes())
	}
	return nil
}

// CopySources writes the machine's own apt sources into a folder, for another suite, and returns the
// files. Credentials for them are not copied. A machine that is no Debian, or has no such files, has none,
// which is no error.
func CopySources(suite, folder string) ([]string, error) {
	id, codename, err := hostRelease()
	if err != nil || id != "debian" {
		return nil, err
	}
	var files []string
	for _, source := range []string{"/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"} {
		content, err := os.ReadFile(source)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		file := filepath.Join(folder, filepath.Base(source))
		if err := os.WriteFile(file, bytes.ReplaceAll(content, []byte(codename), []byte(suite)), 0o600); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// hostRelease is the distribution and the suite of this machine.
func hostRelease() (id, codename string, err error) {
	content, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", "", err
	}
	values := map[string]string{}
	for line := range strings.Lines(string(content)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[name] = strings.Trim(value, `"`)
	}
	id, codename = values["ID"], values["VERSION_CODENAME"]
	if id == "debian" && codename == "" {
		return "", "", errors.New("/etc/os-release names no VERSION_CODENAME")
	}
	return id, codename, nil
}
