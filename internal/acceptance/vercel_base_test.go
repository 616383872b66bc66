package acceptance_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

// onSources replaces the fixture's simulator by one to which some addresses lead to an archive with one file.
func (f *fixture) onSources(content string, addresses ...string) {
	f.t.Helper()
	name := filepath.Join(f.t.TempDir(), "source.tar.gz")
	file, err := os.Create(name)
	if err != nil {
		f.t.Fatal(err)
	}
	zipped := gzip.NewWriter(file)
	archive := tar.NewWriter(zipped)
	err = archive.WriteHeader(&tar.Header{Name: "source.txt", Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg})
	if err == nil {
		_, err = archive.Write([]byte(content))
	}
	if err = errors.Join(err, archive.Close(), zipped.Close(), file.Close()); err != nil {
		f.t.Fatal(err)
	}
	sources := map[string]string{}
	for _, address := range addresses {
		sources[address] = name
	}
	f.cloud.server = simulator.Start(f.t, simulator.Config{WorkingDirectory: "/workspace", Sources: sources})
	f.Always = f.cloud.providerBody()
	f.Provider("")
}

// TestVercelBaseSnapshotSources bakes from each source that only the platform has. Another source is another
// hash, and with it another snapshot; taking the first source back bakes nothing.
func TestVercelBaseSnapshotSources(t *testing.T) {
	const repository, archive = "https://example.com/repository.git", "https://example.com/archive.tar.gz"
	onOne(t, func(f *fixture) {
		f.onSources("from the source", repository, archive)
		base := baseSnapshot + ".it"
		bake := func(source, command string) (hash, snapshot string) {
			f.t.Helper()
			f.Config(f.block(baseSnapshot, "it", `app = "agent"`,
				`manifest = { name = "sourced", source = `+source+`, commands = [["sh", "-c", "`+command+`"]] }`) +
				f.block(session, "it", f.named("box"), `source = { snapshot_id = `+base+`.snapshot_id }`,
					`setup = [{ command = ["sh", "-c", "`+command+`"] }]`))
			f.settled()
			state := f.Show()
			return state.Text(base, "manifest_hash"), state.Text(base, "snapshot_id")
		}
		const holds = "grep -q source source.txt"
		made := map[string]string{}
		sources := []string{
			`{ git = { url = "` + repository + `" } }`, `{ git = { url = "` + repository + `", revision = "main", depth = 1 } }`,
			`{ tarball_url = "` + archive + `" }`, `{ runtime = "node24" }`,
		}
		for _, source := range sources {
			command := holds
			if strings.Contains(source, "runtime") {
				command = "true"
			}
			hash, snapshot := bake(source, command)
			if other, twice := made[hash]; twice || snapshot == other {
				f.t.Errorf("%s has the hash of another source, or its snapshot", source)
			}
			made[hash] = snapshot
		}
		if hash, snapshot := bake(sources[0], holds); made[hash] != snapshot {
			f.t.Errorf("the first source was baked again, to %s", snapshot)
		}
		created := map[string]int{}
		for _, request := range f.cloud.server.Requests() {
			if request.Method == http.MethodPost && strings.HasSuffix(request.Path, "/sandboxes") {
				for _, member := range []string{`"type":"git"`, `"depth":1`, `"type":"tarball"`, `"runtime":"node24"`} {
					if strings.Contains(string(request.Body), member) {
						created[member]++
					}
				}
			}
		}
		// One seed for each.
		if created[`"type":"git"`] != 2 || created[`"depth":1`] != 1 || created[`"type":"tarball"`] != 1 || created[`"runtime":"node24"`] != 1 {
			f.t.Errorf("the seeds were made from %v", created)
		}
		for source, says := range map[string]string{
			`{ git = { url = "u" }, tarball_url = "t" }`: "exactly one of", `{ runtime = "" }`: "The value is empty", `{ rootfs = "/r" }`: "cannot honor",
		} {
			f.Config(f.block(baseSnapshot, "it", `app = "agent"`, `manifest = { name = "sourced", source = `+source+` }`))
			result := f.Validate()
			if found := result.Diagnostics.Errors(); result.ExitCode == 0 || len(found) == 0 || !strings.Contains(found[0].Detail+found[0].Summary, says) {
				f.t.Errorf("%s is judged by\n%s", source, result)
			}
		}
	}, "vercel")
}
