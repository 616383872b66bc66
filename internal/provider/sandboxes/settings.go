package sandboxes

import (
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/convert"
)

// settings are the parts of a configuration that no backend can tell. They are kept in the record,
// so that an import fills them in and the plan after it is empty.
type settings struct {
	Name                string            `json:"name,omitempty"`
	DesiredState        string            `json:"desired_state,omitempty"`
	OnDestroy           string            `json:"on_destroy,omitempty"`
	OnMissing           string            `json:"on_missing,omitempty"`
	SecretVersion       *int64            `json:"secret_version,omitempty"`
	CheckpointTrigger   string            `json:"checkpoint_trigger,omitempty"`
	Expiration          string            `json:"expiration,omitempty"`
	KeepLast            int64             `json:"keep_last,omitempty"`
	RequireCapabilities []string          `json:"require_capabilities,omitempty"`
	Setup               []setupSettings   `json:"setup,omitempty"`
	Timeouts            map[string]string `json:"timeouts,omitempty"`
	Source              *sourceSettings   `json:"source,omitempty"`
	Spelling            spelling          `json:"spelling,omitzero"`
	Runtime             *runtimeSettings  `json:"runtime,omitempty"`
}

// sourceSettings keeps the configured spelling, in which a clone is named by its id.
type sourceSettings struct {
	Image      string `json:"image,omitempty"`
	Rootfs     string `json:"rootfs,omitempty"`
	SnapshotID string `json:"snapshot_id,omitempty"`
	CloneOf    string `json:"clone_of,omitempty"`
	Runtime    string `json:"runtime,omitempty"`
	TarballURL string `json:"tarball_url,omitempty"`
	// A repository, with its revision and depth.
	GitURL      string `json:"git_url,omitempty"`
	GitRevision string `json:"git_revision,omitempty"`
	GitDepth    int    `json:"git_depth,omitempty"`
}

type setupSettings struct {
	Command          []string          `json:"command"`
	Environment      map[string]string `json:"environment,omitempty"`
	WorkingDirectory string            `json:"working_directory,omitempty"`
	User             string            `json:"user,omitempty"`
	Timeout          string            `json:"timeout,omitempty"`
}

// settingsOf collects the settings of a model.
func (c *converter) settingsOf(from model) (json.RawMessage, error) {
	m, p := from.parts()
	kept := settings{
		Name:                m.Name.ValueString(),
		DesiredState:        m.DesiredState.ValueString(),
		OnDestroy:           m.OnDestroy.ValueString(),
		SecretVersion:       m.SecretVersion.ValueInt64Pointer(),
		RequireCapabilities: convert.Texts(m.RequireCapabilities.Elements()),
		Timeouts:            map[string]string{},
	}
	for name, value := range m.Timeouts.Attributes() {
		if text, ok := value.(types.String); ok && text.ValueString() != "" {
			kept.Timeouts[name] = text.ValueString()
		}
	}
	if source, ok := object[sourceModel](c, m.Source); ok {
		read := c.source(m.Source)
		kept.Source = &sourceSettings{
			Image: read.Image, Rootfs: read.Rootfs, SnapshotID: read.SnapshotID, CloneOf: source.CloneOf.ValueString(), Runtime: read.Runtime,
			TarballURL: read.TarballURL, GitURL: read.GitURL, GitRevision: read.GitRevision, GitDepth: read.GitDepth,
		}
	}
	kept.Spelling = c.spellingOf(m, p)
	for _, step := range elements[setupModel](c, m.Setup.Elements()) {
		kept.Setup = append(kept.Setup, setupSettings{
			Command: convert.Texts(step.Command.Elements()), Environment: convert.TextMap(step.Environment),
			WorkingDirectory: step.WorkingDirectory.ValueString(), User: step.User.ValueString(), Timeout: step.Timeout.ValueString(),
		})
	}
	if p != nil {
		kept.OnMissing, kept.CheckpointTrigger = p.OnMissing.ValueString(), p.CheckpointTrigger.ValueString()
		if retention, ok := object[retentionModel](c, p.SnapshotRetention); ok {
			kept.Expiration, kept.KeepLast = retention.Expiration.ValueString(), retention.KeepLast.ValueInt64()
		}
	}
	kept.Runtime = c.runtimeSettingsOf(from.workspace())
	raw, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	return raw, nil
}

// applySettings fills an imported model. Without a record raw is empty and the defaults remain.
func applySettings(raw json.RawMessage, to model) error {
	m, p := to.parts()
	var kept settings
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &kept); err != nil {
			return fmt.Errorf("the settings in the record cannot be read: %w", err)
		}
	}
	m.DesiredState = convert.TextOrNull(kept.DesiredState)
	if kept.OnDestroy != "" {
		m.OnDestroy = types.StringValue(kept.OnDestroy)
	}
	m.SecretVersion = types.Int64PointerValue(kept.SecretVersion)
	m.RequireCapabilities = stringSetOrNull(kept.RequireCapabilities)
	m.Setup = setupValue(kept.Setup)
	m.Timeouts.Object = timeoutsValue(kept.Timeouts)
	if s := kept.Source; s != nil {
		m.Source = sourceValue(backends.Source{
			Image: s.Image, Rootfs: s.Rootfs, SnapshotID: s.SnapshotID, CloneOf: s.CloneOf, Runtime: s.Runtime,
			TarballURL: s.TarballURL, GitURL: s.GitURL, GitRevision: s.GitRevision, GitDepth: s.GitDepth,
		})
	}
	kept.Spelling.apply(m, p)
	kept.Runtime.apply(to.workspace())
	if p == nil {
		return nil
	}
	if kept.OnMissing != "" {
		p.OnMissing = types.StringValue(kept.OnMissing)
	}
	if kept.Name != "" && p.WorkspaceID.IsNull() {
		m.Name = types.StringValue(kept.Name)
	}
	p.CheckpointTrigger = convert.TextOrNull(kept.CheckpointTrigger)
	if kept.Expiration != "" || kept.KeepLast != 0 {
		keepLast := types.Int64Null()
		if kept.KeepLast != 0 {
			keepLast = types.Int64Value(kept.KeepLast)
		}
		p.SnapshotRetention = types.ObjectValueMust(retentionType, map[string]attr.Value{"expiration": convert.TextOrNull(kept.Expiration), "keep_last": keepLast})
	}
	return nil
}

func stringSetOrNull(texts []string) types.Set {
	if len(texts) == 0 {
		return types.SetNull(types.StringType)
	}
	return convert.Set(texts)
}

func timeoutsValue(durations map[string]string) types.Object {
	if len(durations) == 0 {
		return types.ObjectNull(timeoutsType)
	}
	values := map[string]attr.Value{}
	for name := range timeoutsType {
		values[name] = convert.TextOrNull(durations[name])
	}
	return types.ObjectValueMust(timeoutsType, values)
}

func setupValue(steps []setupSettings) types.List {
	if len(steps) == 0 {
		return types.ListNull(setupType)
	}
	values := make([]attr.Value, len(steps))
	for i, step := range steps {
		environment := types.MapNull(types.StringType)
		if len(step.Environment) > 0 {
			environment = convert.Map(step.Environment)
		}
		values[i] = types.ObjectValueMust(setupType.AttrTypes, map[string]attr.Value{
			"command": convert.List(step.Command), "environment": environment,
			"working_directory": convert.TextOrNull(step.WorkingDirectory), "user": convert.TextOrNull(step.User), "timeout": convert.TextOrNull(step.Timeout),
		})
	}
	return types.ListValueMust(setupType, values)
}
