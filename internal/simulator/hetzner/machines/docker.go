package machines

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// docker runs a command of the client and returns what it prints. Nothing secret stands in arguments.
func docker(ctx context.Context, arguments ...string) (string, error) {
	return dockerWith(ctx, nil, arguments...)
}

func dockerWith(ctx context.Context, input io.Reader, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "docker", arguments...)
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = input, &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", arguments[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// listed returns the ids of what carries the label of these machines: "container ls --all", "volume ls"
// or "network ls".
func (m *Machines) listed(ctx context.Context, list ...string) ([]string, error) {
	found, err := docker(ctx, append(list, "--quiet", "--filter", "label="+m.label())...)
	return strings.Fields(found), err
}

// label marks everything that is made in the engine.
func (m *Machines) label() string { return "sandlot.simulator=" + m.id }

// exists tells whether the engine has an object, which inspect asks for.
func exists(ctx context.Context, kind, name string) (bool, error) {
	_, err := docker(ctx, kind, "inspect", "--format", "{{.ID}}", name)
	if err == nil {
		return true, nil
	}
	if strings.Contains(strings.ToLower(err.Error()), "no such") || strings.Contains(err.Error(), "not found") {
		return false, nil
	}
	return false, err
}
