package docker

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// dialVariable makes the test binary carry a connection to the engine over standard input and output,
// as `docker system dial-stdio` does at the far end of SSH.
const dialVariable = "SANDLOT_TEST_DOCKER_DIAL"

func runDial() {
	connection, err := net.Dial("unix", os.Getenv(dialVariable))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		_, _ = io.Copy(connection, os.Stdin)
		_ = connection.(*net.UnixConn).CloseWrite()
	}()
	_, _ = io.Copy(os.Stdout, connection)
}

// TestOverSSH puts a program named ssh in front, so that all but SSH itself is real.
func TestOverSSH(t *testing.T) {
	testkit.DockerImage(t)
	directory := t.TempDir()
	arguments := filepath.Join(directory, "arguments")
	socket := strings.TrimPrefix(firstOf(os.Getenv(envHost), "unix:///var/run/docker.sock"), "unix://")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >> '%s'\n%s='%s' exec '%s'\n", arguments, dialVariable, socket, os.Args[0])
	if err := os.WriteFile(filepath.Join(directory, "ssh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", directory+string(os.PathListSeparator)+os.Getenv("PATH"))
	b := newSerialBench(t)
	b.backend = New(Config{Host: "ssh://me@far.example:2222"})
	t.Cleanup(func() { b.backend.Close() })
	b.create(b.spec())
	b.must(b.backend.WriteFile(b.ctx(), b.marks.Name, "/workspace/file", []byte("over ssh"), 0o644))
	if got := b.sh("cat /workspace/file"); got != "over ssh" {
		t.Errorf("inside: %q", got)
	}
	binding, err := b.backend.Binding(b.ctx())
	b.must(err)
	local, err := New(Config{}).Binding(b.ctx())
	b.must(err)
	if binding.ID != local.ID || binding.Description != "ssh://far.example:2222" {
		t.Errorf("binding %+v, local %+v", binding, local)
	}
	b.delete(backends.DeleteOptions{})
	called, err := os.ReadFile(arguments)
	b.must(err)
	if !strings.Contains(string(called), "-l me -p 2222") || !strings.Contains(string(called), "docker system dial-stdio") {
		t.Errorf("ssh was called with %s", called)
	}
}
