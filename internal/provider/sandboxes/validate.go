package sandboxes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/backendset"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// checker judges a configuration across attributes. It runs in `validate` on what is known there,
// and again in the plan, where more is. Null and unknown are told apart throughout: only what is
// known to be wrong is an error.
type checker struct {
	converter
	m *common
	p *persistence
	w *runtime
}

func newChecker(ctx context.Context, config model) *checker {
	m, p := config.parts()
	return &checker{converter: converter{ctx: ctx}, m: m, p: p, w: config.workspace()}
}

func (c *checker) invalid(at path.Path, summary, detail string) {
	c.diags.Append(diagnostics.AttributeError(at, diagnostics.InvalidValue, summary, detail))
}

// rule reports the error of a rule about the value at a path.
func (c *checker) rule(at path.Path, err error) {
	if err != nil {
		c.invalid(at, "Invalid Value", diagnostics.Sentence(err))
	}
}

// check judges everything that needs neither provider nor prior state.
func (c *checker) check() diag.Diagnostics {
	c.checkIdentity()
	c.checkHost()
	c.checkSource()
	c.checkEnvironment(path.Root("environment"), c.m.Environment)
	c.checkSecrets()
	c.checkArgv(path.Root("command"), c.m.Command)
	c.checkPorts()
	c.checkTargets()
	c.checkVolumes()
	c.checkLabels()
	c.checkSetup()
	c.checkCapabilities()
	c.checkRuntime()
	return c.diags
}

func (c *checker) checkIdentity() {
	if c.p == nil || c.w != nil {
		return
	}
	named, byWorkspace := !c.m.Name.IsNull(), !c.p.WorkspaceID.IsNull()
	switch {
	case named && byWorkspace:
		c.invalid(path.Root("workspace_id"), "Name Given Twice", "Only one of `workspace_id` and `name` may be set: the name is derived from the workspace id.")
	case !named && !byWorkspace:
		c.invalid(path.Root("workspace_id"), "Name Missing", "One of `workspace_id` and `name` is required.")
	}
}

func (c *checker) checkHost() {
	if c.m.CloudHostID.IsNull() || c.m.Backend.IsUnknown() || slices.Contains(backendset.OnHosts(), c.m.Backend.ValueString()) {
		return
	}
	c.unsupported(path.Root("cloud_host_id"), "Only these can be on a cloud host: "+strings.Join(backendset.OnHosts(), ", ")+".")
}

func (c *checker) checkSource() {
	source, ok := object[sourceModel](&c.converter, c.m.Source)
	if !ok {
		return
	}
	var given []string
	unknown := false
	for _, member := range []struct {
		name  string
		value attr.Value
	}{{"image", source.Image}, {"rootfs", source.Rootfs}, {"runtime", source.Runtime}, {"git", source.Git}, {"tarball_url", source.TarballURL}, {"snapshot_id", source.SnapshotID}, {"clone_of", source.CloneOf}} {
		unknown = unknown || member.value.IsUnknown()
		if !member.value.IsNull() && !member.value.IsUnknown() {
			given = append(given, "`"+member.name+"`")
		}
	}
	if len(given) > 1 {
		c.invalid(path.Root("source"), "Several Sources", "Exactly one member of `source` may be set, and these are: "+strings.Join(given, ", ")+".")
	}
	if len(given) == 0 && !unknown {
		c.invalid(path.Root("source"), "Empty Source", "`source` needs exactly one of `image`, `rootfs`, `runtime`, `git`, `tarball_url`, `snapshot_id` and `clone_of`. Leave the attribute out to use the backend's default. A misspelled member is dropped unseen before it reaches the provider.")
	}
	c.checkClone(source.CloneOf)
}

func (c *checker) checkClone(of types.String) {
	backend, name, err := sandbox.ParseID(of.ValueString())
	if err != nil || c.m.place().IsUnknown() {
		return // the attribute's own validator reports it
	}
	at := path.Root("source").AtName("clone_of")
	switch {
	case backend != c.m.place().ValueString():
		c.invalid(at, "Clone of Another Backend", fmt.Sprintf("It names a sandbox on %q, and this one is on %q.", backend, c.m.place().ValueString()))
	case name == c.m.Name.ValueString():
		c.invalid(at, "Clone of Itself", "A sandbox cannot be made from its own files.")
	}
}

