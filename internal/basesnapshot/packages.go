package basesnapshot

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// root is the user that installs packages, by its number: not every system names it.
const root = "0"

// installer is a package manager that may be found inside. Its script gets the packages as arguments.
type installer struct {
	program string
	script  string
}

// installers in the order in which they are looked for. Each leaves nothing behind that only the
// next installation would need.
var installers = []installer{
	{"apt-get", `set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends "$@"
apt-get clean
rm -rf /var/lib/apt/lists/*`},
	{"apk", `apk add --no-cache "$@"`},
	{"dnf", `set -eu
dnf install -y --setopt=install_weak_deps=False "$@"
dnf clean all`},
	{"microdnf", `set -eu
microdnf install -y --setopt=install_weak_deps=0 "$@"
microdnf clean all`},
	{"zypper", `set -eu
zypper --non-interactive refresh
zypper --non-interactive install --no-recommends "$@"
zypper clean --all`},
	// A partial upgrade is not supported there.
	{"pacman", `set -eu
pacman -Syu --noconfirm --needed "$@"
pacman -Scc --noconfirm`},
}

// findInstaller prints the first of its arguments that is a program.
const findInstaller = `for program; do
  if command -v "$program" > /dev/null 2>&1; then echo "$program"; exit; fi
done`

// findCommand looks for a package manager.
func findCommand() backends.Command {
	argv := []string{"sh", "-c", findInstaller, "sh"}
	for _, known := range installers {
		argv = append(argv, known.program)
	}
	return backends.Command{Argv: argv, User: root}
}

// installCommand installs packages by the package manager of that name.
func installCommand(program string, packages []string) backends.Command {
	i := slices.IndexFunc(installers, func(known installer) bool { return known.program == program })
	return backends.Command{Argv: append([]string{"sh", "-c", installers[i].script, program}, packages...), User: root}
}

// installPackages installs the system packages as root.
func (b *bake) installPackages(ctx context.Context) error {
	packages := b.work.request.Manifest.packages()
	if len(packages) == 0 {
		return nil
	}
	const looking = "looking for a package manager"
	command := findCommand()
	command.Environment = b.environment
	result, err := b.exec(ctx, b.entry.Seed, looking, command)
	if err != nil {
		return hideScript(err, nil)
	}
	program := strings.TrimSpace(string(result.Stdout))
	if !slices.ContainsFunc(installers, func(known installer) bool { return known.program == program }) {
		return &StepError{Step: looking, Detail: "none is inside", Err: noInstaller()}
	}
	err = b.run(ctx, "installing the system packages", installCommand(program, packages))
	return hideScript(err, append([]string{program}, packages...))
}

func noInstaller() error {
	var known []string
	for _, i := range installers {
		known = append(known, i.program)
	}
	return &sandbox.Refusal{
		Code:   CodeNoPackageManager,
		Detail: "The system packages cannot be installed, since none of these programs is inside: " + strings.Join(known, ", ") + ".",
		Remedy: "Choose a source that has one, or install what is needed by `commands`.",
	}
}

// hideScript shows the program and its packages in place of our script.
func hideScript(err error, shown []string) error {
	var step *StepError
	if errors.As(err, &step) {
		step.Command = shown
	}
	return err
}
