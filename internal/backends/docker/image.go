package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/docker/cli/cli/config"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/registry"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Values of the pull policy.
const (
	pullMissing = "missing"
	pullAlways  = "always"
	pullNever   = "never"
)

// imageCache keeps what images hand down. An id never changes its meaning, so nothing expires.
type imageCache struct {
	mu    sync.Mutex
	known map[string]inherited
}

// inherited reads what an image hands down. An image that was removed under a container hands down
// nothing that could be told.
func (c *imageCache) inherited(ctx context.Context, e *engine, id string) (inherited, error) {
	c.mu.Lock()
	found, ok := c.known[id]
	c.mu.Unlock()
	if ok {
		return found, nil
	}
	inspected, err := e.ImageInspect(ctx, id)
	if cerrdefs.IsNotFound(err) {
		return inherited{unknown: true}, nil
	}
	if err != nil {
		return inherited{}, err
	}
	if found, err = inheritedFrom(inspected); err != nil {
		return inherited{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]inherited{}
	}
	c.known[id] = found
	return found, nil
}

// ensureImage returns the image of a reference, pulled as the policy says. Pulled images are not
// ours: they stay.
func (e *engine) ensureImage(ctx context.Context, operation, name, policy string) (image.InspectResponse, error) {
	if _, err := reference.ParseAnyReference(name); err != nil {
		return image.InspectResponse{}, invalid(operation, "source.image", fmt.Sprintf("%q is not an image reference: %v.", name, err), "")
	}
	if policy == pullAlways {
		if err := e.pull(ctx, operation, name); err != nil {
			return image.InspectResponse{}, err
		}
	}
	found, err := e.ImageInspect(ctx, name)
	if cerrdefs.IsNotFound(err) && policy != pullAlways {
		if policy == pullNever {
			return found, invalid(operation, "source.image", fmt.Sprintf("The engine does not have the image %q.", name),
				"Pull it there, or allow it with `docker.pull_policy = \"missing\"`.")
		}
		if err := e.pull(ctx, operation, name); err != nil {
			return found, err
		}
		found, err = e.ImageInspect(ctx, name)
	}
	if err != nil {
		return found, e.fail(operation, name, err)
	}
	return found, nil
}

func (e *engine) pull(ctx context.Context, operation, name string) error {
	auth, err := registryAuth(name)
	if err != nil {
		return &backends.Error{
			Kind: backends.Unauthorized, Backend: backendName, Operation: operation, Object: "source.image",
			Detail: "The credentials for the registry of the image cannot be read.", Remedy: "Run `docker login` again.", Err: cut(err),
		}
	}
	stream, err := e.ImagePull(ctx, name, image.PullOptions{RegistryAuth: auth})
	if err == nil {
		err = drain(stream)
	}
	if err == nil {
		return nil
	}
	text := err.Error()
	if cerrdefs.IsNotFound(err) || strings.Contains(text, "manifest unknown") || strings.Contains(text, "not found") {
		return &backends.Error{
			Kind: backends.Invalid, Backend: backendName, Operation: operation, Object: "source.image",
			Detail: fmt.Sprintf("The engine does not have the image %q and cannot pull it.", name),
			Remedy: "Check the reference; a private registry may need `docker login`.", Err: cut(err, auth),
		}
	}
	return e.fail("pull image", name, err, auth)
}

// registryAuth reads the credentials that `docker login` stored for the image's registry, encoded
// for the engine. They are empty when there are none.
func registryAuth(name string) (string, error) {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return "", fmt.Errorf("read the image reference: %w", err)
	}
	host := reference.Domain(named)
	if host == "docker.io" {
		host = "https://index.docker.io/v1/"
	}
	file, err := config.Load(config.Dir())
	if err != nil {
		return "", fmt.Errorf("read the Docker CLI's configuration: %w", err)
	}
	found, err := file.GetAuthConfig(host)
	if err != nil {
		return "", fmt.Errorf("read the credentials for %s: %w", host, err)
	}
	encoded, err := registry.EncodeAuthConfig(registry.AuthConfig{
		Username: found.Username, Password: found.Password, Auth: found.Auth, ServerAddress: found.ServerAddress,
		IdentityToken: found.IdentityToken, RegistryToken: found.RegistryToken,
	})
	if err != nil {
		return "", fmt.Errorf("encode the credentials for %s: %w", host, err)
	}
	return encoded, nil
}

// drain reads a progress stream of the engine to its end. Errors come in the stream, under a
// status that says success.
func drain(stream io.ReadCloser) error {
	_, err := readProgress(stream)
	return err
}

// readProgress is drain, and returns the last status line.
func readProgress(stream io.ReadCloser) (string, error) {
	defer stream.Close()
	last := ""
	decoder := json.NewDecoder(stream)
	for {
		var line struct {
			Status string `json:"status"`
			Error  string `json:"error"`
		}
		err := decoder.Decode(&line)
		switch {
		case errors.Is(err, io.EOF):
			return last, nil
		case err != nil:
			return last, fmt.Errorf("read the engine's progress: %w", err)
		case line.Error != "":
			return last, errors.New(line.Error)
		case line.Status != "":
			last = line.Status
		}
	}
}

// resolved names what a reference meant: the digest in the registry it names, else the image's id.
func resolved(name string, found image.InspectResponse) string {
	if named, err := reference.ParseNormalizedNamed(name); err == nil {
		for _, digest := range found.RepoDigests {
			if other, err := reference.ParseNormalizedNamed(digest); err == nil && other.Name() == named.Name() {
				return digest
			}
		}
	}
	return found.ID
}
