package conformance

import (
	"errors"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// installedProgram is where the suite puts a program, as a package would.
const installedProgram = "/usr/bin/conformance-installed"

// install does as root what every package manager does: it makes directories, puts a program into
// the system and notes it in a database.
func install() backends.Command {
	const script = `set -e
mkdir -p /usr/bin /var/lib/conformance
printf '#!/bin/sh\necho installed\n' > "$0"
chmod 755 "$0"
echo "$0" > /var/lib/conformance/installed`
	return backends.Command{Argv: []string{"sh", "-c", script, installedProgram}, User: "0"}
}

// exerciseSystemPackages installs a program as root and runs it as the sandbox's own user: at once,
// after a restart, and in a sandbox that was made from a snapshot.
func exerciseSystemPackages(t T, e *env) {
	b := e.create(t, func(s *backends.Spec) {
		if e.capabilities.User {
			s.User = "1234"
		}
	})
	b.run(install())
	works := func(b *box, when string) {
		if got := strings.TrimSpace(b.run(backends.Command{Argv: []string{installedProgram}})); got != "installed" {
			t.Errorf("%s the installed program printed %q", when, got)
		}
		if got := strings.TrimSpace(b.run(backends.Command{Argv: []string{"cat", "/var/lib/conformance/installed"}})); got != installedProgram {
			t.Errorf("%s the database of the packages holds %q", when, got)
		}
	}
	works(b, "at once")
	b.stop()
	b.start()
	works(b, "after a restart")

	snapshotter, ok := e.backend.(backends.Snapshotter)
	if !ok || !e.capabilities.Snapshot || !e.capabilities.SnapshotSource {
		return
	}
	made, err := snapshotter.CreateSnapshot(e.ctx(t), b.marks, b.saveID())
	if err != nil {
		t.Fatalf("CreateSnapshot: %v", err)
	}
	works(e.createAs(t, e.marks(), backends.Spec{Source: backends.Source{SnapshotID: made.ID}}), "from a snapshot")
}

// refuseSystemPackages: where nothing can be installed, an attempt has to fail.
func refuseSystemPackages(t T, e *env) {
	b := e.create(t)
	result, err := b.exec(install())
	if errors.Is(err, backends.Unsupported) {
		command := install()
		command.User = ""
		result, err = b.exec(command)
	}
	if err != nil {
		t.Fatalf("an attempt to install a program: %v", err)
	}
	if result.ExitCode == 0 {
		t.Errorf("a program can be installed into the system, but the table says that packages cannot")
	}
}
