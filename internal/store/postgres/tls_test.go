package postgres_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func TestVerifiedServer(t *testing.T) {
	t.Parallel()
	server := testkit.NewPostgresServer(t)
	database := server.Database(t)
	certificate, key := selfSigned(t)
	server.Encrypt(t, certificate, key)
	other, _ := selfSigned(t)
	for _, c := range []struct {
		name, trusted, mode string
		want                error
	}{
		{"trusted", certificate, "verify-full", nil},
		{"by its authority alone", certificate, "verify-ca", nil},
		{"not trusted", other, "verify-full", store.ErrUnavailable},
		{"not trusted either", other, "verify-ca", store.ErrUnavailable},
		{"not asked", other, "require", store.ErrUnavailable}, // which verifies where a certificate is named
	} {
		file := filepath.Join(t.TempDir(), "root.pem")
		if err := os.WriteFile(file, []byte(c.trusted), 0o600); err != nil {
			t.Fatal(err)
		}
		address := database.URL() + "?sslmode=" + c.mode + "&sslrootcert=" + url.QueryEscape(file)
		_, err := newStore(t, address).EnsureOwner(t.Context())
		if c.want == nil && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.want != nil {
			wantFailure(t, c.name, err, c.want)
			if err == nil || !strings.Contains(err.Error(), "sslrootcert") {
				t.Errorf("%s: %v has no remedy for certificates", c.name, err)
			}
		}
	}
}

// selfSigned makes a certificate for this machine's loopback, and its key.
func selfSigned(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, &template, &template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

func TestSocket(t *testing.T) {
	database := testkit.Postgres(t)
	s := newStore(t, database.SocketURL())
	_, under := mustLock(t, s, "key")
	mustInsert(under, t, s, 1)
}
