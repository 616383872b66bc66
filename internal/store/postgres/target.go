package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// connectLimit is how long connecting may take when the URL does not say.
	connectLimit = 10 * time.Second
	// keepAlive is short enough for gateways that forget connections after some minutes.
	keepAlive = 15 * time.Second
)

// target is where the store lives.
type target struct {
	config *pgx.ConnConfig
	// description is the URL without secrets.
	description string
}

// unknownTarget describes a URL that cannot be read: any part of it may be a misplaced password.
const unknownTarget = "PostgreSQL"

const urlForm = "Write postgres_url as postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full, with special characters of user and password percent-encoded."

func malformed(what string) error { return fmt.Errorf("%s. %s", what, urlForm) }

// Redacted describes a URL by user, host, port and database alone.
func Redacted(address string) string {
	t, err := parse(address)
	if err != nil {
		return unknownTarget
	}
	return t.description
}

// parse reads a URL. Its errors never quote a part of the URL: where a URL is malformed, the
// password may be anywhere.
func parse(address string) (target, error) {
	mode, err := checkForm(address)
	if err != nil {
		return target{}, err
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return target{}, parseError(err)
	}
	if mode, err = secureMode(mode, hosts(config)); err != nil {
		return target{}, err
	}
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	// The last one of a repeated parameter counts, also before the environment and a service file.
	if config, err = pgx.ParseConfig(address + separator + "sslmode=" + mode); err != nil {
		return target{}, parseError(err)
	}
	// Neither prepared statements nor session settings survive a pooler that works by transaction.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectLimit)
	dialer := &net.Dialer{
		Timeout:         config.ConnectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive, Count: 4},
	}
	config.DialFunc = dialer.DialContext
	config.RuntimeParams["client_encoding"] = "UTF8"
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "terraform-provider-sandlot"
	}
	return target{config: config, description: describe(config)}, nil
}

// checkForm finds URLs that would be read otherwise than they were meant, and returns their sslmode.
func checkForm(address string) (mode string, err error) {
	_, rest, found := strings.Cut(address, "://")
	if !found || !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
		return "", malformed("the PostgreSQL URL does not begin with postgres://")
	}
	if at := strings.IndexByte(rest, '@'); at != strings.LastIndexByte(rest, '@') || at > strings.IndexAny(rest+"/", "/?") {
		return "", malformed("the PostgreSQL URL has an @ that is not the one between password and host")
	}
	_, query, _ := strings.Cut(rest, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", malformed("the parameters of the PostgreSQL URL cannot be read")
	}
	if modes := values["sslmode"]; len(modes) > 0 {
		mode = modes[len(modes)-1]
	} else if values.Get("ssl") == "true" {
		mode = "require"
	} else {
		mode = os.Getenv("PGSSLMODE")
	}
	known := []string{"", "disable", "allow", "prefer", "require", "verify-ca", "verify-full"}
	if !slices.Contains(known, mode) {
		return "", errors.New("the sslmode of the PostgreSQL URL is not one of" + strings.Join(known, " "))
	}
	return mode, nil
}

// secureMode decides on sslmode: whatever is asked for on this machine; off it, the server's
// certificate is verified.
func secureMode(mode string, hosts []string) (string, error) {
	for _, host := range hosts {
		if onThisMachine(host) {
			continue
		}
		switch mode {
		case "":
			mode = "verify-full"
		case "verify-ca", "verify-full":
		default:
			return "", fmt.Errorf("sslmode=%s would talk to %s without verifying who it is. Set sslmode=verify-full in postgres_url, "+
				"with sslrootcert=FILE when the server's certificate is not from a public authority", mode, host)
		}
	}
	return cmp.Or(mode, "prefer"), nil
}

// onThisMachine tells whether what is sent to host stays on this machine.
func onThisMachine(host string) bool {
	if strings.HasPrefix(host, "/") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// hosts are all that the connection may go to.
func hosts(config *pgx.ConnConfig) []string {
	hosts := []string{config.Host}
	for _, fallback := range config.Fallbacks {
		hosts = append(hosts, fallback.Host)
	}
	return hosts
}

func describe(config *pgx.ConnConfig) string {
	hosts := []string{net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))}
	for _, fallback := range config.Fallbacks {
		host := net.JoinHostPort(fallback.Host, strconv.Itoa(int(fallback.Port)))
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return fmt.Sprintf("postgres://%s@%s/%s", config.User, strings.Join(hosts, ","), config.Database)
}

// parseError keeps what names a file, which is never a secret, and drops everything else.
func parseError(err error) error {
	var file *fs.PathError
	if errors.As(err, &file) {
		return fmt.Errorf("the PostgreSQL URL names a file that cannot be used: %w. Correct sslrootcert, sslcert or sslkey", file)
	}
	return malformed("the PostgreSQL URL cannot be used: its host, port, certificates or another parameter are not valid")
}