func (c *checker) checkEnvironment(at path.Path, environment types.Map) {
	for name, value := range environment.Elements() {
		c.rule(at.AtMapKey(name), sandbox.CheckEnvironmentName(name))
		c.checkText(at.AtMapKey(name), value, func(text string) error { return sandbox.CheckEnvironmentValue(name, text) })
	}
}

// checkText judges one text inside a collection, where null is never a value.
func (c *checker) checkText(at path.Path, value attr.Value, rule func(string) error) {
	text, ok := value.(types.String)
	switch {
	case !ok || text.IsUnknown():
	case text.IsNull():
		c.invalid(at, "Missing Value", "A null value is not possible here: leave the entry out.")
	default:
		c.rule(at, rule(text.ValueString()))
	}
}

func (c *checker) checkSecrets() {
	at := path.Root("secret_environment_wo")
	secrets := c.m.SecretEnvironment
	c.checkEnvironment(at, secrets)
	if secrets.IsNull() || secrets.IsUnknown() {
		return
	}
	if c.m.SecretVersion.IsNull() {
		c.invalid(path.Root("secret_environment_wo_version"), "Version Missing", "`secret_environment_wo` is write-only, so a change of it cannot be seen. Set `secret_environment_wo_version`, and raise it whenever a secret changes.")
	}
	for name := range secrets.Elements() {
		if _, twice := c.m.Environment.Elements()[name]; twice {
			c.invalid(at.AtMapKey(name), "Variable Given Twice", fmt.Sprintf("%s stands in `environment` too.", name))
		}
	}
}

func (c *checker) checkArgv(at path.Path, argv types.List) {
	if argv.IsNull() || argv.IsUnknown() {
		return
	}
	for i, value := range argv.Elements() {
		c.checkText(at.AtListIndex(i), value, func(text string) error {
			if i == 0 && text == "" {
				return sandbox.CheckArgv(nil)
			}
			return sandbox.CheckArgv([]string{"program", text})
		})
	}
}

func (c *checker) checkPorts() {
	inside, published := map[string]bool{}, map[string]bool{}
	for _, element := range c.m.Ports.Elements() {
		port, ok := object[portModel](&c.converter, element)
		if !ok || port.Port.IsUnknown() || port.Protocol.IsUnknown() {
			continue
		}
		at := path.Root("ports").AtSetValue(element)
		protocol := orElse(port.Protocol.ValueString(), "tcp")
		key := fmt.Sprintf("%d/%s", port.Port.ValueInt64(), protocol)
		if inside[key] {
			c.invalid(at, "Port Given Twice", fmt.Sprintf("The port %s is published twice.", key))
		}
		inside[key] = true
		if host := port.PublishedPort.ValueInt64(); host != 0 {
			key := fmt.Sprintf("%d/%s", host, protocol)
			if published[key] {
				c.invalid(at, "Port Given Twice", fmt.Sprintf("The host's port %s is used twice.", key))
			}
			published[key] = true
		}
	}
}

// checkTargets refuses two things at one place inside the sandbox.
func (c *checker) checkTargets() {
	taken := map[string]string{}
	use := func(at path.Path, what string, target types.String) {
		if target.IsNull() || target.IsUnknown() {
			return
		}
		if other, twice := taken[target.ValueString()]; twice {
			c.invalid(at, "Target Given Twice", fmt.Sprintf("%s is the target of %s and of %s.", target.ValueString(), other, what))
		}
		taken[target.ValueString()] = what
	}
	for _, element := range c.m.Mounts.Elements() {
		if mount, ok := object[mountModel](&c.converter, element); ok {
			use(path.Root("mounts").AtSetValue(element), "a mount", mount.Target)
		}
	}
	for name, element := range c.m.Volumes.Elements() {
		if volume, ok := object[volumeModel](&c.converter, element); ok {
			use(path.Root("volumes").AtMapKey(name), fmt.Sprintf("the volume %q", name), volume.Target)
		}
	}
}

func (c *checker) checkVolumes() {
	for name, element := range c.m.Volumes.Elements() {
		at := path.Root("volumes").AtMapKey(name)
		c.rule(at, sandbox.CheckVolumeName(name))
		if volume, ok := object[volumeModel](&c.converter, element); ok && volume.Target.ValueString() == "/workspace" {
			c.invalid(at, "Workspace Is a Volume Already", "/workspace has a volume of its own. Mount this one elsewhere.")
		}
	}
}

func (c *checker) checkLabels() {
	for key, value := range c.m.Labels.Elements() {
		c.checkText(path.Root("labels").AtMapKey(key), value, func(text string) error { return sandbox.CheckLabel(key, text) })
	}
}

