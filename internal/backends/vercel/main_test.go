package vercel_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Offline(m, liveVariable) }

// needExecutor skips, or fails where it is required, without what runs commands in the simulator.
func needExecutor(t *testing.T) {
	t.Helper()
	testkit.Bubblewrap(t)
}

// config reaches a simulator, as fast as it answers.
func config(server *simulator.Server) vercel.Config {
	return vercel.Config{
		BaseURL: server.URL(), Token: server.Token(), TeamID: simulator.DefaultTeam, ProjectID: simulator.DefaultProject.ID,
		RequestsPerSecond: 1000, RetryWait: 10 * time.Millisecond, LongestRetryWait: 50 * time.Millisecond,
		PollInterval: 10 * time.Millisecond, SettleTime: time.Second,
	}
}

const (
	repository = "https://example.com/marker.git"
	tarball    = "https://example.com/marker.tar.gz"
)

// sources are an archive with one file, by the addresses of the suite.
func sources(t simulator.TB, directory string) map[string]string {
	t.Helper()
	name := filepath.Join(directory, "marker.tar.gz")
	file, err := os.Create(name)
	if err != nil {
		t.Fatalf("%v", err)
	}
	zipped := gzip.NewWriter(file)
	archive := tar.NewWriter(zipped)
	content := []byte("marker")
	err = archive.WriteHeader(&tar.Header{Name: "marker", Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg})
	if err == nil {
		_, err = archive.Write(content)
	}
	if err = errors.Join(err, archive.Close(), zipped.Close(), file.Close()); err != nil {
		t.Fatalf("%v", err)
	}
	return map[string]string{repository: name, tarball: name}
}
