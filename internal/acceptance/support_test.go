package acceptance_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	_ "modernc.org/sqlite" // the driver that reads the store past the provider

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// dockerImage makes sure that the test image is there and returns its reference.
func dockerImage(t testing.TB) string {
	t.Helper()
	return testkit.DockerImage(t)
}

// storeRows describes the rows of the store, past the provider.
func storeRows(t testing.TB, dataDir string) string {
	t.Helper()
	file := filepath.Join(dataDir, "sandlot.db")
	if _, err := os.Stat(file); err != nil {
		return "no store\n"
	}
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	rows, err := db.Query(`SELECT generation, committed, attachment <> '', intent IS NOT NULL FROM records ORDER BY generation`)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rows.Next() {
		var generation int
		var committed, attached, pending bool
		if err := rows.Scan(&generation, &committed, &attached, &pending); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "row: generation %d, committed %t, attached %t, intent %t\n", generation, committed, attached, pending)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	b.WriteString(snapshotRows(t, db))
	return b.String()
}

// snapshotRows describes the registry of base snapshots.
func snapshotRows(t testing.TB, db *sql.DB) string {
	t.Helper()
	rows, err := db.Query(`SELECT status, is_current FROM snapshots ORDER BY created_at`)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rows.Next() {
		var status string
		var current bool
		if err := rows.Scan(&status, &current); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "snapshot: %s, current %t\n", status, current)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func readAll(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func unpackZstd(t testing.TB, content []byte) []byte {
	t.Helper()
	decoder, err := zstd.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	unpacked, err := io.ReadAll(decoder)
	if err != nil {
		t.Fatal(err)
	}
	return unpacked
}

// workspaceHash is the part of a derived name that stands for a workspace id.
func workspaceHash(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:12]
}
