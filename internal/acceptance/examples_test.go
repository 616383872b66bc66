package acceptance_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// debianImage is what the examples name; tests put an image in its place that needs no registry.
var debianImage = regexp.MustCompile(`debian:[a-z0-9-]+`)

// TestExamplesApply applies every example of the documentation as it stands there. The second plan
// is empty.
func TestExamplesApply(t *testing.T) {
	t.Parallel()
	dirs := exampleDirs(t)
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		for _, dir := range dirs {
			t.Run(strings.ReplaceAll(dir, "/", "_"), func(t *testing.T) {
				t.Parallel()
				applyExample(newFixture(t, cli, exampleBackend(t, dir)), dir)
			})
		}
	})
}

func applyExample(f *fixture, dir string) {
	needBubblewrap(f.t)
	f.Setenv("SANDLOT_DATA_DIR", f.DataDir)
	f.Setenv("SANDLOT_OWNER", f.Owner)
	f.Setenv("SANDLOT_NAMESPACE", f.Tag)
	f.Setenv("TF_VAR_api_token", "a-token-for-tests")
	f.Setenv("TF_VAR_owner", f.Owner)
	f.Setenv("TF_VAR_data_dir", f.DataDir)
	f.Setenv("TF_VAR_workspace_id", f.Tag)
	f.Write("provider.tf", requiredProvider)
	for _, file := range exampleFiles(f.t, dir) {
		content := string(readAll(f.t, file))
		if strings.Contains(content, "required_providers") {
			f.Write("provider.tf", "")
		}
		content = debianImage.ReplaceAllString(content, f.image)
		content = strings.ReplaceAll(content, `"checks"`, `"`+f.Unique("checks")+`"`)
		f.Write(filepath.Base(file), content)
	}
	if f.docker() && strings.HasSuffix(dir, "quickstart") {
		f.Setenv("TF_VAR_docker_image", f.image)
	}
	f.Apply().Succeed()
	f.Plan().Empty()
	f.Destroy().Succeed()
}

const requiredProvider = "terraform {\n  required_providers {\n    sandlot = {\n      source = \"sandlot-dev/sandlot\"\n    }\n  }\n}\n"

// exampleDirs are the folders of examples/, relative to it, that hold a configuration.
func exampleDirs(t *testing.T) []string {
	t.Helper()
	root := filepath.Join(acctest.Root(), "examples")
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if files, err := filepath.Glob(filepath.Join(path, "*.tf")); err != nil || len(files) > 0 {
			dir, relErr := filepath.Rel(root, path)
			dirs = append(dirs, dir)
			return relErr
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) < 10 {
		t.Fatalf("only %d examples were found: %v", len(dirs), dirs)
	}
	return dirs
}

func exampleFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(acctest.Root(), "examples", dir, "*.tf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no configuration in %s (%v)", dir, err)
	}
	return files
}

// exampleBackend is docker for the examples that need an engine.
func exampleBackend(t *testing.T, dir string) string {
	t.Helper()
	for _, file := range exampleFiles(t, dir) {
		if strings.Contains(string(readAll(t, file)), "docker") {
			return "docker"
		}
	}
	return "local"
}
