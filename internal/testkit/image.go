package testkit

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// ImageReference is the image that tests run sandboxes from. It has busybox and the users root and
// agent (1000), and nothing is pulled for it.
const ImageReference = "sandlot-test/busybox:1"

var imageOnce = sync.OnceValue(func() error {
	return ensureImage(ImageReference, imageContent, "ENV PATH=/bin")
})

// DockerImage returns the reference of the test image, which it imports into the engine when it is
// missing there. The test needs a Docker Engine on a local socket, and busybox on PATH.
func DockerImage(t testing.TB) string {
	t.Helper()
	err := imageOnce()
	Need(t, "docker", err == nil, fmt.Sprintf("start a Docker Engine on a local socket and install busybox-static (%v)", err))
	return ImageReference
}

// dockerSocket is the engine's socket on this machine.
func dockerSocket() (string, error) {
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		return "/var/run/docker.sock", nil
	}
	socket, ok := strings.CutPrefix(host, "unix://")
	if !ok {
		return "", fmt.Errorf("DOCKER_HOST is %s, not a local socket", host)
	}
	return socket, nil
}

// ensureImage imports an image of a root file system when the engine does not have it.
func ensureImage(reference string, content func() (io.Reader, error), changes ...string) error {
	socket, err := dockerSocket()
	if err != nil {
		return err
	}
	client := &http.Client{
		Timeout: time.Minute,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", socket)
			},
		},
	}
	found, err := client.Get("http://docker/images/" + reference + "/json")
	if err != nil {
		return fmt.Errorf("ask the engine: %w", err)
	}
	defer found.Body.Close()
	if found.StatusCode == http.StatusOK {
		return nil
	}
	packed, err := content()
	if err != nil {
		return err
	}
	repository, tag, _ := strings.Cut(reference, ":")
	query := url.Values{"fromSrc": {"-"}, "repo": {repository}, "tag": {tag}, "changes": changes}
	answer, err := client.Post("http://docker/images/create?"+query.Encode(), "application/x-tar", packed)
	if err != nil {
		return fmt.Errorf("import the test image: %w", err)
	}
	defer answer.Body.Close()
	return importResult(answer)
}

// importResult reads the progress of an import, which may report an error under a status of 200.
func importResult(answer *http.Response) error {
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("import the test image: the engine answered %s", answer.Status)
	}
	decoder := json.NewDecoder(answer.Body)
	for {
		var line struct {
			Error string `json:"error"`
		}
		err := decoder.Decode(&line)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("import the test image: %w", err)
		case line.Error != "":
			return fmt.Errorf("import the test image: %s", line.Error)
		}
	}
}

// imageContent packs busybox, with a link for each of its programs, and the accounts.
func imageContent() (io.Reader, error) {
	program, err := exec.LookPath("busybox")
	if err != nil {
		return nil, fmt.Errorf("find busybox: %w", err)
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read busybox: %w", err)
	}
	if bytes.Contains(binary, []byte("/lib64/ld-linux")) || bytes.Contains(binary, []byte("/lib/ld-musl")) {
		return nil, errors.New("busybox on PATH is not the static one")
	}
	names, err := exec.Command(program, "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("list the programs of busybox: %w", err)
	}
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	add := func(header *tar.Header, content []byte) {
		header.Size = int64(len(content))
		if err == nil {
			err = archive.WriteHeader(header)
		}
		if err == nil {
			_, err = archive.Write(content)
		}
	}
	err = nil
	add(&tar.Header{Typeflag: tar.TypeDir, Name: "bin/", Mode: 0o755}, nil)
	add(&tar.Header{Typeflag: tar.TypeDir, Name: "etc/", Mode: 0o755}, nil)
	add(&tar.Header{Typeflag: tar.TypeDir, Name: "root/", Mode: 0o700}, nil)
	add(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil)
	add(&tar.Header{Typeflag: tar.TypeDir, Name: "home/agent/", Mode: 0o755, Uid: 1000, Gid: 1000}, nil)
	add(&tar.Header{Typeflag: tar.TypeReg, Name: "etc/passwd", Mode: 0o644}, []byte("root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n"))
	add(&tar.Header{Typeflag: tar.TypeReg, Name: "etc/group", Mode: 0o644}, []byte("root:x:0:\nagent:x:1000:\n"))
	add(&tar.Header{Typeflag: tar.TypeReg, Name: "bin/busybox", Mode: 0o755}, binary)
	for _, name := range strings.Fields(string(names)) {
		if name != "busybox" {
			add(&tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + name, Linkname: "busybox", Mode: 0o777}, nil)
		}
	}
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("pack the test image: %w", err)
	}
	return &buffer, nil
}