func (c *checker) checkSetup() {
	capabilities, known := c.table()
	for i, element := range c.m.Setup.Elements() {
		step, ok := object[setupModel](&c.converter, element)
		if !ok {
			continue
		}
		at := path.Root("setup").AtListIndex(i)
		c.checkArgv(at.AtName("command"), step.Command)
		c.checkEnvironment(at.AtName("environment"), step.Environment)
		user := step.User.ValueString()
		asRoot := capabilities.SystemPackages && (user == "0" || user == "root" || step.User.IsUnknown())
		if known && !capabilities.User && !step.User.IsNull() && !asRoot {
			c.unsupported(at.AtName("user"), "It runs every command as one unprivileged user that cannot be chosen.")
		}
	}
}

func (c *checker) table() (backends.Capabilities, bool) { return capabilityTable(c.m) }

// capabilityTable returns the table of a model's backend, false while that is not known or is none of
// ours.
func capabilityTable(m *common) (backends.Capabilities, bool) {
	if m.Backend.IsNull() || m.Backend.IsUnknown() {
		return backends.Capabilities{}, false
	}
	table, err := client.Capabilities(m.Backend.ValueString())
	return table, err == nil
}

func (c *checker) unsupported(at path.Path, detail string) {
	backend := c.m.Backend.ValueString()
	c.diags.Append(diagnostics.AttributeError(at, diagnostics.Unsupported,
		fmt.Sprintf("Not Supported by the Backend %q", backend),
		fmt.Sprintf("The backend %q cannot honor this. %s", backend, detail)))
}

// checkCapabilities refuses what the backend cannot honor.
func (c *checker) checkCapabilities() {
	capabilities, known := c.table()
	if !known {
		return
	}
	if c.p != nil && !capabilities.Persistent && !c.session() {
		c.unsupported(path.Root("backend"), "It has no persistent sandboxes.")
	}
	if c.p != nil && !c.p.CheckpointTrigger.IsNull() && !capabilities.Snapshot {
		c.unsupported(path.Root("checkpoint_trigger"), "It takes no snapshots.")
	}
	spec := c.spec(c.m, c.m.SecretEnvironment)
	if base, ok := c.baseSnapshot(); ok {
		spec.Source = backends.Source{SnapshotID: base}
	}
	if retention, ok := c.retention(); ok && capabilities.NativeRetention {
		spec.Retention = retention
	}
	kind := backends.Session
	if c.p != nil && !c.session() {
		kind = backends.Persistent
	}
	for _, gap := range append(capabilities.Gaps(spec), backendset.CheckSpec(c.m.Backend.ValueString(), kind, spec)...) {
		if gap.Attribute == "source" && c.sourceUnsure() || gap.Attribute == "network.mode" && !slices.Contains(networkModes, spec.Network.Mode) {
			continue // not known yet; or no mode at all, which the attribute's own validator reports
		}
		c.unsupported(attributePath(gap.Attribute), gap.Detail)
	}
	has := capabilities.Map()
	for _, name := range convert.Texts(c.m.RequireCapabilities.Elements()) {
		if supported, exists := has[name]; exists && !supported {
			c.unsupported(path.Root("require_capabilities").AtSetValue(types.StringValue(name)), fmt.Sprintf("It lacks the capability %q. It has: %s.", name, strings.Join(capabilities.Names(), ", ")))
		}
	}
}

// retention is the `snapshot_retention` of the model, as far as it is known.
func (c *checker) retention() (*backends.SnapshotRetention, bool) {
	if c.p == nil {
		return nil, false
	}
	retention, ok := object[retentionModel](&c.converter, c.p.SnapshotRetention)
	return &backends.SnapshotRetention{KeepLast: retention.KeepLast.ValueInt64(), Expiration: convert.Duration(retention.Expiration)}, ok
}

// sourceUnsure tells whether a source could still turn out to be given.
func (c *checker) sourceUnsure() bool {
	if c.m.Source.IsUnknown() || c.w != nil && !c.w.BaseSnapshot.IsNull() {
		return true // a base snapshot whose id is known takes the place of the source
	}
	for _, member := range c.m.Source.Attributes() {
		if member.IsUnknown() {
			return true
		}
	}
	return !c.m.Source.IsNull() // an empty object is reported on its own
}

func attributePath(dotted string) path.Path {
	names := strings.Split(dotted, ".")
	at := path.Root(names[0])
	for _, name := range names[1:] {
		at = at.AtName(name)
	}
	return at
}
