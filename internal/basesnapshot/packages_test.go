package basesnapshot

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/docker"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// noting is a package manager that only writes down how it was called.
const noting = `#!/bin/sh
{
  printf '%s' "${0##*/}"
  for argument; do printf '|%s' "$argument"; done
  echo "${DEBIAN_FRONTEND:+ ($DEBIAN_FRONTEND)}"
} >> /workspace/calls
`

// TestInstallers runs the scripts against stand-ins for the package managers, inside a sandbox.
func TestInstallers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	marks := backends.Marks{Owner: "test", Name: "box", Kind: backends.Session, Record: "test"}
	if _, err := f.backend.Create(t.Context(), marks, backends.Spec{}); err != nil {
		t.Fatal(err)
	}
	run := func(command backends.Command) (string, int) {
		t.Helper()
		// Nobody is root here, and the host's own package manager must not be found.
		command.User, command.Environment = "", map[string]string{"PATH": "/workspace/bin", "DEBIAN_FRONTEND": ""}
		if command.Argv[0] == "sh" {
			command.Argv[0] = "/bin/sh"
		}
		result, err := f.backend.Exec(t.Context(), marks.Name, command)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(result.Stdout)), result.ExitCode
	}
	write := func(name, content string) {
		t.Helper()
		if err := f.backend.WriteFile(t.Context(), marks.Name, path.Join("/workspace/bin", name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(file string) {
		t.Helper()
		if err := f.backend.RemoveFile(t.Context(), marks.Name, file); err != nil {
			t.Fatal(err)
		}
	}
	write("rm", "#!/bin/sh\nexit 0\n")
	if found, status := run(findCommand()); found != "" || status != 0 {
		t.Errorf("without a package manager it found %q, status %d", found, status)
	}
	packages := []string{"curl=8.5.0-2", "g++", "two words; $(id)"}
	for program, want := range map[string][]string{
		"apt-get":  {"apt-get|update (noninteractive)", "apt-get|install|-y|--no-install-recommends|curl=8.5.0-2|g++|two words; $(id) (noninteractive)", "apt-get|clean (noninteractive)"},
		"apk":      {"apk|add|--no-cache|curl=8.5.0-2|g++|two words; $(id)"},
		"dnf":      {"dnf|install|-y|--setopt=install_weak_deps=False|curl=8.5.0-2|g++|two words; $(id)", "dnf|clean|all"},
		"microdnf": {"microdnf|install|-y|--setopt=install_weak_deps=0|curl=8.5.0-2|g++|two words; $(id)", "microdnf|clean|all"},
		"zypper":   {"zypper|--non-interactive|refresh", "zypper|--non-interactive|install|--no-recommends|curl=8.5.0-2|g++|two words; $(id)", "zypper|clean|--all"},
		"pacman":   {"pacman|-Syu|--noconfirm|--needed|curl=8.5.0-2|g++|two words; $(id)", "pacman|-Scc|--noconfirm"},
	} {
		write(program, noting)
		if found, _ := run(findCommand()); found != program {
			t.Errorf("with %s it found %q", program, found)
		}
		if said, status := run(installCommand(program, packages)); status != 0 {
			t.Errorf("%s: status %d: %s", program, status, said)
		}
		calls, _ := run(backends.Command{Argv: []string{"/bin/cat", "/workspace/calls"}})
		if got := strings.Split(calls, "\n"); !slices.Equal(got, want) {
			t.Errorf("%s was called as %q, want %q", program, got, want)
		}
		remove("/workspace/calls")

		// What fails is not hidden by what would come after it.
		write(program, "#!/bin/sh\necho called >> /workspace/calls\nexit 100\n")
		if _, status := run(installCommand(program, packages)); status != 100 {
			t.Errorf("a failing %s ends with status %d", program, status)
		}
		if calls, _ := run(backends.Command{Argv: []string{"/bin/cat", "/workspace/calls"}}); calls != "called" {
			t.Errorf("a failing %s was called again: %q", program, calls)
		}
		remove("/workspace/calls")
		remove(path.Join("/workspace/bin", program))
	}
}

// TestInstallersGetArguments: no script puts a package into its own text.
func TestInstallersGetArguments(t *testing.T) {
	for _, known := range installers {
		if strings.Contains(known.script, "$1") || strings.Count(known.script, `"$@"`) != 1 {
			t.Errorf("%s does not get all packages as arguments: %s", known.program, known.script)
		}
	}
}

// TestBakeOnDocker bakes with system packages, as root, on a real engine.
func TestBakeOnDocker(t *testing.T) {
	if testing.Short() {
		t.Skip("containers take their time")
	}
	t.Parallel()
	image := testkit.DockerImage(t)
	f := newFixture(t)
	backend := docker.New(docker.Config{})
	t.Cleanup(func() { _ = backend.Close() })
	prefix := "bs-" + sandbox.NewToken()[:8]
	m := &Manager{NamePrefix: prefix, Sandboxes: &sandbox.Manager{Backend: backend, Store: f.store, ExplicitOwner: prefix}}
	ctx := t.Context()

	// The source has a package manager that installs a program of the package's name.
	source := backends.Marks{Owner: prefix, Name: prefix + "-source", Kind: backends.Session, Record: prefix}
	t.Cleanup(func() {
		if err := backend.Delete(detached(t), source, backends.DeleteOptions{Volumes: true, Snapshots: true}); err != nil {
			t.Error(err)
		}
	})
	if _, err := backend.Create(ctx, source, backends.Spec{Source: backends.Source{Image: image}}); err != nil {
		t.Fatal(err)
	}
	const manager = `#!/bin/sh
[ "$(id -u)" = 0 ] || exit 1
[ "$1" = add ] || exit 1
shift 2
for package; do printf '#!/bin/sh\necho %s 1.2.3\n' "$package" > "/bin/$package"; chmod 755 "/bin/$package"; done
`
	if err := backend.WriteFile(ctx, source.Name, "/bin/apk", []byte(manager), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := backend.CreateSnapshot(ctx, source, prefix+"-source"); err != nil {
		t.Fatal(err)
	}

	request := asked("1")
	request.Manifest.Source = backends.Source{SnapshotID: prefix + "-source"}
	request.Manifest.SystemPackages = []string{"tool-b", "tool-a"}
	request.Manifest.PackageManagers = map[string]string{"tool-a": "1.2.3"}
	request.Manifest.MarkerPath = "/opt/sandlot/marker.json"
	request.Manifest.Files = filesOf(t, map[string]string{"/etc/tool.conf": "configured", "file": "x"})
	request.Manifest.Commands = append(request.Manifest.Commands, []string{"sh", "-c", "env > /etc/seen; echo $GIVEN > given"})
	request.Checks = append(request.Checks, SmokeCheck{Command: []string{"tool-b"}, Expect: "tool-b 1.2.3"}, SmokeCheck{Command: []string{"cat", "/etc/tool.conf"}, Expect: "configured"})
	request.Environment.Values = map[string]string{"GIVEN": "given-value"}
	first, err := m.Create(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if outcome, err := m.Delete(detached(t), shop, first.Attachment, true, Retention{}); err != nil || outcome != sandbox.Removed {
			t.Errorf("purge: %q, %v", outcome, err)
		}
		if left, err := backend.ListSnapshots(detached(t), first.Attachment.Record); err != nil || len(left) > 0 {
			t.Errorf("left are %+v, %v", left, err)
		}
	})
	if !first.Baked || first.Current.SourceDigest == "" || first.Current.SizeBytes == 0 {
		t.Errorf("baked %+v", first.Current)
	}
	noBoxes(t, backend, prefix)

	user := backends.Marks{Owner: prefix, Name: prefix + "-user", Kind: backends.Session, Record: prefix}
	made, err := backend.Create(ctx, user, backends.Spec{Source: backends.Source{SnapshotID: first.Current.SnapshotID}})
	t.Cleanup(func() {
		if err := backend.Delete(detached(t), user, backends.DeleteOptions{Volumes: true}); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Spec.Environment) > 0 {
		t.Errorf("the snapshot brought the environment %v", made.Spec.Environment)
	}
	result, err := backend.Exec(ctx, user.Name, backends.Command{Argv: []string{"sh", "-c", `tool-a; cat /etc/tool.conf /etc/seen "$HOME"/given "$PWD"/given 2> /dev/null; echo "now: $GIVEN"`}})
	said := string(result.Stdout)
	if err != nil || !strings.Contains(said, "tool-a 1.2.3") || !strings.Contains(said, "GIVEN=given-value") || !strings.HasSuffix(said, "now: \n") || strings.Contains(said, canary) {
		t.Errorf("inside: %q, %v", said, err)
	}

	// A workspace that still runs from the snapshot keeps it from being deleted, by the engine's own word.
	_, err = m.Delete(ctx, shop, first.Attachment, true, Retention{})
	fails(t, err, backends.Conflict)

	request.Manifest.Commands = [][]string{{"false"}}
	_, err = m.Update(ctx, first.Attachment, request)
	fails(t, err, CodeBakeFailed)
	noBoxes(t, backend, prefix)
	view, err := m.Read(ctx, shop, first.Attachment)
	if err != nil || view.Current.SnapshotID != first.Current.SnapshotID {
		t.Errorf("it reads %+v, %v", view, err)
	}

	request.Manifest.Source = backends.Source{Image: image}
	_, err = m.Update(ctx, first.Attachment, request)
	fails(t, err, CodeNoPackageManager)
	if entries, err := m.laneEntries(ctx, first.Attachment.Record); err != nil || entries[0].Status != store.SnapshotFailed {
		t.Errorf("the entries are %+v, %v", entries, err)
	}
}

// noBoxes checks that no sandbox of a bake is left.
func noBoxes(t *testing.T, backend backends.Backend, prefix string) {
	t.Helper()
	all, err := backend.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, box := range all {
		if strings.HasPrefix(box.Name, prefix+"-bake-") || strings.HasPrefix(box.Name, prefix+"-verify-") {
			t.Errorf("%s is left", box.Name)
		}
	}
}
