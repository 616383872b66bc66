package docker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docker/cli/cli/config"
)

// restoreConfigDir points the Docker CLI's package, which reads its directory once, to another one.
func restoreConfigDir(t *testing.T, directory string) {
	t.Helper()
	before := config.Dir()
	config.SetDir(directory)
	t.Cleanup(func() { config.SetDir(before) })
}

func writeCertificate(t *testing.T, server *httptest.Server) string {
	t.Helper()
	return writePEM(t, server.Certificate().Raw)
}

func writeOtherCertificate(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "other"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return writePEM(t, raw)
}

func writePEM(t *testing.T, raw []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
