package datasources_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// fill makes one of everything. sh and the programs are what busybox and coreutils share.
const fill = `
  setup = [{
    command = ["/bin/sh", "-c", <<-SHELL
      set -e
      umask 022
      printf hello > a.txt
      printf '\377\376' > raw
      : > empty
      mkdir -p sub/deep
      printf 12345 > sub/deep/b
      chmod 0750 sub/deep/b
      ln -s a.txt link
      ln -s /etc/passwd out
      ln -s nowhere dangling
      mkfifo pipe
      head -c 1048577 /dev/zero > large
    SHELL
    ]
  }]
`

const look = `
data "sandlot_directory" "top" {
  record_id = sandlot_persistent_sandbox.a.record_id
}

data "sandlot_directory" "all" {
  record_id = sandlot_persistent_sandbox.a.record_id
  path      = "./sub/"
  recursive = true
}

data "sandlot_directory" "absolute" {
  record_id = sandlot_persistent_sandbox.a.record_id
  path      = "${sandlot_persistent_sandbox.a.workspace}/sub"
}

data "sandlot_file" "text" {
  record_id = sandlot_persistent_sandbox.a.record_id
  path      = "a.txt"
  max_bytes = 5
}

data "sandlot_file" "raw" {
  record_id = sandlot_persistent_sandbox.a.record_id
  path      = "raw"
}

data "sandlot_file" "empty" {
  record_id = sandlot_persistent_sandbox.a.record_id
  path      = "empty"
}

data "sandlot_file" "link" {
  record_id = sandlot_persistent_sandbox.a.record_id
  path      = "link"
}

data "sandlot_file" "mode" {
  record_id = sandlot_persistent_sandbox.a.record_id
  path      = "sub/deep/b"
}

data "sandlot_file" "absent" {
  record_id = sandlot_persistent_sandbox.a.record_id
  path      = "absent/deeper"
}
`

// place is where the same test runs: a backend with what its sandboxes need.
type place struct {
	w *acctest.Workspace
	// settings are those of the sandbox.
	settings string
	// look holds that work does nothing but read.
	look func(t *testing.T, work func())
}

func TestAccInsideLocal(t *testing.T) {
	t.Parallel()
	testkit.Bubblewrap(t)
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		w := acctest.NewWorkspace(t, cli, "")
		p := place{w, "  backend = \"local\"\n", func(t *testing.T, work func()) {
			t.Helper()
			untouched(t, w, work)
		}}
		record := testInside(t, p)
		testRefusals(t, w, record)
		testGone(t, w, record)
	})
}

func TestAccInsideDocker(t *testing.T) {
	t.Parallel()
	engine := acctest.DockerEngine(t)
	image := testkit.DockerImage(t)
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		w := acctest.NewWorkspace(t, cli, "")
		t.Cleanup(func() { engine.CleanUp("sandlot.owner=" + w.Owner) })
		proxy := acctest.NewEngineProxy(t, engine)
		w.Provider(fmt.Sprintf("  docker = { host = %q }\n", proxy.Host()))
		settings := fmt.Sprintf("  backend = \"docker\"\n  source = { image = %q }\n", image)
		record := testInside(t, place{w, settings, func(t *testing.T, work func()) {
			t.Helper()
			proxy.Forget()
			untouched(t, w, work)
			if writes := proxy.Writes(); len(writes) > 0 {
				t.Errorf("looking called %q", writes)
			}
		}})
		testRefusals(t, w, record)
	})
}

