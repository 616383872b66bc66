package basesnapshots

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/basesnapshot"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/templatefiles"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

func (r *snapshotResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(check(ctx, &config)...)
	}
}

// checker judges a configuration as far as it is known.
type checker struct {
	converter
	m        *model
	manifest manifestModel
}

func check(ctx context.Context, m *model) diag.Diagnostics {
	c := &checker{converter: converter{ctx: ctx}, m: m}
	c.manifest, _ = object[manifestModel](&c.converter, m.Manifest)
	c.checkEnvironment()
	c.checkSource()
	c.checkFields()
	at := path.Root("manifest")
	c.diags.Append(templatefiles.Check(ctx, at.AtName("template_files"), c.manifest.TemplateFiles)...)
	c.checkNulls(at.AtName("package_managers"), c.manifest.PackageManagers.Elements())
	c.checkNulls(path.Root("environment"), m.Environment.Elements())
	c.checkCommands()
	c.checkCapabilities()
	return c.diags
}

func (c *checker) invalid(at path.Path, summary, detail string) {
	c.diags.Append(diagnostics.AttributeError(at, diagnostics.InvalidValue, summary, detail))
}

func (c *checker) checkNulls(at path.Path, elements map[string]attr.Value) {
	for name, value := range elements {
		if value.IsNull() {
			c.invalid(at.AtMapKey(name), "Missing Value", "A null value is not possible here: leave the entry out.")
		}
	}
}

// checkCommands finds what converting would drop without a word.
func (c *checker) checkCommands() {
	at := path.Root("manifest").AtName("commands")
	for i, element := range c.manifest.Commands.Elements() {
		argv, ok := element.(types.List)
		if !ok || argv.IsUnknown() {
			continue
		}
		if argv.IsNull() || len(argv.Elements()) == 0 {
			c.invalid(at.AtListIndex(i), "Empty Command", "A command needs at least the program to run.")
		}
		for j, argument := range argv.Elements() {
			if argument.IsNull() {
				c.invalid(at.AtListIndex(i).AtListIndex(j), "Missing Value", "A null value is not possible here.")
			}
		}
	}
	for i, element := range c.m.SmokeChecks.Elements() {
		if smoke, ok := object[smokeCheckModel](&c.converter, element); ok {
			for j, argument := range smoke.Command.Elements() {
				if argument.IsNull() {
					c.invalid(path.Root("smoke_checks").AtListIndex(i).AtName("command").AtListIndex(j), "Missing Value", "A null value is not possible here.")
				}
			}
		}
	}
}

// checkEnvironment refuses names that look like those of secrets, each at its place.
func (c *checker) checkEnvironment() {
	if c.m.AllowNames.IsUnknown() {
		return
	}
	allowed := texts(c.m.AllowNames.Elements(), false)
	refuse := func(at path.Path, name string) {
		err := basesnapshot.CheckEnvironmentNames([]string{name}, allowed)
		var refusal *sandbox.Refusal
		if errors.As(err, &refusal) {
			c.diags.Append(diagnostics.FromAttributeError(at, "Secret in a Base Snapshot", refusal))
		}
	}
	for name := range c.m.Environment.Elements() {
		refuse(path.Root("environment").AtMapKey(name), name)
	}
	for _, element := range c.m.EnvironmentAllowlist.Elements() {
		if name, ok := element.(types.String); ok && !name.IsUnknown() {
			refuse(path.Root("environment_allowlist").AtSetValue(element), name.ValueString())
		}
	}
}

func (c *checker) checkSource() {
	source, ok := object[sourceModel](&c.converter, c.manifest.Source)
	if !ok {
		return
	}
	given, unknown := 0, false
	for _, member := range []attr.Value{source.Image, source.Rootfs, source.Runtime, source.Git, source.TarballURL, source.SnapshotID} {
		unknown = unknown || member.IsUnknown()
		if !member.IsNull() && !member.IsUnknown() {
			given++
		}
	}
	if given > 1 || given == 0 && !unknown {
		c.invalid(path.Root("manifest").AtName("source"), "One Source Needed", "`source` needs exactly one of `image`, `rootfs`, `runtime`, `git`, `tarball_url` and `snapshot_id`. Leave the attribute out to use the backend's default. A misspelled member is dropped unseen before it reaches the provider.")
	}
}

