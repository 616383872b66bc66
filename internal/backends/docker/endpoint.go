package docker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/docker/cli/cli/config"
	"github.com/docker/cli/cli/connhelper"
	clicontext "github.com/docker/cli/cli/context"
	dockercontext "github.com/docker/cli/cli/context/docker"
	"github.com/docker/cli/cli/context/store"
	"github.com/docker/docker/client"
	"github.com/docker/go-connections/tlsconfig"
)

// Environment variables of the Docker CLI that tell where the engine is.
const (
	envHost      = "DOCKER_HOST"
	envContext   = "DOCKER_CONTEXT"
	envCertPath  = "DOCKER_CERT_PATH"
	envTLSVerify = "DOCKER_TLS_VERIFY"
)

// defaultContext is the CLI's name for "no context": the environment, then the default socket.
const defaultContext = "default"

// endpoint is where the engine is and how to get there.
type endpoint struct {
	host string
	tls  *tls.Config
	dial func(ctx context.Context, network, address string) (net.Conn, error) // nil: by host
	// address is for people: without user information.
	address string
}

// resolve finds the endpoint, in the order of the Docker CLI: explicit host, explicit context,
// DOCKER_HOST, DOCKER_CONTEXT, the CLI's current context, the default socket.
func (c Config) resolve() (endpoint, error) {
	switch {
	case c.OnHost != "":
		return c.onHost(), nil
	case c.Host != "":
		return c.fromHost(c.Host)
	case c.Context == defaultContext:
		return c.fromHost(firstOf(os.Getenv(envHost), client.DefaultDockerHost))
	case c.Context != "":
		return c.fromContext(c.Context)
	case os.Getenv(envHost) != "":
		return c.fromHost(os.Getenv(envHost))
	}
	name := os.Getenv(envContext)
	if name == "" {
		file, err := config.Load(config.Dir())
		if err != nil {
			return endpoint{}, fmt.Errorf("read the Docker CLI's configuration: %w", err)
		}
		name = file.CurrentContext
	}
	if name == "" || name == defaultContext {
		return c.fromHost(client.DefaultDockerHost)
	}
	return c.fromContext(name)
}

// onHost is the engine of a cloud host. The host in the address only names it: Dial knows the way.
func (c Config) onHost() endpoint {
	return endpoint{
		host: "tcp://" + c.OnHost, address: "cloud host " + c.OnHost,
		dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return c.Dial(ctx) },
	}
}

func (c Config) fromHost(host string) (endpoint, error) {
	material, err := c.tls()
	if err != nil {
		return endpoint{}, err
	}
	return newEndpoint(host, material)
}

func (c Config) fromContext(name string) (endpoint, error) {
	contexts := store.New(config.ContextStoreDir(), store.NewConfig(
		func() any { return &map[string]any{} },
		store.EndpointTypeGetter(dockercontext.DockerEndpoint, func() any { return &dockercontext.EndpointMeta{} }),
	))
	metadata, err := contexts.GetMetadata(name)
	if err != nil {
		return endpoint{}, fmt.Errorf("read the Docker context %q: %w", name, err)
	}
	meta, err := dockercontext.EndpointFromContext(metadata)
	if err != nil {
		return endpoint{}, fmt.Errorf("read the Docker context %q: %w", name, err)
	}
	withTLS, err := dockercontext.WithTLSData(contexts, name, meta)
	if err != nil {
		return endpoint{}, fmt.Errorf("read the TLS files of the Docker context %q: %w", name, err)
	}
	material, err := c.tls()
	if err != nil {
		return endpoint{}, err
	}
	if c.CACert == "" && c.ClientCert == "" {
		if material, err = contextTLS(withTLS.TLSData, meta.SkipTLSVerify); err != nil {
			return endpoint{}, fmt.Errorf("use the TLS files of the Docker context %q: %w", name, err)
		}
	}
	return newEndpoint(firstOf(meta.Host, client.DefaultDockerHost), material)
}

// tls reads the configured files, or else those that DOCKER_CERT_PATH and DOCKER_TLS_VERIFY name.
// It returns nil when neither asks for TLS.
func (c Config) tls() (*tls.Config, error) {
	options := tlsconfig.Options{CAFile: c.CACert, CertFile: c.ClientCert, KeyFile: c.ClientKey, ExclusiveRootPools: c.CACert != ""}
	if options.CAFile == "" && options.CertFile == "" && options.KeyFile == "" {
		directory, verify := os.Getenv(envCertPath), os.Getenv(envTLSVerify) != ""
		if directory == "" && !verify {
			return nil, nil
		}
		directory = firstOf(directory, config.Dir())
		options = tlsconfig.Options{
			CAFile:             filepath.Join(directory, "ca.pem"),
			CertFile:           filepath.Join(directory, "cert.pem"),
			KeyFile:            filepath.Join(directory, "key.pem"),
			InsecureSkipVerify: !verify,
			ExclusiveRootPools: true,
		}
	}
	material, err := tlsconfig.Client(options)
	if err != nil {
		return nil, fmt.Errorf("read the TLS files for the engine: %w", err)
	}
	return material, nil
}

// contextTLS turns the TLS files of a context into a configuration; nil when it has none.
func contextTLS(data *clicontext.TLSData, skipVerify bool) (*tls.Config, error) {
	if data == nil && !skipVerify {
		return nil, nil
	}
	material := tlsconfig.ClientDefault()
	material.InsecureSkipVerify = skipVerify
	if data == nil {
		return material, nil
	}
	if data.CA != nil {
		material.RootCAs = x509.NewCertPool()
		if !material.RootCAs.AppendCertsFromPEM(data.CA) {
			return nil, errors.New("ca.pem holds no certificate")
		}
	}
	if data.Cert != nil && data.Key != nil {
		pair, err := tls.X509KeyPair(data.Cert, data.Key)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		material.Certificates = []tls.Certificate{pair}
	}
	return material, nil
}

func newEndpoint(host string, material *tls.Config) (endpoint, error) {
	found := endpoint{host: host, address: withoutCredentials(host)}
	helper, err := connhelper.GetConnectionHelper(host)
	if err != nil {
		return endpoint{}, fmt.Errorf("use the engine address %q: %w", found.address, withoutURL(err))
	}
	switch {
	case helper != nil:
		found.host, found.dial = helper.Host, helper.Dialer
	case !strings.HasPrefix(host, "unix://"):
		found.tls = material
	}
	return found, nil
}

// withoutURL drops the address from a parse error, since it may hold a password.
func withoutURL(err error) error {
	var parse *url.Error
	if errors.As(err, &parse) {
		return parse.Err
	}
	return err
}

func withoutCredentials(host string) string {
	scheme, rest, ok := strings.Cut(host, "://")
	if !ok {
		return host
	}
	authority, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndex(authority, "@"); at >= 0 {
		rest = rest[at+1:]
	}
	return scheme + "://" + rest
}

// socket is the path of the engine's socket when it is one of this machine, otherwise empty.
func (e endpoint) socket() string {
	path, ok := strings.CutPrefix(e.host, "unix://")
	if !ok {
		return ""
	}
	return path
}

func firstOf(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}
