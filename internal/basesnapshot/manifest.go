package basesnapshot

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/overlay"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// SchemaVersion is the version of manifests that this package knows.
const SchemaVersion = 1

// Manifest says what goes into a base snapshot.
type Manifest struct {
	SchemaVersion int `json:"schema_version"`
	// Name begins the version label.
	Name   string          `json:"name"`
	Source backends.Source `json:"source,omitzero"`
	// Runtime is that of the lane.
	Runtime string `json:"runtime,omitempty"`
	// SystemPackages are installed as root by the package manager that is found inside. Their order
	// does not matter.
	SystemPackages []string `json:"system_packages,omitempty"`
	// PackageManagers map the name of a program to its version: `<name> --version` has to print it.
	PackageManagers map[string]string `json:"package_managers,omitempty"`
	// Commands are argument vectors, run in order without a shell.
	Commands [][]string `json:"commands,omitempty"`
	// Files are the template files.
	Files overlay.Set `json:"files,omitzero"`
	// TemplateVersion is an open string that rises when the template does.
	TemplateVersion string `json:"template_version,omitempty"`
	// MarkerPath is absolute; empty means [DefaultMarker] in the workspace.
	MarkerPath string `json:"marker_path,omitempty"`
}

// DefaultMarker is where the marker lies in the workspace when the manifest does not say.
const DefaultMarker = ".sandlot/base-snapshot.json"

var (
	packagePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+._:@=~<>-]*$`)
	managerPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)
)

// CheckPackage judges the name of a system package, space around it aside. A version after it is
// allowed as the package manager inside writes it, for example "curl=8.5.0-2".
func CheckPackage(name string) error {
	trimmed := strings.TrimSpace(name)
	switch {
	case !packagePattern.MatchString(trimmed):
		return fmt.Errorf("%q is not the name of a package: allowed are letters, digits and + . _ : @ = ~ < > -, starting with a letter or digit", name)
	case strings.HasSuffix(trimmed, "-"):
		return fmt.Errorf("%q ends in a hyphen, by which apt-get removes a package", name)
	}
	return nil
}

// CheckPackageManager judges an entry of the package managers.
func CheckPackageManager(name, version string) error {
	switch {
	case !managerPattern.MatchString(name):
		return fmt.Errorf("%q is not the name of a program", name)
	case strings.TrimSpace(version) == "" || strings.ContainsAny(version, "\x00\n\r"):
		return fmt.Errorf("the version of %s must be one line of text that `%s --version` prints, for example \"10.9.2\"", name, name)
	}
	return nil
}

// FieldError is what is wrong with one field of a request.
type FieldError struct {
	// Field is the path in the schema, by its dots and indexes: "manifest.commands[2]".
	Field string
	Err   error
}

func (f *FieldError) Error() string { return f.Field + ": " + f.Err.Error() }

func (f *FieldError) Unwrap() error { return f.Err }

// Check judges a manifest by itself. It returns a *[FieldError] for each field that is wrong, joined.
func (m Manifest) Check() error {
	var problems []error
	wrong := func(field string, err error) {
		if err != nil {
			problems = append(problems, &FieldError{Field: "manifest." + field, Err: err})
		}
	}
	if m.SchemaVersion != SchemaVersion {
		wrong("schema_version", fmt.Errorf("%d is not a known version of manifests: only %d is", m.SchemaVersion, SchemaVersion))
	}
	wrong("name", sandbox.CheckName(m.Name))
	if m.Runtime != "" {
		wrong("runtime", CheckRuntime(m.Runtime))
	}
	for i, name := range m.SystemPackages {
		wrong(fmt.Sprintf("system_packages[%d]", i), CheckPackage(name))
	}
	for _, name := range slices.Sorted(maps.Keys(m.PackageManagers)) {
		wrong("package_managers."+name, CheckPackageManager(name, m.PackageManagers[name]))
	}
	for i, argv := range m.Commands {
		wrong(fmt.Sprintf("commands[%d]", i), checkCommand(argv))
	}
	if !utf8.ValidString(m.TemplateVersion) || strings.ContainsAny(m.TemplateVersion, "\x00\n\r") {
		wrong("template_version", errors.New("it must be one line of text"))
	}
	if m.MarkerPath != "" {
		wrong("marker_path", checkMarkerPath(m.MarkerPath))
	}
	return errors.Join(problems...)
}

func checkCommand(argv []string) error {
	if err := sandbox.CheckArgv(argv); err != nil {
		return err
	}
	for _, argument := range argv {
		if !utf8.ValidString(argument) {
			return errors.New("an argument is not UTF-8")
		}
	}
	return nil
}

func checkMarkerPath(path string) error {
	if err := sandbox.CheckAbsolutePath(path); err != nil {
		return err
	}
	return sandbox.CheckFilePath(path)
}

// packages returns the names of the packages as they are hashed and installed.
func (m Manifest) packages() []string {
	names := []string{}
	for _, name := range m.SystemPackages {
		names = append(names, strings.TrimSpace(name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