// checkFields asks the domain, and reports what is about known values.
func (c *checker) checkFields() {
	request := c.request(c.m, false)
	for _, problem := range joined(request.Check()) {
		var field *basesnapshot.FieldError
		if !errors.As(problem, &field) {
			continue // refusals of names stand at their own places
		}
		if at, known := c.place(field.Field); known {
			c.invalid(at, "Invalid Value", strings.ToUpper(field.Err.Error()[:1])+field.Err.Error()[1:]+".")
		}
	}
}

var fieldPattern = regexp.MustCompile(`^([a-z_.]+?)(?:\[(\d+)\])?(?:\.([A-Za-z0-9_]+))?$`)

// place turns a field of the domain into a path, false when the attribute's own validator judges it or
// its value is not known.
func (c *checker) place(field string) (path.Path, bool) {
	switch {
	case strings.HasPrefix(field, "manifest.package_managers."):
		name := strings.TrimPrefix(field, "manifest.package_managers.")
		value, ok := c.manifest.PackageManagers.Elements()[name]
		return path.Root("manifest").AtName("package_managers").AtMapKey(name), ok && !value.IsNull() && !value.IsUnknown()
	case strings.HasPrefix(field, "environment."):
		name := strings.TrimPrefix(field, "environment.")
		value, ok := c.m.Environment.Elements()[name]
		return path.Root("environment").AtMapKey(name), ok && !value.IsNull() && !value.IsUnknown()
	}
	parts := fieldPattern.FindStringSubmatch(field)
	if parts == nil {
		return path.Empty(), false
	}
	index, err := strconv.Atoi(parts[2])
	if err != nil {
		return path.Empty(), false // a single value, which the schema's validator judges
	}
	switch parts[1] {
	case "manifest.commands":
		elements := c.manifest.Commands.Elements()
		argv, ok := element(elements, index).(types.List)
		return path.Root("manifest").AtName("commands").AtListIndex(index), ok && len(argv.Elements()) > 0 && wholly(argv.Elements())
	case "smoke_checks":
		smoke, ok := object[smokeCheckModel](&c.converter, element(c.m.SmokeChecks.Elements(), index))
		return path.Root("smoke_checks").AtListIndex(index).AtName("command"), ok && len(smoke.Command.Elements()) > 0 && wholly(smoke.Command.Elements())
	}
	return path.Empty(), false
}

func element(elements []attr.Value, index int) attr.Value {
	if index >= len(elements) {
		return nil
	}
	return elements[index]
}

// wholly tells whether all elements are known and there.
func wholly(elements []attr.Value) bool {
	for _, value := range elements {
		if value.IsUnknown() || value.IsNull() {
			return false
		}
	}
	return true
}

func (c *checker) checkCapabilities() {
	if c.m.Backend.IsNull() || c.m.Backend.IsUnknown() {
		return
	}
	backend := c.m.Backend.ValueString()
	table, err := client.Capabilities(backend)
	if err != nil {
		return // the attribute's own validator reports it
	}
	for _, gap := range c.request(c.m, false).Gaps(table) {
		if gap.Attribute == "manifest.source" && (c.m.Manifest.IsUnknown() || !c.manifest.Source.IsNull()) {
			continue // not known yet, or reported on its own
		}
		if network, ok := object[networkModel](&c.converter, c.m.Network); gap.Attribute == "network.mode" && ok && !slices.Contains(networkModes, network.Mode.ValueString()) {
			continue // the attribute's own validator reports it
		}
		at := path.Empty()
		for i, name := range strings.Split(gap.Attribute, ".") {
			if i == 0 {
				at = path.Root(name)
				continue
			}
			at = at.AtName(name)
		}
		c.diags.Append(diagnostics.AttributeError(at, diagnostics.Unsupported, fmt.Sprintf("Not Supported by the Backend %q", backend),
			fmt.Sprintf("The backend %q cannot honor this. %s", backend, gap.Detail)))
	}
}

// joined takes joined errors apart, at every depth.
func joined(err error) []error {
	if err == nil {
		return nil
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range several.Unwrap() {
			all = append(all, joined(one)...)
		}
		return all
	}
	return []error{err}
}