// testInside looks into a running and a stopped sandbox, and returns its record.
func testInside(t *testing.T, p place) string {
	t.Helper()
	const body = "resource \"sandlot_persistent_sandbox\" \"a\" {\n%s  name = %q\n%s%s}\n"
	name := p.w.Unique("a")
	p.w.Config(fmt.Sprintf(body, p.settings, name, fill, "  desired_state = \"running\"\n") + look)
	p.w.Apply().Succeed()
	testLook(t, p.w.Show())
	p.look(t, func() { p.w.Plan().Empty() })

	stopped := fmt.Sprintf(body, p.settings, name, fill, "  desired_state = \"stopped\"\n")
	p.w.Config(stopped)
	p.w.Apply().Succeed()
	p.w.Config(stopped + look)
	p.look(t, func() {
		p.w.Apply().Succeed()
		p.w.Plan().Empty()
	})
	state := p.w.Show()
	testLook(t, state)
	if status := state.Text("sandlot_persistent_sandbox.a", "status"); status != "stopped" {
		t.Errorf("the sandbox is %s after looking", status)
	}
	return state.Text("sandlot_persistent_sandbox.a", "record_id")
}

func testLook(t *testing.T, state *acctest.State) {
	t.Helper()
	workspace := state.Text("sandlot_persistent_sandbox.a", "workspace")
	entry := func(dir, path, kind, mode string, size, link any) map[string]any {
		return map[string]any{
			"path": path, "absolute_path": filepath.Join(workspace, dir, path), "type": kind, "mode": mode, "size": size, "link_target": link,
		}
	}
	want(t, state, "data.sandlot_directory.top", map[string]any{"path": nil, "entries": []any{
		entry("", "a.txt", "file", "0644", 5.0, nil),
		entry("", "dangling", "symlink", "0777", nil, "nowhere"),
		entry("", "empty", "file", "0644", 0.0, nil),
		entry("", "large", "file", "0644", 1048577.0, nil),
		entry("", "link", "symlink", "0777", nil, "a.txt"),
		entry("", "out", "symlink", "0777", nil, "/etc/passwd"),
		entry("", "pipe", "fifo", "0644", nil, nil),
		entry("", "raw", "file", "0644", 2.0, nil),
		entry("", "sub", "directory", "0755", nil, nil),
	}})
	want(t, state, "data.sandlot_directory.all", map[string]any{"entries": []any{
		entry("sub", "deep", "directory", "0755", nil, nil),
		entry("sub", "deep/b", "file", "0750", 5.0, nil),
	}})
	want(t, state, "data.sandlot_directory.absolute", map[string]any{"entries": []any{
		entry("sub", "deep", "directory", "0755", nil, nil),
	}})
	// The hashes are those of sha256sum.
	const hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	want(t, state, "data.sandlot_file.text", map[string]any{
		"exists": true, "content": "hello", "content_base64": "aGVsbG8=", "sha256": hello, "size": 5.0, "mode": "0644",
	})
	want(t, state, "data.sandlot_file.link", map[string]any{"exists": true, "content": "hello", "sha256": hello})
	want(t, state, "data.sandlot_file.raw", map[string]any{
		"exists": true, "content": nil, "content_base64": "//4=", "size": 2.0,
		"sha256": "b3d510ef04275ca8e698e5b3cbb0ece3949ef9252f0cdc839e9ee347409a2209",
	})
	want(t, state, "data.sandlot_file.empty", map[string]any{
		"exists": true, "content": "", "content_base64": "", "size": 0.0,
		"sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	})
	want(t, state, "data.sandlot_file.mode", map[string]any{"exists": true, "content": "12345", "mode": "0750"})
	want(t, state, "data.sandlot_file.absent", map[string]any{
		"exists": false, "content": nil, "content_base64": nil, "sha256": nil, "size": nil, "mode": nil,
	})
}

// testRefusals looks where it must not, by a record id that is known.
func testRefusals(t *testing.T, w *acctest.Workspace, record string) {
	t.Helper()
	w.Config("removed {\n  from = sandlot_persistent_sandbox.a\n  lifecycle {\n    destroy = false\n  }\n}\n")
	w.Apply().Succeed()
	refuse(t, w, func() *acctest.Result { return w.Validate() }, []refusal{
		{"sandlot_file", record, "../b", "invalid_value", "path"},
		{"sandlot_file", record, ".", "invalid_value", "path"},
		{"sandlot_file", record, "sub/", "invalid_value", "path"},
		{"sandlot_file", record, "", "invalid_value", "path"},
		{"sandlot_directory", record, "../..", "invalid_value", "path"},
		{"sandlot_directory", record, "", "invalid_value", "path"},
	})
	refuse(t, w, func() *acctest.Result { return w.Plan().Result }, []refusal{
		{"sandlot_file", record, "out", "path_escapes", "path"},
		{"sandlot_file", record, "large", "invalid", "path"},
		{"sandlot_file", record, "sub", "invalid", "path"},
		{"sandlot_file", record, "pipe", "invalid", "path"},
		{"sandlot_file", "absent", "a.txt", "not_found", "record_id"},
		{"sandlot_directory", record, "absent", "file_not_found", "path"},
		{"sandlot_directory", record, "a.txt", "invalid", "path"},
		{"sandlot_directory", record, "out", "path_escapes", "path"},
		{"sandlot_directory", "absent", "sub", "not_found", "record_id"},
	})
	w.Config(refusal{"sandlot_file", record, "large", "", ""}.config("x", "  max_bytes = 67108865\n"))
	if result := w.Validate(); result.ExitCode != 1 || result.Diagnostics.Errors()[0].Attribute() != "max_bytes" {
		t.Errorf("too high a bound is accepted:\n%s", result)
	}
	w.Config(refusal{"sandlot_file", record, "large", "", ""}.config("x", "  max_bytes = 67108864\n"))
	w.Plan().Succeed()
}

// refusal is one data source that must fail with a code on an attribute.
type refusal struct{ kind, record, path, code, attribute string }

func (r refusal) config(label, more string) string {
	return fmt.Sprintf("data %q %q {\n  record_id = %q\n  path = %q\n%s}\n", r.kind, label, r.record, r.path, more)
}

// refuse has all of them in one configuration, and finds the error of each.
func refuse(t *testing.T, w *acctest.Workspace, run func() *acctest.Result, refusals []refusal) {
	t.Helper()
	var config strings.Builder
	for i, r := range refusals {
		config.WriteString(r.config(fmt.Sprintf("r%d", i), ""))
	}
	w.Config(config.String())
	var result *acctest.Result
	untouched(t, w, func() { result = run() })
	found := map[string][]string{}
	for _, d := range result.Diagnostics.Errors() {
		if d.Snippet == nil {
			t.Fatalf("an error is on no attribute:\n%s", d)
		}
		found[d.Snippet.Context] = append(found[d.Snippet.Context], d.Code+" on "+d.Attribute())
	}
	for i, r := range refusals {
		context := fmt.Sprintf("data %q %q", r.kind, fmt.Sprintf("r%d", i))
		if errors := found[context]; !slices.Equal(errors, []string{r.code + " on " + r.attribute}) {
			t.Errorf("%+v failed with %q", r, errors)
		}
	}
}

// testGone looks into a sandbox that somebody fills up, takes over, moves or removes.
func testGone(t *testing.T, w *acctest.Workspace, record string) {
	t.Helper()
	config := fmt.Sprintf("data \"sandlot_directory\" \"x\" {\n  record_id = %q\n  recursive = true\n}\n", record)
	folder := filepath.Join(w.DataDir, "local", "sandboxes", w.Unique("a"))
	many := filepath.Join(folder, "workspace", "many")
	if err := os.Mkdir(many, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		if err := os.WriteFile(filepath.Join(many, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.Config(config)
	if plan := w.Plan().FailWith("invalid"); !strings.Contains(plan.Diagnostics.Errors()[0].Detail, "10000 entries") {
		t.Errorf("the bound is not told:\n%s", plan)
	}

	other := w.Owner
	w.Owner = "other"
	w.Provider("")
	failsOn(t, w, config, "not_ours", "record_id")
	w.Owner = other
	w.Provider("")

	id := filepath.Join(w.DataDir, "id")
	before, err := os.ReadFile(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(id, []byte("elsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	failsOn(t, w, config, "other_binding", "record_id")
	if err := os.WriteFile(id, before, 0o600); err != nil {
		t.Fatal(err)
	}

	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	failsOn(t, w, config, "sandbox_missing", "record_id")
}
