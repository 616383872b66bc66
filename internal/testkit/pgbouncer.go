package testkit

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// PgBouncer starts a PgBouncer in front of a database's server for one test. It hands out one of
// size server connections for each transaction. The URL that is returned is [Database.URL] by way
// of it.
func PgBouncer(t testing.TB, d *Database, size int) string {
	t.Helper()
	program, err := findProgram("pgbouncer", "/usr/sbin", "/usr/local/sbin")
	Need(t, "pgbouncer", err == nil, "install pgbouncer")
	folder, err := newServiceFolder("bouncer")
	fatalIf(t, err)
	port, err := freePort()
	fatalIf(t, err)
	fatalIf(t,
		writeServiceFile(folder, "users", fmt.Sprintf("\"%s\" \"%s\"\n", writerRole, d.server.password)),
		writeServiceFile(folder, "settings", fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = scram-sha-256
auth_file = %s
pool_mode = transaction
default_pool_size = %d
server_login_retry = 1
`, d.server.port, port, filepath.Join(folder, "users"), size)))
	s := &service{folder: folder, signal: "TERM", argv: []string{program, filepath.Join(folder, "settings")}}
	fatalIf(t, s.start())
	t.Cleanup(s.remove)
	through := &PostgresServer{port: port, password: d.server.password}
	address := through.url(writerRole, d.name)
	deadline := time.Now().Add(serverLimit)
	for {
		conn, err := pgx.Connect(t.Context(), address)
		if err == nil {
			_ = conn.Close(context.Background())
			return address
		}
		if time.Now().After(deadline) {
			t.Fatalf("PgBouncer does not answer: %v\n%s", err, s.log())
		}
		time.Sleep(50 * time.Millisecond)
	}
}
