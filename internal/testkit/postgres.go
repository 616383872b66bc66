package testkit

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	postgresHint = "install postgresql"
	// serverLimit is how long a server may take to answer.
	serverLimit = 30 * time.Second

	adminRole  = "postgres"
	writerRole = "sandlot"
	readerRole = "reader"
)

// PostgresServer is a real PostgreSQL server of the tests' own, on this machine's loopback and on a
// socket, with password authentication.
type PostgresServer struct {
	service  service
	port     int
	password string // of every role
	made     atomic.Int64
}

// Database is a database of one test's own.
type Database struct {
	server *PostgresServer
	name   string
}

var sharedPostgres = sync.OnceValues(newPostgresServer)

// Postgres makes a database on a server that all tests of the binary share. It is dropped with the
// test.
func Postgres(t testing.TB) *Database {
	t.Helper()
	needPostgres(t)
	server, err := sharedPostgres()
	fatalIf(t, err)
	return server.Database(t)
}

// NewPostgresServer starts a server for one test alone, which may stop it.
func NewPostgresServer(t testing.TB) *PostgresServer {
	t.Helper()
	needPostgres(t)
	server, err := newPostgresServer()
	fatalIf(t, err)
	t.Cleanup(server.service.remove)
	return server
}

func needPostgres(t testing.TB) {
	t.Helper()
	_, err := postgresProgram("initdb")
	Need(t, "postgres", err == nil, postgresHint)
}

func postgresProgram(name string) (string, error) {
	return findProgram(name, "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql@*/bin")
}

func newPostgresServer() (*PostgresServer, error) {
	folder, err := newServiceFolder("pg")
	if err != nil {
		return nil, err
	}
	s := &PostgresServer{password: rand.Text()}
	initdb, err := postgresProgram("initdb")
	if err != nil {
		return nil, err
	}
	if err := writeServiceFile(folder, "password", s.password); err != nil {
		return nil, err
	}
	data := filepath.Join(folder, "data")
	output, err := serviceCommand(folder, initdb, "--pgdata", data, "--username", adminRole, "--pwfile", filepath.Join(folder, "password"),
		"--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, output)
	}
	postgres, err := postgresProgram("postgres")
	if err != nil {
		return nil, err
	}
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	// Durability is not what the tests are about.
	s.service = service{folder: folder, signal: "INT", argv: []string{
		postgres, "-D", data, "-p", fmt.Sprint(s.port), "-k", folder, "-c", "listen_addresses=127.0.0.1",
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off",
	}}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, s.admin(context.Background(), "postgres", fmt.Sprintf(`
		CREATE ROLE %[1]s LOGIN PASSWORD '%[3]s';
		CREATE ROLE %[2]s LOGIN PASSWORD '%[3]s' IN ROLE pg_read_all_data;`, writerRole, readerRole, s.password))
}

// start waits until the server answers.
func (s *PostgresServer) start() error {
	if err := s.service.start(); err != nil {
		return err
	}
	deadline := time.Now().Add(serverLimit)
	for {
		err := s.admin(context.Background(), "postgres", "SELECT 1")
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("PostgreSQL does not answer: %w\n%s", err, s.service.log())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// admin runs statements as the superuser.
func (s *PostgresServer) admin(ctx context.Context, database, statements string) error {
	conn, err := pgx.Connect(ctx, s.url(adminRole, database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statements)
	return err
}

func (s *PostgresServer) url(role, database string) string {
	address := url.URL{
		Scheme: "postgres", User: url.UserPassword(role, s.password),
		Host: fmt.Sprintf("127.0.0.1:%d", s.port), Path: database,
	}
	return address.String()
}

// Stop ends the server and cuts all connections.
func (s *PostgresServer) Stop(t testing.TB) {
	t.Helper()
	fatalIf(t, s.service.stop())
}

// Start starts a stopped server, with its data and at its old address.
func (s *PostgresServer) Start(t testing.TB) {
	t.Helper()
	fatalIf(t, s.start())
}

// Restart is Stop and Start.
func (s *PostgresServer) Restart(t testing.TB) {
	t.Helper()
	s.Stop(t)
	s.Start(t)
}

// Encrypt makes the server offer TLS with a certificate and key in PEM.
func (s *PostgresServer) Encrypt(t testing.TB, certificate, key string) {
	t.Helper()
	fatalIf(t,
		writeServiceFile(s.service.folder, "server.crt", certificate),
		writeServiceFile(s.service.folder, "server.key", key),
		s.admin(t.Context(), "postgres", "ALTER SYSTEM SET ssl_cert_file = '"+filepath.Join(s.service.folder, "server.crt")+"'"),
		s.admin(t.Context(), "postgres", "ALTER SYSTEM SET ssl_key_file = '"+filepath.Join(s.service.folder, "server.key")+"'"),
		s.admin(t.Context(), "postgres", "ALTER SYSTEM SET ssl = on"),
	)
	s.Restart(t)
}

// Database makes a database that is dropped with the test, when the server runs then.
func (s *PostgresServer) Database(t testing.TB) *Database {
	t.Helper()
	d := &Database{server: s, name: fmt.Sprintf("test%d", s.made.Add(1))}
	fatalIf(t, s.admin(t.Context(), "postgres", fmt.Sprintf("CREATE DATABASE %s OWNER %s", d.name, writerRole)))
	t.Cleanup(func() {
		_ = s.admin(context.Background(), "postgres", fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", d.name))
	})
	return d
}

// Server is the server that the database is on.
func (d *Database) Server() *PostgresServer { return d.server }

// Name is what the server calls the database.
func (d *Database) Name() string { return d.name }

// URL is the database for the role that owns it.
func (d *Database) URL() string { return d.server.url(writerRole, d.name) }

// ReadOnlyURL is the database for a role that may read everything and write nothing.
func (d *Database) ReadOnlyURL() string { return d.server.url(readerRole, d.name) }

// SocketURL is the database by the server's socket, for the role that owns it.
func (d *Database) SocketURL() string {
	return fmt.Sprintf("postgres://%s:%s@/%s?host=%s&port=%d",
		writerRole, d.server.password, d.name, url.QueryEscape(d.server.service.folder), d.server.port)
}

// Password is that of every role.
func (d *Database) Password() string { return d.server.password }

// Exec runs statements as the superuser.
func (d *Database) Exec(t testing.TB, statements string) {
	t.Helper()
	fatalIf(t, d.server.admin(t.Context(), d.name, statements))
}

// Text reads one value as the superuser, of a query that casts it to a text.
func (d *Database) Text(t testing.TB, query string, arguments ...any) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.server.url(adminRole, d.name))
	fatalIf(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	var value string
	fatalIf(t, conn.QueryRow(t.Context(), query, arguments...).Scan(&value))
	return value
}

// Cut ends the connections to the database for which condition holds, an expression on
// pg_stat_activity, and waits until they are gone.
func (d *Database) Cut(t testing.TB, condition string) {
	t.Helper()
	where := " FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND (" + condition + ")"
	if d.Text(t, "SELECT count(pg_terminate_backend(pid))::text"+where) == "0" {
		t.Fatalf("no connection is one where %s", condition)
	}
	for range 100 {
		if d.Text(t, "SELECT count(*)::text"+where) == "0" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("connections stay where %s", strings.TrimSpace(condition))
}
