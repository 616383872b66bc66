package basesnapshot

import (
	"encoding/json"
	"maps"
	"os/exec"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/overlay"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// filesOf collects template files that are given by content.
func filesOf(t *testing.T, contents map[string]string) overlay.Set {
	t.Helper()
	specs := map[string]overlay.Spec{}
	for target, content := range contents {
		specs[target] = overlay.Spec{Content: []byte(content)}
	}
	set, err := overlay.Collect(t.Context(), specs, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// input is everything that a hash is made of.
type input struct {
	manifest    Manifest
	environment map[string]string
	allowlist   []string
}

func fullInput(t *testing.T) input {
	t.Helper()
	return input{
		manifest: Manifest{
			SchemaVersion: 1, Name: "web", Runtime: "node24", Source: backends.Source{Image: "debian:12"},
			SystemPackages: []string{"git", "curl"}, PackageManagers: map[string]string{"npm": "10.9.2"},
			Commands: [][]string{{"npm", "ci"}, {"sh", "-c", "echo <é> & \"\u2028\""}},
			Files:    filesOf(t, map[string]string{"a": "1", "b/c": "2"}), TemplateVersion: "7", MarkerPath: "/workspace/marker",
		},
		environment: map[string]string{"LANG": "C", "A": "b"},
		allowlist:   []string{"HTTPS_PROXY"},
	}
}

func (i input) hash(t *testing.T) string {
	t.Helper()
	hash, err := Hash(i.manifest, i.environment, i.allowlist)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// TestHashFormat holds the format: a changed hash would bake everything again.
func TestHashFormat(t *testing.T) {
	canonical, err := canonicalManifest(fullInput(t).manifest, fullInput(t).environment, fullInput(t).allowlist)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"allowlist":["HTTPS_PROXY"],"commands":[["npm","ci"],["sh","-c","echo <é> & \"` + "\u2028" + `\""]],` +
		`"environment":{"A":"b","LANG":"C"},"files":[` +
		`{"mode":"0644","path":"a","sha256":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"},` +
		`{"mode":"0644","path":"b/c","sha256":"d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"}],` +
		`"marker_path":"/workspace/marker","name":"web","package_managers":{"npm":"10.9.2"},"runtime":"node24","schema_version":1,` +
		`"source":{"image":"docker.io/library/debian:12"},"system_packages":["curl","git"],"template_version":"7"}`
	if string(canonical) != want {
		t.Errorf("the canonical form is\n%s\nwant\n%s", canonical, want)
	}
	if got := fullInput(t).hash(t); got != golden {
		t.Errorf("the hash is %s, want %s", got, golden)
	}
	if got := (input{}).hash(t); got != goldenEmpty {
		t.Errorf("the hash of nothing is %s, want %s", got, goldenEmpty)
	}
}

// TestHashByOthers computes hashes with Python's own JSON and SHA-256.
func TestHashByOthers(t *testing.T) {
	python, err := exec.LookPath("python3")
	testkit.Need(t, "python3", err == nil, "apt-get install python3")
	const program = `
import hashlib, json, sys
manifest, environment, allowlist = json.load(sys.stdin)
value = {
    "allowlist": sorted(set(allowlist or [])),
    "commands": manifest.get("commands", []),
    "environment": environment or {},
    "files": [{"mode": f["mode"], "path": f["path"], "sha256": f["sha256"]} for f in manifest.get("files", {}).get("entries") or []],
    "marker_path": manifest.get("marker_path", ""),
    "name": manifest["name"],
    "package_managers": manifest.get("package_managers", {}),
    "runtime": manifest.get("runtime", ""),
    "schema_version": manifest["schema_version"],
    "source": manifest.get("source", {}),
    "system_packages": sorted({name.strip() for name in manifest.get("system_packages", [])}),
    "template_version": manifest.get("template_version", ""),
}
text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
print(hashlib.sha256(text.encode()).hexdigest())
`
	full := fullInput(t)
	full.manifest.Source.Image = "docker.io/library/debian:12" // the full form of a reference is not Python's to know
	git := fullInput(t)
	git.manifest.Source = backends.Source{GitURL: "https://h/r.git", GitRevision: "main", GitDepth: 3}
	bare := input{manifest: Manifest{SchemaVersion: 1, Name: "x", SystemPackages: []string{" b", "a ", "b"}}}
	for name, in := range map[string]input{"full": full, "git": git, "bare": bare} {
		raw, err := json.Marshal([]any{in.manifest, in.environment, in.allowlist})
		if err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), python, "-c", program)
		command.Stdin = strings.NewReader(string(raw))
		said, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := in.hash(t), strings.TrimSpace(string(said)); got != want {
			t.Errorf("%s: the hash is %s, Python says %s", name, got, want)
		}
	}
}

// TestHashInputs changes one thing after the other.
func TestHashInputs(t *testing.T) {
	before := fullInput(t).hash(t)
	for name, c := range map[string]struct {
		change func(*input)
		flips  bool
	}{
		"nothing":                          {func(*input) {}, false},
		"schema version":                   {func(i *input) { i.manifest.SchemaVersion = 2 }, true},
		"name":                             {func(i *input) { i.manifest.Name = "other" }, true},
		"runtime":                          {func(i *input) { i.manifest.Runtime = "node22" }, true},
		"image tag":                        {func(i *input) { i.manifest.Source.Image = "debian:13" }, true},
		"image digest":                     {func(i *input) { i.manifest.Source.Image = "debian:12@sha256:" + strings.Repeat("a", 64) }, true},
		"image written in full":            {func(i *input) { i.manifest.Source.Image = "docker.io/library/debian:12" }, false},
		"snapshot as source":               {func(i *input) { i.manifest.Source = backends.Source{SnapshotID: "s"} }, true},
		"rootfs as source":                 {func(i *input) { i.manifest.Source = backends.Source{Rootfs: "/s"} }, true},
		"runtime as source":                {func(i *input) { i.manifest.Source = backends.Source{Runtime: "node24"} }, true},
		"repository as source":             {func(i *input) { i.manifest.Source = backends.Source{GitURL: "https://h/r.git"} }, true},
		"archive as source":                {func(i *input) { i.manifest.Source = backends.Source{TarballURL: "https://h/a.tar.gz"} }, true},
		"packages in another order":        {func(i *input) { i.manifest.SystemPackages = []string{"curl", "git"} }, false},
		"packages with space and twice":    {func(i *input) { i.manifest.SystemPackages = []string{" git", "curl\n", "git"} }, false},
		"one package more":                 {func(i *input) { i.manifest.SystemPackages = append(i.manifest.SystemPackages, "jq") }, true},
		"package manager version":          {func(i *input) { i.manifest.PackageManagers = map[string]string{"npm": "10.9.3"} }, true},
		"package manager name":             {func(i *input) { i.manifest.PackageManagers = map[string]string{"pnpm": "10.9.2"} }, true},
		"same packages, another command":   {func(i *input) { i.manifest.Commands[0] = []string{"npm", "install"} }, true},
		"commands in another order":        {func(i *input) { c := i.manifest.Commands; c[0], c[1] = c[1], c[0] }, true},
		"arguments split in another place": {func(i *input) { i.manifest.Commands[0] = []string{"npm ci"} }, true},
		"one command less":                 {func(i *input) { i.manifest.Commands = i.manifest.Commands[:1] }, true},
		"file content":                     {func(i *input) { i.manifest.Files = filesOf(t, map[string]string{"a": "x", "b/c": "2"}) }, true},
		"file path":                        {func(i *input) { i.manifest.Files = filesOf(t, map[string]string{"A": "1", "b/c": "2"}) }, true},
		"file mode":                        {func(i *input) { i.manifest.Files.Entries[0].Mode = 0o755 }, true},
		"one file less":                    {func(i *input) { i.manifest.Files.Entries = i.manifest.Files.Entries[:1] }, true},
		"template version":                 {func(i *input) { i.manifest.TemplateVersion = "8" }, true},
		"marker path":                      {func(i *input) { i.manifest.MarkerPath = "" }, true},
		"environment value":                {func(i *input) { i.environment["A"] = "c" }, true},
		"environment name":                 {func(i *input) { delete(i.environment, "A"); i.environment["B"] = "b" }, true},
		"allowlist":                        {func(i *input) { i.allowlist = nil }, true},
		"allowlist in another order":       {func(i *input) { i.allowlist = []string{"HTTPS_PROXY", "HTTPS_PROXY"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := fullInput(t)
			in.environment = maps.Clone(in.environment)
			c.change(&in)
			if flips := in.hash(t) != before; flips != c.flips {
				t.Errorf("the hash changes: %v, want %v", flips, c.flips)
			}
		})
	}
}

// What sha256sum prints of the canonical forms.
const (
	golden      = "3070c3f77ea3c3a5cfc10599695a78d9022c7286d0758dd66f89aae6d2899780"
	goldenEmpty = "3d03f0b43ecbef82c67b73738bb677e73e712c7a72a697bafc8f9f5d0d420d68"
)

// TestHashTellsSourcesApart: no two sources have one hash.
func TestHashTellsSourcesApart(t *testing.T) {
	seen := map[string]backends.Source{}
	for _, source := range []backends.Source{
		{},
		{Image: "a"},
		{Rootfs: "/a"},
		{SnapshotID: "a"},
		{Runtime: "a"},
		{TarballURL: "a"},
		{CloneOf: "a"},
		{GitURL: "a"},
		{GitURL: "b"},
		{GitURL: "a", GitRevision: "b"},
		{GitURL: "a", GitRevision: "c"},
		{GitURL: "a", GitDepth: 1},
		{GitURL: "a", GitDepth: 2},
	} {
		in := fullInput(t)
		in.manifest.Source = source
		hash := in.hash(t)
		if other, twice := seen[hash]; twice {
			t.Errorf("%+v and %+v have one hash", source, other)
		}
		seen[hash] = source
	}
}
