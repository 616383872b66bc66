package postgres

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTransportSecurity(t *testing.T) {
	for _, c := range []struct {
		address string
		mode    string // of the environment
		want    string // "plain", "any", "verified" or what the error says
	}{
		{"postgres://u:p@127.0.0.1/d", "", "any"},
		{"postgres://u:p@localhost/d", "", "any"},
		{"postgres://u:p@[::1]:5433/d", "", "any"},
		{"postgres:///d?host=/var/run/postgresql", "", "plain"},
		{"postgres://u:p@127.0.0.1/d?sslmode=disable", "", "plain"},
		{"postgres://u:p@127.0.0.1/d", "disable", "plain"},
		{"postgres://u:p@127.0.0.1/d?sslmode=verify-full", "", "verified"},
		{"postgres://u:p@db.example.com/d", "", "verified"},
		{"postgres://u:p@db.example.com/d?sslmode=verify-full", "disable", "verified"},
		{"postgresql://u:p@10.0.0.7/d?application_name=x", "", "verified"},
		{"postgres://u:p@127.0.0.1,db.example.com/d", "", "verified"},
		{"postgres://u:p@127.0.0.1/d?host=db.example.com", "", "verified"},
		{"postgres://u:p@db.example.com/d?sslmode=disable", "", "sslmode=verify-full"},
		{"postgres://u:p@db.example.com/d?sslmode=allow", "", "sslmode=verify-full"},
		{"postgres://u:p@db.example.com/d?sslmode=prefer", "", "sslmode=verify-full"},
		{"postgres://u:p@db.example.com/d?sslmode=require", "", "sslmode=verify-full"},
		{"postgres://u:p@db.example.com/d?ssl=true", "", "sslmode=verify-full"},
		{"postgres://u:p@db.example.com/d?sslmode=verify-full&sslmode=disable", "", "sslmode=verify-full"},
		{"postgres://u:p@db.example.com/d", "require", "sslmode=verify-full"},
		{"postgres://u:p@127.0.0.1,db.example.com/d?sslmode=disable", "", "sslmode=verify-full"},
		{"postgres://u:p@127.0.0.1:5432,db.example.com:5432/d?sslmode=disable", "", "sslmode=verify-full"},
		{"postgres://u:p@[::1]:5432,[2001:db8::1]:5432/d?sslmode=disable", "", "sslmode=verify-full"},
		{"postgres://u:p@/d?host=/run/postgresql,db.example.com&sslmode=disable", "", "sslmode=verify-full"},
		{"postgres://u:p@127.0.0.1/d?sslmode=nonsense", "", "verify-ca"},
	} {
		t.Setenv("PGSSLMODE", c.mode)
		to, err := parse(c.address)
		// A plan, which contacts nothing, refuses what an apply would.
		if early := Check(c.address); (early == nil) != (err == nil) {
			t.Errorf("%s: at plan %v, at apply %v", c.address, early, err)
		}
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.address, err, c.want)
			}
			continue
		}
		configs := []*tls.Config{to.config.TLSConfig}
		for _, fallback := range to.config.Fallbacks {
			configs = append(configs, fallback.TLSConfig)
		}
		for _, config := range configs {
			switch verified := config != nil && !config.InsecureSkipVerify && config.ServerName != ""; c.want {
			case "plain":
				if config != nil {
					t.Errorf("%s is encrypted", c.address)
				}
			case "verified":
				if !verified {
					t.Errorf("%s is not verified", c.address)
				}
			case "any":
			default:
				t.Errorf("%s is accepted, want %s", c.address, c.want)
			}
		}
	}
}

func TestNoURLIsContactedAtFirst(t *testing.T) {
	s := New(Config{URL: "nonsense"})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), "id"); err == nil || !strings.Contains(err.Error(), "postgres://USER:PASSWORD@HOST") {
		t.Errorf("%v", err)
	}
}

// canary stands for a password, with characters that URLs and errors treat in their own ways.
const canary = "c4nary"

func TestRedacted(t *testing.T) {
	t.Setenv("PGUSER", "somebody")
	t.Setenv("PGPASSWORD", "from-"+canary)
	unreadable := filepath.Join(t.TempDir(), "absent.pem")
	broken := filepath.Join(t.TempDir(), "broken.pem")
	if err := os.WriteFile(broken, []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"postgres://u:" + canary + "@127.0.0.1:5433/d":                                    "postgres://u@127.0.0.1:5433/d",
		"postgres://u:" + canary + "%40%2F@127.0.0.1/d?sslmode=disable":                   "postgres://u@127.0.0.1:5432/d",
		"postgres://u@127.0.0.1/d?password=" + canary:                                     "postgres://u@127.0.0.1:5432/d",
		"postgres://127.0.0.1/d?sslpassword=" + canary:                                    "postgres://somebody@127.0.0.1:5432/d",
		"postgres://u:" + canary + "@127.0.0.1,localhost:1/d":                             "postgres://u@127.0.0.1:5432,localhost:1/d",
		"postgres://u:" + canary + "@127.0.0.1:1,localhost:2/d":                           "postgres://u@127.0.0.1:1,localhost:2/d",
		"postgres://u:" + canary + "@db.example.com/d":                                    "postgres://u@db.example.com:5432/d",
		"postgres://u:" + canary + "@db.example.com/d?sslmode=disable":                    unknownTarget,
		"postgres://u:p@" + canary + "@127.0.0.1/d":                                       unknownTarget,
		"postgres://u:1/" + canary + "@127.0.0.1/d":                                       unknownTarget,
		"postgres://u:1?" + canary + "@127.0.0.1/d":                                       unknownTarget,
		"postgres://u:" + canary + "%zz@127.0.0.1/d":                                      unknownTarget,
		"postgres://u:" + canary + "@127.0.0.1:port/d":                                    unknownTarget,
		"postgres://u:" + canary + "@[::1/d":                                              unknownTarget,
		"postgres://u@127.0.0.1/d?sslmode=" + canary:                                      unknownTarget,
		"postgres://u@127.0.0.1/d?connect_timeout=" + canary:                              unknownTarget,
		"postgres://u@127.0.0.1/d?%zz=" + canary:                                          unknownTarget,
		"postgres://u:" + canary + "@db.example.com/d?sslrootcert=" + unreadable:          unknownTarget,
		"postgres://u:" + canary + "@db.example.com/d?sslrootcert=" + broken:              unknownTarget,
		"postgres://u:" + canary + "@127.0.0.1/d?default_query_exec_mode=" + canary:       unknownTarget,
		"postgres://u:" + canary + "@127.0.0.1/d?target_session_attrs=" + canary:          unknownTarget,
		"host=127.0.0.1 password=" + canary:                                               unknownTarget,
		"mysql://u:" + canary + "@127.0.0.1/d":                                            unknownTarget,
		canary:                                                                            unknownTarget,
		"":                                                                                unknownTarget,
		"postgres://u:" + canary + "@127.0.0.1/d\x7f":                                     "",
		"postgres://u:" + canary + "#x@127.0.0.1:1/d?sslmode=disable&application_name=\n": "",
	} {
		if got := Redacted(address); want != "" && got != want || strings.Contains(got, canary) {
			t.Errorf("%q is described as %q, want %q", address, got, want)
		}
		if _, err := parse(address); err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := parse("postgres://u:p@db.example.com/d?sslrootcert=" + unreadable); err == nil || !strings.Contains(err.Error(), unreadable) {
		t.Errorf("%v does not name the file", err)
	}
}
