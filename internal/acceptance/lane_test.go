package acceptance_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// The addresses that most tests of base snapshots and workspace runtimes use.
const (
	lane = baseSnapshot + ".it"
	work = workspaceRuntime + ".it"
)

// lane is a base snapshot. Each manifest line is a member of the manifest; name and source are there
// unless a line gives them, and so is a template_version that no other test has: an engine is
// shared, and a manifest names what it is baked in.
func (f *fixture) lane(label string, manifest []string, lines ...string) string {
	gives := givenBy(manifest)
	for _, given := range []struct{ attribute, line string }{
		{"name", `name = "web"`}, {"source", f.source()}, {"template_version", fmt.Sprintf("template_version = %q", f.Tag)},
	} {
		if !gives(given.attribute) {
			manifest = append([]string{given.line}, manifest...)
		}
	}
	if !givenBy(lines)("app") {
		lines = append([]string{`app = "shop"`}, lines...)
	}
	return f.block(baseSnapshot, label, append(lines, "manifest = {\n    "+strings.Join(manifest, "\n    ")+"\n  }")...)
}

// says is the manifest line of a bake that writes a text into the workspace.
func says(text string) string {
	return fmt.Sprintf(`commands = [["sh", "-c", "echo %s > base.txt"]]`, text)
}

// fromLane is the line by which a workspace starts from the base snapshot "it".
const fromLane = `base_snapshot = { id = ` + lane + `.snapshot_id, version = ` + lane + `.version }`

// runtime is a workspace runtime that starts from the base snapshot "it" unless a line says
// otherwise.
func (f *fixture) runtime(label, workspace string, lines ...string) string {
	if gives := givenBy(lines); !gives("base_snapshot") && !gives("source") {
		lines = append([]string{fromLane}, lines...)
	}
	if givenBy(lines)("base_snapshot") && !givenBy(lines)("source") {
		lines = append(lines, "source = null")
	}
	return f.block(workspaceRuntime, label, append([]string{f.workspaceID(workspace)}, lines...)...)
}

// nameOf is the name of a sandbox in the state.
func (f *fixture) nameOf(address string) string {
	f.t.Helper()
	return f.Show().Text(address, "name")
}

// snapshots are those that the backend has of ours.
func (f *fixture) snapshots() []string {
	f.t.Helper()
	if f.docker() {
		return f.engine.Objects("sandlot.owner=" + f.Owner).Images
	}
	if f.cloud != nil {
		return f.cloud.snapshots()
	}
	found, err := filepath.Glob(filepath.Join(f.DataDir, "local", "snapshots", "*.tar.zst"))
	if err != nil {
		f.t.Fatal(err)
	}
	return found
}

// haveSnapshots fails the test unless the backend has that many snapshots of ours.
func (f *fixture) haveSnapshots(want int) {
	f.t.Helper()
	if found := f.snapshots(); len(found) != want {
		f.t.Errorf("the backend has %d snapshots, expected %d: %v", len(found), want, found)
	}
}

// boxes are the names of the sandboxes of ours that the backend has.
func (f *fixture) boxes() []string {
	f.t.Helper()
	if f.docker() {
		return f.engine.Objects("sandlot.owner=" + f.Owner).Containers
	}
	if f.cloud != nil {
		return f.cloud.boxes()
	}
	entries, err := os.ReadDir(filepath.Join(f.DataDir, "local", "sandboxes"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// haveBoxes fails the test unless the backend has exactly that many sandboxes of ours, so that
// nothing of a bake is left.
func (f *fixture) haveBoxes(want int) {
	f.t.Helper()
	if found := f.boxes(); len(found) != want {
		f.t.Errorf("the backend has %d sandboxes, expected %d: %v", len(found), want, found)
	}
}

// loseSnapshot deletes a snapshot behind the provider's back.
func (f *fixture) loseSnapshot(id string) {
	f.t.Helper()
	if f.docker() {
		images := f.engine.Objects("sandlot.snapshot=" + id).Images
		if len(images) == 0 {
			f.t.Fatalf("the engine has no snapshot %s", id)
		}
		for _, image := range images {
			f.engine.Call(http.MethodDelete, "/images/"+url.PathEscape(image)+"?force=1", nil)
		}
		return
	}
	if f.cloud != nil {
		_, err := f.cloud.client.DeleteSnapshot(f.t.Context(), id)
		f.cloud.check(err)
		return
	}
	for _, suffix := range []string{".tar.zst", ".json"} {
		if err := os.Remove(filepath.Join(f.DataDir, "local", "snapshots", id+suffix)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// errorText is the text of the only error with a code.
func errorText(f *fixture, result *acctest.Result, code string) string {
	f.t.Helper()
	found := result.Diagnostics.Errors().Code(code)
	if len(found) != 1 {
		f.t.Fatalf("there are %d errors %q:\n%s", len(found), code, result)
	}
	return found[0].Detail
}

// mentions fails the test unless a text holds all parts.
func mentions(f *fixture, text string, parts ...string) {
	f.t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			f.t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}
