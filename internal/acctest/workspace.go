package acctest

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// Workspace is a directory with a configuration, a state and an environment of its own. Its data
// directory, home and owner are its own too, so that tests do not meet.
type Workspace struct {
	T   testing.TB
	CLI CLI
	// Dir holds configuration and state. DataDir is the provider's, and made by it only. Home is the
	// home directory of everything that runs.
	Dir, DataDir, Home string
	// Owner is the provider's owner. Tag is in it and in every name made by Unique.
	Owner, Tag string
	// Always stands in every provider block.
	Always string
	env    map[string]string
}

// NewWorkspace makes a workspace whose CLI uses the given plugin; with an empty path it is built.
func NewWorkspace(t testing.TB, cli CLI, plugin string) *Workspace {
	t.Helper()
	if plugin == "" {
		plugin = Build(t)
	}
	base := t.TempDir()
	tag := randomHex()
	w := &Workspace{
		T: t, CLI: cli,
		Dir: filepath.Join(base, "config"), DataDir: filepath.Join(base, "data"), Home: filepath.Join(base, "home"),
		Owner: "acc-" + tag, Tag: tag,
	}
	for _, dir := range []string{w.Dir, w.Home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	settings := filepath.Join(base, "cli.tfrc")
	w.env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": w.Home, "LANG": "C.UTF-8",
		// No provider under test reaches anything beyond this machine by https.
		"HTTPS_PROXY":        testkit.DeadProxy,
		"TF_CLI_CONFIG_FILE": settings, "TF_IN_AUTOMATION": "1", "TF_INPUT": "0", "CHECKPOINT_DISABLE": "1",
	}
	for _, passed := range []string{"TMPDIR", "GOCOVERDIR"} {
		if value := os.Getenv(passed); value != "" {
			w.env[passed] = value
		}
	}
	w.UsePlugin("sandlot-dev/sandlot", plugin)
	w.Provider("")
	return w
}

// UsePlugin makes the CLI take the provider of a source address from a file, without `init`.
func (w *Workspace) UsePlugin(source, plugin string) {
	w.T.Helper()
	writeFile(w.T, w.env["TF_CLI_CONFIG_FILE"], fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  dev_overrides {\n    %q = %q\n  }\n  direct {}\n}\n", source, filepath.Dir(plugin)))
}

// Beside returns a second workspace over the same data directory and owner, with a state of its
// own: another checkout of somebody in the same team.
func (w *Workspace) Beside() *Workspace {
	w.T.Helper()
	other := *w
	other.Dir = w.T.TempDir()
	other.env = maps.Clone(w.env)
	other.Provider("")
	return &other
}

// Setenv sets a variable for all later commands; an empty value removes it.
func (w *Workspace) Setenv(name, value string) {
	if value == "" {
		delete(w.env, name)
		return
	}
	w.env[name] = value
}

// Unique returns a name that no other workspace uses.
func (w *Workspace) Unique(name string) string { return name + "-" + w.Tag }

// Provider writes the provider block: data directory and owner of the workspace, and what body
// adds.
func (w *Workspace) Provider(body string) {
	w.T.Helper()
	w.ProviderBlock(fmt.Sprintf("  data_dir = %q\n  owner    = %q\n%s", w.DataDir, w.Owner, body))
}

// ProviderBlock writes a provider block with that body and nothing else but Always.
func (w *Workspace) ProviderBlock(body string) {
	w.T.Helper()
	w.Write("provider.tf", "terraform {\n  required_providers {\n    sandlot = {\n      source = \"sandlot-dev/sandlot\"\n    }\n  }\n}\n\nprovider \"sandlot\" {\n"+body+"\n"+w.Always+"\n}\n")
}

// Config writes the resources, in place of those before.
func (w *Workspace) Config(hcl string) {
	w.T.Helper()
	w.Write("main.tf", hcl)
}

// Write writes one file of the configuration.
func (w *Workspace) Write(name, content string) {
	w.T.Helper()
	writeFile(w.T, filepath.Join(w.Dir, name), content)
}

func (w *Workspace) environ(more map[string]string) []string {
	all := maps.Clone(w.env)
	maps.Copy(all, more)
	environ := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		environ = append(environ, name+"="+all[name])
	}
	return environ
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func randomHex() string {
	var raw [4]byte
	_, _ = rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}
